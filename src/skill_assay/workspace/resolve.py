"""What place a person named: a skill, a workspace, an iteration, or somebody else's folder of runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skill_assay.errors import InputError, NotFoundError
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.store import Iteration, Workspace, is_iteration

__all__ = ["ResolvedPlace", "iteration_of", "resolve_place"]


@dataclass(frozen=True, slots=True)
class ResolvedPlace:
    """What a person named."""

    kind: Literal["skill", "workspace", "iteration", "folder"]
    """`folder`: none of ours; somebody else's workspace may lie in it."""
    path: Path
    """The folder that was named."""
    workspace: Workspace | None
    iteration: Iteration | None
    """The iteration it means: of a skill or a workspace the newest; `None` where there is none yet."""
    skill: Path | None = None
    """The skill's folder, where a skill was named."""


def resolve_place(path: Path | str, workspace: Path | None = None) -> ResolvedPlace:
    """What a path given to a command means.

    Args:
        path: a skill (its folder or its SKILL.md), a workspace, an iteration, or a folder with foreign runs.
        workspace: where the skill's workspace lies, if not at its usual place.

    Raises:
        NotFoundError: nothing is there.
        InputError: it is some other file.
    """
    place = Path(path)
    expected = "a skill, a workspace or an iteration"
    if not place.exists():
        raise NotFoundError("no such place", file=str(place), expected=expected)
    if place.name == "SKILL.md":
        place = place.parent
    if not place.is_dir():
        raise InputError("is a file", file=str(place), expected=expected)
    if (place / "SKILL.md").is_file():
        home = Workspace(workspace or default_workspace(place))
        return ResolvedPlace("skill", place, home, _newest(home), place)
    if is_iteration(place):
        return ResolvedPlace("iteration", place, Workspace(place.parent), Iteration(place))
    home = Workspace(place)
    newest = _newest(home)
    kind: Literal["workspace", "folder"] = "workspace" if newest else "folder"
    return ResolvedPlace(kind, place, home if newest else None, newest)


def iteration_of(place: ResolvedPlace) -> Iteration:
    """The iteration a place means, for a command that reads results.

    Raises:
        NotFoundError: a skill or workspace without any.
    """
    if place.iteration is not None:
        return place.iteration
    if place.kind == "folder":
        return Iteration(place.path)
    where = place.workspace.path if place.workspace else place.path
    raise NotFoundError("no iteration here yet", file=str(where), hint=f"Make one with  assay run {place.path}")


def _newest(workspace: Workspace) -> Iteration | None:
    iterations = workspace.iterations()
    return iterations[-1] if iterations else None
