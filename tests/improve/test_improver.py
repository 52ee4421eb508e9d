"""Proposals: checked as a skill, laid over the old one byte for byte, put in place after a snapshot and never else."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import IncompleteError, InputError, NotFoundError
from skill_assay.formats.skill import folder_digest, read_skill
from skill_assay.improve.history import add_version, begin_history
from skill_assay.improve.keeping import keep_proposal
from skill_assay.improve.proposal import Change, Proposal, diff_of, fault_in, laid_over
from skill_assay.model.skill import Skill
from skill_assay.workspace.candidates import proposed_files, put_in_place
from skill_assay.workspace.judgements import read_changes
from skill_assay.workspace.laid_out import write_files
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.writing import Writer

BODY = "---\nname: pdf\ndescription: Reads PDFs.\n---\n\nRead it.\n"
BETTER = BODY.replace("Read it.", "Read it twice, because the first page hides the total.")


@pytest.fixture
def skill(tmp_path: Path) -> Skill:
    root = tmp_path / "pdf"
    (root / "scripts").mkdir(parents=True)
    (root / "evals").mkdir()
    (root / "SKILL.md").write_bytes(BODY.encode())
    (root / "scripts" / "run.sh").write_bytes(b"#!/bin/sh\r\necho 1\r\n")
    (root / "scripts" / "run.sh").chmod(0o755)
    (root / "logo.png").write_bytes(b"\x89PNG\0\0")
    (root / "evals" / "evals.json").write_text("{}")
    (root / ".hidden").write_text("mine")
    return read_skill(root)


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def proposed(tmp_path: Path, skill: Skill, *changes: Change) -> Iteration:
    iteration = Iteration(tmp_path / "w" / "iteration-1")
    files = laid_over(skill, changes)
    write_files(tmp_path / "made" / "pdf", files)
    proposal = Proposal(changes, "Better.", files, folder_digest(tmp_path / "made" / "pdf"))
    keep_proposal(iteration, skill, proposal, "scripted", "digest")
    return iteration


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (Change("../x.md", "x", "r"), "no plain path"),
        (Change("/etc/x", "x", "r"), "no plain path"),
        (Change("a//b", "x", "r"), "no plain path"),
        (Change("evals/evals.json", "{}", "r"), "evals/"),
        (Change("Evals/x.json", "{}", "r"), "evals/"),
        (Change(".git/config", "x", "r"), "no plain path"),
        (Change("evals./evals.json", "{}", "r"), "no plain path"),
        (Change("evals /evals.json", "{}", "r"), "no plain path"),
        (Change("x\0.md", "x", "r"), "no plain path"),
        (Change("Scripts/new.py", "x", "r"), "capitals"),
        (Change("/".join(["deep"] * 2000), "x", "r"), "longer"),
        (Change("skill.md", BODY, "r"), "capitals"),
        (Change("logo.png", "x", "r"), "binary"),
        (Change("SKILL.md/x.md", "x", "r"), "below a file"),
        (Change("SKILL.md", "no frontmatter", "r"), "no valid skill"),
        (Change("SKILL.md", BODY.replace("name: pdf", "name: other"), "r"), "renames"),
        (Change("SKILL.md", "---\nname: pdf\ndescription: Reads PDFs.\n---\n\n", "r"), "no body"),
        (Change("SKILL.md", BODY, "r"), "changes nothing"),
        (Change("SKILL.md", "x" * 500_000, "r"), "larger"),
    ],
)
def test_what_is_no_version_of_the_skill_is_refused(skill: Skill, change: Change, word: str) -> None:
    assert word in (fault_in(skill, [change]) or "")


@pytest.mark.parametrize("paths", [("notes", "notes/x.md"), ("notes/x.md", "notes"), ("Notes", "notes/deep/x.md")])
def test_files_that_can_not_lie_beside_each_other_are_refused(skill: Skill, paths: tuple[str, str]) -> None:
    assert "below a file" in (fault_in(skill, [Change(path, "x", "r") for path in paths]) or "")


def test_a_link_is_never_written_through(skill: Skill, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (skill.root / "docs").symlink_to(tmp_path / "outside")
    assert "link" in (fault_in(skill, [Change("docs/x.md", "x", "r")]) or "")


def test_files_nobody_changed_stay_byte_for_byte_and_line_ends_stay(skill: Skill) -> None:
    files = laid_over(skill, [Change("scripts/run.sh", "#!/bin/sh\necho 2\n", "r"), Change("SKILL.md", BETTER, "r")])
    assert files["scripts/run.sh"] == b"#!/bin/sh\r\necho 2\r\n"
    assert files["logo.png"] == b"\x89PNG\0\0" and set(files) == set(skill.files)


def test_the_diff_is_for_a_person(skill: Skill) -> None:
    diff = diff_of(
        skill, laid_over(skill, [Change("SKILL.md", BETTER, "r"), Change("scripts/new.py", "print(1)", "r")])
    )
    assert "-Read it.\n" in diff and "+Read it twice" in diff and "--- /dev/null\n+++ b/scripts/new.py" in diff
    assert "logo" not in diff


def test_proposing_changes_nothing_and_applying_loses_nothing(skill: Skill, tmp_path: Path) -> None:
    before = snapshot(skill.root)
    iteration = proposed(tmp_path, skill, Change("SKILL.md", BETTER, "r"), Change("scripts/new.py", "#!/x\n1\n", "r"))
    assert snapshot(skill.root) == before
    assert sorted(put_in_place(iteration, skill.root)) == ["SKILL.md", "scripts/new.py"]
    after = snapshot(skill.root)
    assert after["SKILL.md"][0] == BETTER.encode() and after["scripts/new.py"][1] & 0o111
    assert {name: after[name] for name in before if name != "SKILL.md"} == {
        n: v for n, v in before.items() if n != "SKILL.md"
    }
    with tarfile.open(iteration.candidate_path / "before.tar") as kept:
        names = kept.getnames()
        assert {name: kept.extractfile(name).read() for name in names} == {n: data for n, (data, _) in before.items()}  # type: ignore[union-attr]


LONG = BODY + "".join(f"Line {number}.\n" for number in range(20))
CHANGED = (
    LONG.replace("Line 3.", "Line three.").replace("Line 15.", "Line fifteen.").replace("Reads PDFs", "Reads any PDF")
)


def long_skill(skill: Skill) -> Skill:
    (skill.root / "SKILL.md").write_text(LONG)
    return read_skill(skill.root)


def test_pieces_are_taken_one_by_one(skill: Skill, tmp_path: Path) -> None:
    skill = long_skill(skill)
    iteration = proposed(tmp_path, skill, Change("SKILL.md", CHANGED, "r"), Change("scripts/new.py", "1\n", "r"))
    names = [one.name(index) for one in proposed_files(iteration, skill.root) for index in range(len(one.hunks))]
    assert names == ["SKILL.md#0", "SKILL.md#1", "SKILL.md#2", "scripts/new.py#0"]
    before = snapshot(skill.root)
    assert put_in_place(iteration, skill.root, {"SKILL.md#0", "SKILL.md#2"}) == ["SKILL.md"]
    text = (skill.root / "SKILL.md").read_text()
    assert text == CHANGED.replace("Line three.", "Line 3.")
    assert {**before, "SKILL.md": ""} == {**snapshot(skill.root), "SKILL.md": ""}, "nothing else was touched or added"
    changes = read_changes(iteration)
    assert (changes["accepted"], changes["refused"]) == (
        ["SKILL.md#0", "SKILL.md#2"],
        ["SKILL.md#1", "scripts/new.py#0"],
    )
    with tarfile.open(iteration.candidate_path / "before.tar") as kept:
        assert kept.extractfile("SKILL.md").read().decode() == LONG  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("accepted", "word"),
    [(set(), "no piece"), ({"SKILL.md#9"}, "no such piece"), ({"../x#0"}, "no such piece")],
)
def test_pieces_that_are_none_are_refused(skill: Skill, tmp_path: Path, accepted: set[str], word: str) -> None:
    iteration = proposed(tmp_path, skill, Change("SKILL.md", BETTER, "r"))
    before = snapshot(skill.root)
    with pytest.raises(InputError, match=word):
        put_in_place(iteration, skill.root, accepted)
    assert snapshot(skill.root) == before


def test_pieces_that_make_no_valid_skill_alone_are_refused(skill: Skill, tmp_path: Path) -> None:
    moved = "---\ndescription: Reads PDFs.\nname: pdf\n---\n\nRead it.\n"
    iteration = proposed(tmp_path, skill, Change("SKILL.md", moved, "r"))
    before = snapshot(skill.root)
    for name in ("SKILL.md#0", "SKILL.md#1"):
        with pytest.raises(InputError, match="no valid skill"):
            put_in_place(iteration, skill.root, {name})
    assert snapshot(skill.root) == before
    assert put_in_place(iteration, skill.root, {"SKILL.md#0", "SKILL.md#1"}) == ["SKILL.md"]


@pytest.mark.parametrize("failing", ["SKILL.md", "scripts/run.sh", "changes.json"])
def test_where_one_file_can_not_be_written_none_is(
    skill: Skill, tmp_path: Path, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [
        Change("SKILL.md", BETTER, "r"),
        Change("scripts/new.py", "1\n", "r"),
        Change("scripts/run.sh", "2\n", "r"),
    ]
    iteration = proposed(tmp_path, skill, *changes)
    before = snapshot(skill.root)
    write = Writer.write_verbatim

    def full(self: Writer, path: Path, data: bytes, **how: bool) -> None:
        if path.as_posix().endswith(failing):
            raise IncompleteError("The disk is full")
        write(self, path, data, **how)

    monkeypatch.setattr(Writer, "write_verbatim", full)
    with pytest.raises(IncompleteError, match="The disk is full"):
        put_in_place(iteration, skill.root)
    assert snapshot(skill.root) == before
    monkeypatch.undo()
    assert len(put_in_place(iteration, skill.root)) == 3, "it can be tried again"


def test_a_file_behind_a_link_is_not_written(skill: Skill, tmp_path: Path) -> None:
    iteration = proposed(tmp_path, skill, Change("docs/x.md", "x", "r"))
    (tmp_path / "outside").mkdir()
    (skill.root / "docs").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError):
        put_in_place(iteration, skill.root)
    assert not list((tmp_path / "outside").iterdir())


def test_a_skill_that_changed_meanwhile_is_left_alone(skill: Skill, tmp_path: Path) -> None:
    iteration = proposed(tmp_path, skill, Change("SKILL.md", BETTER, "r"))
    (skill.root / "SKILL.md").write_text(BODY + "My own line.\n")
    before = snapshot(skill.root)
    with pytest.raises(InputError, match="changed since"):
        put_in_place(iteration, skill.root)
    assert snapshot(skill.root) == before


def test_a_candidate_that_was_tampered_with_is_not_put_in_place(skill: Skill, tmp_path: Path) -> None:
    iteration = proposed(tmp_path, skill, Change("SKILL.md", BETTER, "r"))
    (iteration.candidate_path / "skill" / "SKILL.md").write_text(BETTER + "evil\n")
    with pytest.raises(InputError, match="candidate was changed"):
        put_in_place(iteration, skill.root)
    with pytest.raises(NotFoundError):
        put_in_place(Iteration(tmp_path / "w" / "iteration-2"), skill.root)


def test_an_earlier_proposal_is_kept(skill: Skill, tmp_path: Path) -> None:
    iteration = proposed(tmp_path, skill, Change("SKILL.md", BETTER, "r"))
    first = (iteration.candidate_path / "changes.json").read_bytes()
    (tmp_path / "made").rename(tmp_path / "made-before")
    proposed(tmp_path, skill, Change("SKILL.md", BETTER + "More.\n", "r"))
    assert (iteration.path / "candidate-1" / "changes.json").read_bytes() == first


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.text(max_size=200))
def test_whatever_stood_there_other_files_never_change(
    tmp_path_factory: pytest.TempPathFactory, other: bytes, text: str
) -> None:
    root = tmp_path_factory.mktemp("skill") / "pdf"
    root.mkdir()
    (root / "SKILL.md").write_text(BODY)
    (root / "data.bin").write_bytes(other)
    skill = read_skill(root)
    assert laid_over(skill, [Change("notes.md", text, "r")])["data.bin"] == other


def test_history_has_their_names_and_one_best() -> None:
    history = begin_history("pdf", "2026-01-01T00:00:00Z")
    history = add_version(history, "d0", 0.5, "baseline", kept=True, iteration=1)
    history = add_version(history, "d1", 0.7, "won", kept=True, iteration=2)
    history = add_version(history, "d2", 0.6, "lost", kept=False, iteration=3)
    assert history["current_best"] == "v1" and history["skill_name"] == "pdf"
    rows = [
        (r["version"], r["parent"], r["expectation_pass_rate"], r["grading_result"], r["is_current_best"])
        for r in history["iterations"]
    ]
    assert rows == [
        ("v0", None, 0.5, "baseline", False),
        ("v1", "v0", 0.7, "won", True),
        ("v2", "v1", 0.6, "lost", False),
    ]
    assert len(add_version(history, "d1", 0.8, "won", kept=True)["iterations"]) == 3
