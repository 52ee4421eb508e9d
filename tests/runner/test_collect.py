"""Everything the agent made or changed is found, and nothing is left out in silence."""

from __future__ import annotations

import os
from pathlib import Path

from skill_assay.runner.collect import changes_since, take_snapshot

CAP = 1_000_000


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def collect(work: Path, act: object, skills: Path | None = None, cap: int = CAP) -> tuple[tuple[str, ...], str]:
    before = take_snapshot(work, skills)
    act()  # type: ignore[operator]
    changes = changes_since(before, work, skills, cap)
    return changes.files, "\n".join(changes.notes)


def test_new_changed_and_deleted_files(tmp_path: Path) -> None:
    write(tmp_path / "input.csv", "a,b")
    write(tmp_path / "same.csv", "same")
    write(tmp_path / "gone.csv", "gone")

    def act() -> None:
        write(tmp_path / "input.csv", "b,a")
        write(tmp_path / "2026-05-01" / "deep" / "report.md", "# Report")
        (tmp_path / "gone.csv").unlink()
        os.utime(tmp_path / "same.csv", ns=(1, 1))

    files, notes = collect(tmp_path, act)
    assert files == ("2026-05-01/deep/report.md", "input.csv")
    assert notes == "deleted by the agent: gone.csv"


def test_version_control_and_caches_are_left_out(tmp_path: Path) -> None:
    def act() -> None:
        for folder in (".git", "__pycache__", "node_modules"):
            write(tmp_path / folder / "x", "x")
        write(tmp_path / "kept.txt", "x")

    assert collect(tmp_path, act) == (("kept.txt",), "")


def test_changes_to_the_installed_skill_are_noted_not_collected(tmp_path: Path) -> None:
    skills = tmp_path / ".claude" / "skills"
    write(skills / "pdf" / "SKILL.md", "x")

    def act() -> None:
        write(skills / "pdf" / "SKILL.md", "changed")
        write(tmp_path / ".claude" / "settings.json", "{}")

    files, notes = collect(tmp_path, act, skills)
    assert files == (".claude/settings.json",)
    assert notes == "the installed skill was changed by the agent: .claude/skills/pdf/SKILL.md"


def test_a_file_over_the_cap_leaves_a_note(tmp_path: Path) -> None:
    def act() -> None:
        write(tmp_path / "big.txt", "x" * 100)
        write(tmp_path / "small.txt", "x" * 10)

    files, notes = collect(tmp_path, act, cap=50)
    assert files == ("small.txt",)
    assert "big.txt (100 bytes)" in notes


def test_links_and_pipes_are_never_followed(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    write(outside / "secret.txt", "secret")

    def act() -> None:
        (work / "file-link").symlink_to(outside / "secret.txt")
        (work / "folder-link").symlink_to(outside)
        os.mkfifo(work / "pipe")

    files, notes = collect(work, act)
    assert files == ()
    assert notes.splitlines() == [
        "not collected, a link: file-link",
        "not collected, a link: folder-link",
        "not collected, not a regular file: pipe",
    ]


def test_what_is_over_the_cap_is_remembered_with_its_size(tmp_path: Path) -> None:
    before = take_snapshot(tmp_path, None)
    write(tmp_path / "big.txt", "x" * 100)
    write(tmp_path / "small.txt", "x" * 10)
    assert changes_since(before, tmp_path, None, 50).omitted == {"big.txt": 100}
