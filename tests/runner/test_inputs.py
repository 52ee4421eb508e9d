from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skill_assay.errors import InputError, NotFoundError
from skill_assay.runner.inputs import load_inputs

HEAD = "---\nname: my-skill\ndescription: Makes a report.\n---\nBody\n"
CHECKED = [{"text": "a exists", "check": {"file_exists": "a"}}]


def make(tmp_path: Path, evals: Any, name: str = "evals.json") -> Path:
    root = tmp_path / "my-skill"
    (root / "evals" / "files").mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text(HEAD, encoding="utf-8")
    text = evals if isinstance(evals, str) else json.dumps(evals, indent=1)
    (root / "evals" / name).write_text(text, encoding="utf-8")
    return root


def refused(root: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load_inputs(root)
    assert caught.value.file and caught.value.exit_code == 2
    return caught.value


def test_what_a_run_is_made_from(tmp_path: Path) -> None:
    root = make(tmp_path, [{"id": 1, "prompt": "p", "files": ["evals/files/a"], "expectations": CHECKED}])
    (root / "evals" / "files" / "a").write_text("a")
    inputs = load_inputs(root)
    assert inputs.skill.name == "my-skill" and inputs.fixtures["1"] == ((root / "evals" / "files" / "a", "a"),)


def test_a_folder_without_a_skill_or_without_evals(tmp_path: Path) -> None:
    (tmp_path / "my-skill").mkdir()
    assert isinstance(refused(tmp_path / "my-skill"), NotFoundError)
    (tmp_path / "my-skill" / "SKILL.md").write_text(HEAD)
    error = refused(tmp_path / "my-skill")
    assert isinstance(error, NotFoundError) and f"assay init {tmp_path / 'my-skill'}" in str(error)


@pytest.mark.parametrize(
    ("evals", "path", "words"),
    [
        ([], "$", "there are no evals"),
        ({"evals": []}, "$", "there are no evals"),
        ([{"id": 1, "prompt": "one"}, {"id": "1", "prompt": "two"}], "$[1].id", 'found $[0] "one" and $[1] "two"'),
        ([{"id": 1, "prompt": "p", "files": ["../x"]}], "$[0].files[0]", "--allow-outside-files"),
        ([{"id": 1, "prompt": "p", "files": ["/etc/hosts"]}], "$[0].files[0]", "is outside the skill's folder"),
        ([{"id": 1, "prompt": "p", "files": ["evals/files/out"]}], "$[0].files[0]", "is outside the skill's folder"),
        ([{"id": 1, "prompt": "p", "files": ["absent"]}], "$[0].files[0]", "there is no file absent"),
        ([{"id": 1, "prompt": "p", "files": ["a\0\x1b[2J"]}], "$[0].files[0]", r"a\u0000\u001b[2J"),
        (
            [{"id": 1, "prompt": "p", "expectations": [{"text": "t", "check": {"file_exists": {"pat": "a"}}}]}],
            "$[0].expectations[0].check.file_exists",
            'Did you mean "path"',
        ),
        (
            [{"id": 1, "prompt": "p", "expectations": [{"text": "t", "check": {"not": {"matches": "("}}}]}],
            "$[0].expectations[0].check.not.matches",
            "regular expression",
        ),
        (
            [{"id": 1, "prompt": "p", "expectations": [{"text": "t", "check": {"max_tokens": "many"}}]}],
            "$[0].expectations[0].check.max_tokens",
            "many",
        ),
    ],
)
def test_every_mistake_is_found_before_anything_is_launched(tmp_path: Path, evals: Any, path: str, words: str) -> None:
    root = make(tmp_path, evals)
    (tmp_path / "secret").write_text("x")
    (root / "evals" / "files" / "out").symlink_to(tmp_path / "secret")
    error = refused(root)
    assert error.json_path == path and words in str(error)
    assert error.file == str(root / "evals" / "evals.json")
    assert "\0" not in str(error) and "\x1b" not in str(error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('[{"prompt": "p", "x": ' + "[" * 200 + "]" * 200 + "}]", "nested too deeply"),
        ('[{"id": 1' + "0" * 5000 + ', "prompt": "p"}]', "a number has too many digits"),
        ('[{"id": NaN, "prompt": "p"}]', "NaN is no JSON number"),
        (r'[{"id": "\ud800", "prompt": "p"}]', "half a surrogate pair"),
        ('[{"id": 1, "prompt": "p"},]', "Remove the comma"),
    ],
)
def test_json_that_nobody_can_mean(tmp_path: Path, text: str, words: str) -> None:
    assert words in str(refused(make(tmp_path, text)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'[{"prompt": "caf\xe9"}]', "is not UTF-8"),
        ('[{"prompt": "p"}]'.encode("utf-16"), "is UTF-16"),
        (b"", "The file is empty"),
        (b"[" + b" " * 32_000_001 + b"]", "is too large"),
    ],
    ids=["latin-1", "utf-16", "empty", "huge"],
)
def test_bytes_that_nobody_can_read(tmp_path: Path, data: bytes, words: str) -> None:
    root = make(tmp_path, "")
    (root / "evals" / "evals.json").write_bytes(data)
    assert words in str(refused(root))


def test_of_several_files_the_right_one_is_named(tmp_path: Path) -> None:
    make(tmp_path, [{"id": 1, "prompt": "p", "expectations": CHECKED}], "a.json")
    wrong = [{"text": "t", "check": {"matches": "("}}]
    root = make(tmp_path, [{"id": 2, "prompt": "p", "expectations": wrong}], "b.json")
    error = refused(root)
    assert error.file == str(root / "evals")
    assert error.json_path == "b.json $[0].expectations[0].check.matches"
    make(tmp_path, [{"id": 2, "prompt": "p", "files": ["absent"]}], "b.json")
    error = refused(root)
    assert (error.file, error.json_path) == (str(root / "evals" / "b.json"), "$[0].files[0]")
    assert error.line == 6


@pytest.mark.parametrize("fixture", ["evals", ".", "evals/evals.json", "evals/checks.py", "evals/right", "evals/again"])
def test_fault_12_no_fixture_gives_the_answers_away(tmp_path: Path, fixture: str) -> None:
    root = make(
        tmp_path,
        [{"id": 1, "prompt": "p", "files": [fixture], "reference": "evals/right", "expectations": CHECKED}],
    )
    (root / "evals" / "checks.py").write_text("", encoding="utf-8")
    (root / "evals" / "right").mkdir()
    (root / "evals" / "right" / "a").write_text("right", encoding="utf-8")
    (root / "evals" / "again").symlink_to(root / "evals" / "right" / "a")
    assert "gives away what is expected" in str(refused(root))


def test_what_is_expected_is_never_installed_with_the_skill(tmp_path: Path) -> None:
    root = make(tmp_path, [{"id": 1, "prompt": "p", "reference": "assets/right.md", "expectations": CHECKED}])
    (root / "assets").mkdir()
    (root / "assets" / "right.md").write_text("right", encoding="utf-8")
    assert refused(root).file == str(root / "assets" / "right.md")
    (root / "assets" / "right.md").unlink()
    load_inputs(root)
    moved = (root / "evals" / "evals.json").rename(root / "tests.json")
    with pytest.raises(InputError, match="handed it with the skill"):
        load_inputs(root, moved)


def test_a_fixture_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    root = make(tmp_path, [{"id": 1, "prompt": "p", "files": ["evals/files/pipe"], "expectations": CHECKED}])
    os.mkfifo(root / "evals" / "files" / "pipe")
    assert "neither a file nor a folder" in str(refused(root))
