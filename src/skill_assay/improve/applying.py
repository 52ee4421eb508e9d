"""Puts a candidate in place, after a snapshot; nothing of the user's skill is lost whatever happens on the way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.skill import read_skill
from skill_assay.improve.proposal import Proposal, change_rows, diff_of
from skill_assay.model.skill import Skill
from skill_assay.workspace.judgements import candidate_skill, keep_before, read_changes, write_candidate, write_changes
from skill_assay.workspace.store import Iteration

__all__ = ["apply_candidate", "changes_of", "keep_proposal", "now"]


def now() -> str:
    """UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def keep_proposal(iteration: Iteration, skill: Skill, proposal: Proposal, model: str, instructions: str) -> Path:
    """Write `candidate/` with its changes and diff."""
    changes = {
        "schema_version": 1,
        "skill_name": skill.name,
        "parent": skill.digest,
        "candidate": proposal.digest,
        "model": model,
        "instructions": instructions,
        "made_at": now(),
        "summary": proposal.summary,
        "changes": change_rows(skill, proposal.changes),
        "unneeded": list(proposal.unneeded),
        "applied_at": None,
    }
    return write_candidate(iteration, proposal.files, changes, diff_of(skill, proposal.files))


def apply_candidate(iteration: Iteration, root: Path) -> list[str]:
    """Put the candidate of an iteration in place of the skill at `root`; the paths that changed.

    The folder as it was is kept in `candidate/before.tar` first. Files the candidate does not name stay as they are.

    Raises:
        NotFoundError: nothing is proposed.
        InputError: the skill is no longer the one the proposal was made from.
    """
    changes = read_changes(iteration)
    if not isinstance(changes, Mapping):
        raise NotFoundError("nothing is proposed here", file=str(iteration.path), hint="assay improve SKILL proposes.")
    skill = read_skill(root)
    source = candidate_skill(iteration)
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
    keep_before(iteration, root, _every_file(root))
    changed = [name for name in new.files if name not in skill.files or _differ(root / name, source / name)]
    for name in sorted(changed, key=lambda name: name == "SKILL.md"):
        _put(root / name, (source / name).read_bytes(), iteration)
    write_changes(iteration, {**changes, "applied_at": now()})
    return changed


def _every_file(root: Path) -> list[str]:
    """All that lies in the skill's folder but version control; a link inside it is kept as what it leads to."""
    held = root.resolve()
    return [
        path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts and path.resolve().is_relative_to(held)
    ]


def _differ(one: Path, other: Path) -> bool:
    return one.read_bytes() != other.read_bytes()


def _put(path: Path, content: bytes, iteration: Iteration) -> None:
    mode = path.stat().st_mode if path.exists() else None
    iteration.writer.write_verbatim(path, content)
    if mode is not None:
        path.chmod(mode)
    elif path.parent.name == "scripts" and content.startswith(b"#!"):
        path.chmod(0o755)


def changes_of(iteration: Iteration) -> dict[str, Any]:
    """`changes.json` of the candidate; empty when nothing is proposed."""
    found = read_changes(iteration)
    return dict(found) if isinstance(found, Mapping) else {}
