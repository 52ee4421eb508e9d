"""A proposed version of a skill, looked at piece by piece and put in place after a snapshot.

Nothing of the user's skill is lost whatever happens on the way: the whole folder is kept first, files the proposal does
not name stay byte for byte, each file is replaced at once, SKILL.md last; where one can't be written, those before it
are put back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import AssayError, InputError, NotFoundError
from skill_assay.formats.hunks import Hunk, hunks_between, with_hunks
from skill_assay.formats.skill import read_skill
from skill_assay.model.skill import Skill
from skill_assay.workspace.judgements import candidate_skill, keep_before, read_changes, write_changes
from skill_assay.workspace.laid_out import fault_as_version
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.writing import utc_now

__all__ = ["ProposedFile", "proposed_files", "put_in_place"]


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """One file of a proposal that differs from the skill's."""

    path: str
    old: bytes | None
    """`None` where the skill has no such file."""
    new: bytes
    hunks: tuple[Hunk, ...]

    def name(self, index: int) -> str:
        """What a piece of it is called: `SKILL.md#2`."""
        return f"{self.path}#{index}"


def proposed_files(iteration: Iteration, root: Path) -> tuple[ProposedFile, ...]:
    """What the candidate of an iteration would change in the skill at `root`, file by file.

    Raises:
        NotFoundError: nothing is proposed.
        InputError: the candidate was changed, is in place already, or the skill is not the one it was made from.
    """
    changes = read_changes(iteration)
    if not isinstance(changes, Mapping):
        raise NotFoundError("nothing is proposed here", file=str(iteration.path), hint="assay improve SKILL proposes.")
    skill, source = read_skill(root), candidate_skill(iteration)
    new = read_skill(source)
    if new.digest != changes.get("candidate"):
        raise InputError("the candidate was changed since it was proposed", file=str(source), hint="Propose anew.")
    if skill.digest == new.digest:
        raise InputError("the candidate is already in place", file=str(root))
    if skill.digest != changes.get("parent"):
        raise InputError(
            "the skill changed since this was proposed, so nothing was put in place",
            file=str(root),
            found=skill.digest[:7],
            expected=str(changes.get("parent"))[:7],
            hint="Propose anew with  assay improve , or take over the diff by hand.",
        )
    return tuple(_differing(skill, new))


def _differing(skill: Skill, new: Skill) -> list[ProposedFile]:
    found = []
    for name in new.files:
        old = (skill.root / name).read_bytes() if name in skill.files else None
        content = (new.root / name).read_bytes()
        if old != content:
            found.append(ProposedFile(name, old, content, hunks_between(old, content)))
    return found


def put_in_place(iteration: Iteration, root: Path, accepted: Collection[str] | None = None) -> list[str]:
    """Put the candidate of an iteration in place of the skill at `root`; the paths that changed.

    The folder as it was is kept in `candidate/before.tar` first, and what was taken in `changes.json`.

    Args:
        iteration: whose candidate it is.
        root: the skill.
        accepted: names of the pieces to take (`ProposedFile.name`); `None` takes all.

    Raises:
        NotFoundError: nothing is proposed.
        InputError: as for `proposed_files`; or a name is unknown, nothing is taken, or what comes of it is no valid
            skill of the same name.
    """
    files = proposed_files(iteration, root)
    names = [one.name(index) for one in files for index in range(len(one.hunks))]
    chosen = set(names if accepted is None else accepted)
    if unknown := sorted(chosen - set(names)):
        raise InputError("the proposal has no such piece", found=unknown[0], expected=", ".join(names[:20]))
    if not chosen:
        raise InputError("no piece of the proposal is accepted, so there is nothing to put in place", file=str(root))
    contents = {
        one.path: content for one in files if (content := _content(one, chosen)) is not None and content != one.old
    }
    _refuse_links(root, contents)
    _refuse_invalid(root, contents)
    keep_before(iteration, root, _every_file(root))
    ordered = sorted(contents, key=lambda name: name == "SKILL.md")
    with ExitStack() as undo:
        for name in ordered:
            undo.callback(_restore, root / name, next(one.old for one in files if one.path == name), iteration)
            _put(root / name, contents[name], iteration)
        _note(iteration, names, chosen)
        undo.pop_all()
    return ordered


def _content(one: ProposedFile, chosen: Collection[str]) -> bytes | None:
    return with_hunks(one.old, one.new, [index for index in range(len(one.hunks)) if one.name(index) in chosen])


def _refuse_links(root: Path, names: Iterable[str]) -> None:
    held = root.resolve()
    for name in names:
        if (root / name).resolve() != held / name:
            raise InputError("lies behind a link, so it is not written", file=str(root / name))


def _refuse_invalid(root: Path, contents: Mapping[str, bytes]) -> None:
    skill = read_skill(root)
    whole = {name: (root / name).read_bytes() for name in skill.files} | dict(contents)
    if fault := fault_as_version(skill, whole):
        raise InputError(f"with these pieces it {fault}", hint="Accept the pieces that belong together.")


def _note(iteration: Iteration, names: list[str], chosen: Collection[str]) -> None:
    changes = read_changes(iteration)
    pieces = {"accepted": [name for name in names if name in chosen]}
    refused = [name for name in names if name not in chosen]
    write_changes(iteration, {**changes, "applied_at": utc_now(), **pieces, "refused": refused})


def _every_file(root: Path) -> list[str]:
    """All that lies in the skill's folder but version control; a link inside it is kept as what it leads to."""
    held = root.resolve()
    return [
        path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts and path.resolve().is_relative_to(held)
    ]


def _restore(path: Path, old: bytes | None, iteration: Iteration) -> None:
    """What can't be restored either stays in `before.tar`: why the writing failed is what is told."""
    with suppress(AssayError, OSError):
        if old is None:
            path.unlink(missing_ok=True)
        elif path.read_bytes() != old:
            _put(path, old, iteration)


def _put(path: Path, content: bytes, iteration: Iteration) -> None:
    mode = path.stat().st_mode if path.exists() else None
    iteration.writer.write_verbatim(path, content)
    if mode is not None:
        path.chmod(mode)
    elif path.parent.name == "scripts" and content.startswith(b"#!"):
        path.chmod(0o755)
