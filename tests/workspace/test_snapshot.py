from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.workspace.snapshot import extract, pack


def skill(root: Path) -> Path:
    (root / "scripts").mkdir(parents=True)
    (root / "SKILL.md").write_bytes(b"---\r\nname: x\r\n---\r\n")
    (root / "scripts" / "run.sh").write_text("echo")
    (root / "scripts" / "run.sh").chmod(0o755)
    return root


FILES = ("scripts/run.sh", "SKILL.md")


def test_a_snapshot_comes_back_byte_for_byte_with_its_modes(tmp_path: Path) -> None:
    root = skill(tmp_path / "s")
    (tmp_path / "skill.tar").write_bytes(pack(root, FILES))
    back = extract(tmp_path / "skill.tar", tmp_path / "out")
    assert (back / "SKILL.md").read_bytes() == (root / "SKILL.md").read_bytes()
    assert os.access(back / "scripts" / "run.sh", os.X_OK)
    assert not os.access(back / "SKILL.md", os.X_OK)


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two = skill(tmp_path / "a"), skill(tmp_path / "b")
    os.utime(two / "SKILL.md", (1, 1))
    assert pack(one, FILES) == pack(two, reversed(FILES))


def test_fault_21_nothing_outside_the_skill_gets_in(tmp_path: Path) -> None:
    root = skill(tmp_path / "s")
    (tmp_path / "key").write_text("k")
    (root / "link").symlink_to(tmp_path / "key")
    with pytest.raises(InputError, match="leads out"):
        pack(root, ["link"])


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "entry",
    [
        member("../evil"),
        member("/etc/evil"),
        member("a/../../evil"),
        member("C:\\evil"),
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("hard", tarfile.LNKTYPE, "SKILL.md"),
        member("pipe", tarfile.FIFOTYPE),
    ],
    ids=lambda entry: entry.name,
)
def test_an_unsafe_archive_writes_nothing(tmp_path: Path, entry: tarfile.TarInfo) -> None:
    archive = tmp_path / "skill.tar"
    with tarfile.open(archive, "w") as made:
        made.addfile(member("first"), io.BytesIO())
        made.addfile(entry, io.BytesIO())
    with pytest.raises(InputError, match="unsafe entry"):
        extract(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_archive_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "skill.tar").write_bytes(b"nonsense" * 200)
    with pytest.raises(InputError, match="no readable archive"):
        extract(tmp_path / "skill.tar", tmp_path / "out")
