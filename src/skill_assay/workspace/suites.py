"""Which suite a workspace stands at, and which iterations belong to which."""

from __future__ import annotations

from dataclasses import replace

from skill_assay.model.suite import Member, Suite
from skill_assay.workspace.store import Iteration, Workspace

__all__ = ["begun_iteration", "current_suite", "keep_suite", "suite_of"]


def current_suite(workspace: Workspace) -> Suite | None:
    """The newest suite, where no iteration is newer than it; else `None`."""
    suites = workspace.suites()
    if not suites:
        return None
    newest = max((one.number for one in workspace.iterations() if one.has_plan), default=0)
    return suites[-1] if newest <= max((suites[-1].after, *suites[-1].iterations)) else None


def suite_of(iteration: Iteration) -> Suite | None:
    """The suite an iteration belongs to."""
    suites = Workspace(iteration.path.parent).suites()
    return next((one for one in reversed(suites) if iteration.number in one.iterations), None)


def begun_iteration(workspace: Workspace, member: Member) -> Iteration | None:
    """A member's iteration once it has a plan; one that was killed before that left nothing to go on with."""
    if member.iteration is None:
        return None
    iteration = workspace.iteration(member.iteration)
    if not iteration.has_plan:
        return None
    return iteration if iteration.read_plan().asked == member.key else None


def keep_suite(workspace: Workspace, suite: Suite, member: Member | None = None) -> Suite:
    """Write a suite, and in it what became of one member; the others of the workspace stay as they are."""
    if member is not None:
        members = tuple(member if one.key == member.key else one for one in suite.members)
        suite = replace(suite, members=members)
    others = [one for one in workspace.suites() if one.created_at != suite.created_at or one.after != suite.after]
    workspace.write_suites([*others, suite])
    return suite
