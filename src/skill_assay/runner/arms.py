"""The conditions compared: the skill, and what it is compared with."""

from __future__ import annotations

import dataclasses
import stat
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.formats.skill import installable_files, read_skill
from skill_assay.model.skill import Skill
from skill_assay.model.trial import Arm
from skill_assay.runner.install import install_name, install_skill
from skill_assay.runner.settings import RunSettings
from skill_assay.workspace.snapshot import extract, pack
from skill_assay.workspace.store import Workspace

__all__ = ["AGAIN", "ArmSource", "build_arms", "materialise"]

AGAIN = "skill again"
"""The origin of the arm that holds the same skill once more."""


@dataclass(frozen=True, slots=True)
class ArmSource:
    """An arm and a private copy of the skill it installs."""

    arm: Arm
    copy: Path | None = None
    files: tuple[str, ...] = ()
    folder: str | None = None


def build_arms(
    skill: Skill,
    settings: RunSettings,
    workspace: Workspace,
    private: Path,
    *,
    again: bool = False,
    begun: int | None = None,
) -> tuple[ArmSource, ...]:
    """The primary arm and the baselines asked for, each with its skill copied to `private`.

    Args:
        skill: the skill under test.
        settings: says which baselines (`none`, `bare`, a path, `git:REV`, `iteration-N`).
        workspace: holds earlier iterations.
        private: an empty folder for the copies, so that editing the skill during a run changes nothing.
        again: the baseline is the same skill once more (A/A).
        begun: the iteration gone on with, where none is begun: what came before it is the older version.
    """
    primary = _with_skill(_arm("with_skill", "primary", settings, "skill"), skill, private)
    sources = [primary]
    if again:
        twin = _arm("with_skill_again", "baseline", settings, AGAIN)
        return (primary, _with_skill(twin, skill, private))
    for baseline in settings.baselines:
        arm = _arm("", "baseline", settings, baseline)
        taken = {source.arm.name for source in sources}
        sources.append(_baseline(arm, baseline, skill, workspace, private, taken, begun))
    return tuple(sources)


def _baseline(
    arm: Arm, baseline: str, skill: Skill, workspace: Workspace, private: Path, taken: set[str], begun: int | None
) -> ArmSource:
    if baseline == "none":
        return ArmSource(dataclasses.replace(arm, name=_free("without_skill", taken)))
    if baseline == "bare":
        return ArmSource(dataclasses.replace(arm, name=_free("bare", taken), environment_note=False))
    name = _free("old_skill", taken)
    fetched = private / f"fetched-{name}"
    old = read_skill(materialise(baseline, skill, workspace, fetched, begun))
    if old.digest == skill.digest:
        raise InputError(
            f"The baseline {baseline} is the same as the skill: there is nothing to compare",
            hint="Name an older version, or use --aa to measure the noise floor.",
        )
    return _with_skill(dataclasses.replace(arm, name=name), old, private)


def materialise(baseline: str, skill: Skill, workspace: Workspace, into: Path, begun: int | None = None) -> Path:
    """The folder of an older version: a folder, an archive, `git:REV`, `iteration-N` or `previous`.

    Raises:
        InputError: it can't be had; the message says what was tried.
    """
    if baseline == "previous":
        return _previous(workspace, into / skill.folder, begun)
    if baseline.startswith("git:"):
        return _from_git(baseline[4:], skill.root, into)
    if baseline.startswith("iteration-") and not Path(baseline).exists():
        number = baseline.removeprefix("iteration-")
        if not number.isdigit():
            raise InputError("--baseline names no iteration", found=baseline, expected="iteration-N")
        return workspace.iteration(int(number)).extract_snapshot(into / skill.folder)
    path = Path(baseline).expanduser()
    if path.is_dir():
        return path
    if path.is_file():
        return path.parent if path.name == "SKILL.md" else _from_archive(path, into)
    raise InputError(
        "--baseline names nothing that exists",
        found=baseline,
        expected="none, bare, a folder or archive with a SKILL.md, git:REV, or iteration-N",
    )


def _previous(workspace: Workspace, into: Path, begun: int | None) -> Path:
    """The snapshot of the newest iteration before the one gone on with, or about to begin."""
    earlier = [one for one in workspace.iterations() if begun is None or one.number < begun]
    kept = [iteration for iteration in earlier if iteration.snapshot_path.is_file()]
    if not kept:
        raise InputError(
            "baseline_type is old_skill, and there is no older version to compare with",
            file=str(workspace.path),
            hint="Name one as baseline (a folder, an archive, git:REV), or set baseline_type to no_skill.",
        )
    return kept[-1].extract_snapshot(into)


def _from_git(revision: str, root: Path, into: Path) -> Path:
    if not revision or revision.startswith("-"):
        raise InputError(
            "--baseline git: names no revision", found=f"git:{revision}", expected="git:HEAD~1, git:v1.2, …"
        )
    command = ["git", "-C", str(root), "archive", "--format=tar", revision, "."]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"git could not be asked for the baseline: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(
            f"git has no {revision} of this skill: {said[-1] if said else 'no reason given'}", file=str(root)
        )
    into.mkdir(parents=True, exist_ok=True)
    archive = into / "revision.tar"
    archive.write_bytes(done.stdout)
    return extract(_plain_tar(archive, into), into / root.name)


def _plain_tar(archive: Path, into: Path) -> Path:
    """The same archive without links, which a snapshot refuses and an installed skill never has."""
    with tarfile.open(archive, mode="r:*") as opened:
        plain = into / "plain"
        members = [member for member in opened.getmembers() if member.isreg()]
        for member in members:
            content = opened.extractfile(member)
            place = (plain / member.name).resolve()
            if content is None or not place.is_relative_to(plain.resolve()):
                raise InputError("holds an unsafe entry", file=str(archive), found=repr(member.name))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.read())
            place.chmod(0o755 if member.mode & 0o100 else 0o644)
    packed = into / "plain.tar"
    packed.write_bytes(pack(plain, [path.relative_to(plain).as_posix() for path in plain.rglob("*") if path.is_file()]))
    return packed


def _from_archive(path: Path, into: Path) -> Path:
    unpacked = into / path.stem
    if zipfile.is_zipfile(path):
        _unzip(path, unpacked)
    elif tarfile.is_tarfile(path):
        into.mkdir(parents=True, exist_ok=True)
        extract(_plain_tar(path, into), unpacked)
    else:
        raise InputError("is neither a folder nor an archive", file=str(path), expected="a .tar, .zip or .skill file")
    found = sorted(unpacked.rglob("SKILL.md"), key=lambda found: len(found.parts))
    if not found:
        raise InputError("holds no SKILL.md", file=str(path))
    return found[0].parent


def _unzip(path: Path, into: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            place = (into / entry.filename).resolve()
            if not place.is_relative_to(into.resolve()) or entry.file_size > 50_000_000:
                raise InputError("holds an unsafe entry", file=str(path), found=repr(entry.filename))
            mode = entry.external_attr >> 16
            if not entry.is_dir() and not stat.S_ISLNK(mode):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(entry))
                place.chmod(0o755 if mode & 0o100 else 0o644)


def _with_skill(arm: Arm, skill: Skill, private: Path) -> ArmSource:
    folder = install_name(skill.name, skill.folder)
    copy = private / arm.name / folder
    files = tuple(installable_files(skill.root))
    install_skill(skill.root, files, copy)
    if (copy / "SKILL.md").read_bytes() != skill.raw:
        # Another description is being tried than the one on disk.
        (copy / "SKILL.md").write_bytes(skill.raw)
    filled = dataclasses.replace(arm, skill=skill.root, skill_name=skill.name, skill_digest=skill.digest)
    return ArmSource(filled, copy, files, folder)


def _arm(name: str, role: str, settings: RunSettings, origin: str) -> Arm:
    return Arm(
        name=name,
        role="primary" if role == "primary" else "baseline",
        agent=settings.agent,
        model=settings.model,
        invoke=settings.invoke,
        origin=origin,
    )


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(f"{name}-{number}" for number in range(2, 1000) if f"{name}-{number}" not in taken)
