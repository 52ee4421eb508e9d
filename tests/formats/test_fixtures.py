from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.model.evals import Eval


@pytest.fixture
def root(tmp_path: Path) -> Path:
    skill = tmp_path / "my-skill"
    for name in ("data.csv", "evals/notes.txt", "evals/files/in/a.csv", "evals/files/b.csv", "assets/logo.svg"):
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        (skill / name).write_text(name)
    (tmp_path / "secret.txt").write_text("secret")
    return skill


def placed(root: Path, *files: str, allow_outside: bool = False) -> dict[str, str]:
    found = resolve_fixtures(Eval("1", "p", files=files), root, allow_outside=allow_outside)
    return {place: source.as_posix() for source, place in found}


def test_fixtures_go_under_their_path_below_evals_files_else_by_name(root: Path) -> None:
    assert placed(root, "evals/files/in/a.csv", "files/b.csv", "notes.txt", "data.csv", "assets/logo.svg") == {
        "in/a.csv": f"{root}/evals/files/in/a.csv",
        "b.csv": f"{root}/evals/files/b.csv",
        "notes.txt": f"{root}/evals/notes.txt",
        "data.csv": f"{root}/data.csv",
        "logo.svg": f"{root}/assets/logo.svg",
    }


def test_a_folder_brings_all_its_files(root: Path) -> None:
    assert set(placed(root, "evals/files/in")) == {"in/a.csv"}
    assert set(placed(root, "assets")) == {"assets/logo.svg"}


def test_the_whole_files_folder_is_placed_as_it_is(root: Path) -> None:
    assert set(placed(root, "evals/files")) == {"in/a.csv", "b.csv"}


def test_windows_separators(root: Path) -> None:
    assert set(placed(root, "evals\\files\\b.csv")) == {"b.csv"}


@pytest.mark.parametrize(
    "written", ["../secret.txt", "evals/../../secret.txt", "/etc/passwd", "~/x", "C:\\x", "..\\secret.txt"]
)
def test_what_leaves_the_skill_is_refused(root: Path, written: str) -> None:
    with pytest.raises(InputError, match=r"outside the skill(.|\n)*--allow-outside-files"):
        placed(root, written)


def test_a_link_out_is_refused_and_left_out_of_folders(root: Path) -> None:
    (root / "evals" / "files" / "link.txt").symlink_to(root.parent / "secret.txt")
    with pytest.raises(InputError, match="outside the skill"):
        placed(root, "evals/files/link.txt")
    assert "link.txt" not in placed(root, "evals/files")


def test_outside_files_can_be_allowed(root: Path) -> None:
    assert placed(root, "../secret.txt", allow_outside=True) == {"secret.txt": f"{root}/../secret.txt"}
    assert placed(root, str(root.parent / "secret.txt"), allow_outside=True)


def test_a_missing_one_says_where_it_was_looked_for(root: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file absent\.csv") as caught:
        placed(root, "absent.csv")
    assert str(root / "evals" / "absent.csv") in str(caught.value)


@pytest.mark.parametrize("written", ["a\x00b", "x" * 5000])
def test_names_no_file_can_have(root: Path, written: str) -> None:
    with pytest.raises(InputError):
        placed(root, written)


def test_two_files_at_one_place_are_refused(root: Path) -> None:
    (root / "b.csv").write_text("other")
    with pytest.raises(InputError, match="two files to one place"):
        placed(root, "b.csv", "evals/files/b.csv")
    assert set(placed(root, "b.csv", "b.csv")) == {"b.csv"}
