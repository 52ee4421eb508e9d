"""Baselines: none, bare, a folder, an archive, a git revision, an earlier iteration."""

from __future__ import annotations

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.formats.skill import read_skill
from skill_assay.runner.arms import ArmSource, build_arms, materialise
from skill_assay.workspace.store import Workspace
from tests.runner.small import BODY, NAME, run_small, settings, write_skill

OLD = BODY.replace("Write hello.txt.", "Write hi.txt.")


def arms(tmp_path: Path, *baselines: str, again: bool = False) -> tuple[ArmSource, ...]:
    private = tmp_path / "private"
    private.mkdir()
    skill = read_skill(tmp_path / NAME)
    chosen = settings(baselines=baselines or ("none",))
    return build_arms(skill, chosen, Workspace(tmp_path / "ws"), private, again=again)


def old_version(folder: Path) -> Path:
    root = folder / NAME
    (root / "evals").mkdir(parents=True)
    (root / "SKILL.md").write_text(OLD, encoding="utf-8")
    (root / "evals" / "evals.json").write_text("[]", encoding="utf-8")
    return root


def body(source: ArmSource) -> str:
    assert source.copy is not None
    return (source.copy / "SKILL.md").read_text(encoding="utf-8")


def test_fault_15_roles_are_explicit_and_the_first_baseline_is_the_one_compared(tmp_path: Path) -> None:
    write_skill(tmp_path)
    found = arms(tmp_path, "none", "bare", str(old_version(tmp_path / "old")))
    assert [(s.arm.name, s.arm.role) for s in found] == [
        ("with_skill", "primary"),
        ("without_skill", "baseline"),
        ("bare", "baseline"),
        ("old_skill", "baseline"),
    ]
    assert [s.arm.environment_note for s in found] == [True, True, False, True]
    assert [s.folder for s in found] == [NAME, None, None, NAME]


def test_fault_31_the_private_copy_has_no_evals(tmp_path: Path) -> None:
    write_skill(tmp_path)
    for source in arms(tmp_path, str(old_version(tmp_path / "old"))):
        assert source.copy is not None
        assert sorted(path.name for path in source.copy.rglob("*")) == ["SKILL.md"]


def test_a_git_revision(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    (skill / "SKILL.md").write_text(OLD, encoding="utf-8")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "old"], check=True)
    (skill / "SKILL.md").write_text(BODY, encoding="utf-8")
    primary, baseline = arms(tmp_path, "git:HEAD")
    assert body(primary) == BODY
    assert body(baseline) == OLD


@pytest.mark.parametrize("revision", ["git:nothing", "git:", "git:--output=x"])
def test_a_revision_that_can_not_be_had_is_said(tmp_path: Path, revision: str) -> None:
    write_skill(tmp_path)
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    with pytest.raises(InputError):
        arms(tmp_path, revision)


def test_an_archive_keeps_programs_executable_and_holds_no_links(tmp_path: Path) -> None:
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        for name, mode in (("SKILL.md", 0o100644), ("run.sh", 0o100755), ("link", 0o120777)):
            entry = zipfile.ZipInfo(f"{NAME}/{name}")
            entry.external_attr = mode << 16
            zipped.writestr(entry, OLD)
    skill = read_skill(write_skill(tmp_path))
    found = materialise(str(path), skill, Workspace(tmp_path / "ws"), tmp_path / "into")
    assert {file.name: bool(file.stat().st_mode & 0o100) for file in found.iterdir()} == {
        "SKILL.md": False,
        "run.sh": True,
    }


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "zip", "skill"])
def test_an_archive(tmp_path: Path, ending: str) -> None:
    write_skill(tmp_path)
    path = tmp_path / f"old.{ending}"
    if ending.startswith("tar"):
        with tarfile.open(path, "w:gz" if ending.endswith("gz") else "w") as archive:
            entry = tarfile.TarInfo(f"{NAME}/SKILL.md")
            entry.size = len(OLD)
            archive.addfile(entry, io.BytesIO(OLD.encode()))
    else:
        with zipfile.ZipFile(path, "w") as zipped:
            zipped.writestr(f"{NAME}/SKILL.md", OLD)
    assert body(arms(tmp_path, str(path))[1]) == OLD


def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path) -> None:
    write_skill(tmp_path)
    for name, path in (("zip", tmp_path / "bad.zip"), ("tar", tmp_path / "bad.tar")):
        if name == "zip":
            with zipfile.ZipFile(path, "w") as zipped:
                zipped.writestr("../../SKILL.md", OLD)
        else:
            with tarfile.open(path, "w") as archive:
                entry = tarfile.TarInfo("../../SKILL.md")
                entry.size = len(OLD)
                archive.addfile(entry, io.BytesIO(OLD.encode()))
        with pytest.raises(InputError, match="unsafe"):
            build_arms(
                read_skill(tmp_path / NAME),
                settings(baselines=(str(path),)),
                Workspace(tmp_path / "ws"),
                tmp_path / f"private-{name}",
            )


def test_an_earlier_iteration(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    (skill / "SKILL.md").write_text(OLD, encoding="utf-8")
    run_small(skill, ws, settings(trials=1))
    (skill / "SKILL.md").write_text(BODY, encoding="utf-8")
    found = arms(tmp_path, "iteration-1", "previous")
    assert [body(source) for source in found] == [BODY, OLD, OLD]
    assert [source.arm.name for source in found] == ["with_skill", "old_skill", "old_skill-2"]


def test_the_same_version_is_no_baseline(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    with pytest.raises(InputError, match="nothing to compare"):
        arms(tmp_path, str(skill))


def test_previous_without_any_is_said(tmp_path: Path) -> None:
    write_skill(tmp_path)
    with pytest.raises(InputError, match="no older version"):
        arms(tmp_path, "previous")


def test_nothing_there_is_said(tmp_path: Path) -> None:
    write_skill(tmp_path)
    with pytest.raises(InputError, match="names nothing that exists"):
        arms(tmp_path, "nowhere")


def test_a_against_a(tmp_path: Path) -> None:
    write_skill(tmp_path)
    primary, twin = arms(tmp_path, again=True)
    assert twin.arm.name == "with_skill_again"
    assert primary.arm.skill_digest == twin.arm.skill_digest
    assert primary.copy != twin.copy
