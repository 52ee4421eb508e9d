"""Agents and models beside each other: the suite of an iteration, derived again from what its iterations hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skill_assay.benchmark.suite import member_derived, suite_table
from skill_assay.errors import AssayError, NotFoundError
from skill_assay.model.suite import MemberRow, Rival, Suite, SuiteTable
from skill_assay.reports.suite import answer_lines, foot_lines, member_table, rival_table
from skill_assay.reports.suite_page import rivals_svg, suite_svg
from skill_assay.viewer.site import Opened, Site
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.suites import suite_of

__all__ = ["SuitePage", "suite_near", "suite_page", "suite_plot"]

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class SuitePage:
    """What the page shows."""

    answers: Sequence[str]
    members: Rows
    """Head and rows."""
    rivals: Rows
    """The same of the pairs; empty where there are none."""
    plots: Sequence[str]
    """Which of `suite` and `rivals` can be drawn."""
    foot: Sequence[str]


def suite_near(iteration: Iteration) -> Suite | None:
    """The suite an iteration belongs to, else the newest of its workspace; `None` where there is none to be read."""
    if not iteration.has_plan:
        return None
    try:
        own, every = suite_of(iteration), Workspace(iteration.path.parent).suites()
    except AssayError:
        return None
    return own or (every[-1] if every else None)


def suite_page(site: Site, opened: Opened) -> SuitePage:
    """The page.

    Raises:
        NotFoundError: there is no suite here.
    """
    table = _table(site, opened)
    drawable = {"suite": _drawable(table.rows), "rivals": _drawable(table.rivals)}
    return SuitePage(
        answers=answer_lines(table),
        members=member_table(table),
        rivals=rival_table(table) if table.rivals else [],
        plots=[name for name, holds in drawable.items() if holds],
        foot=foot_lines(table),
    )


def suite_plot(site: Site, opened: Opened, name: str) -> str:
    """One of its plots, as SVG; empty where nothing was measured.

    Raises:
        NotFoundError: there is no suite here.
    """
    return (rivals_svg if name == "rivals" else suite_svg)(_table(site, opened))


def _drawable(found: Sequence[MemberRow | Rival]) -> bool:
    return any(one.inference is not None and one.inference.effect is not None for one in found)


def _table(site: Site, opened: Opened) -> SuiteTable:
    suite = suite_near(opened.iteration)
    if suite is None:
        raise NotFoundError("no agents and models were measured together here", file=str(opened.iteration.path))
    workspace = Workspace(opened.iteration.path.parent)
    members = {
        member: member_derived(workspace, member, lambda one: site.open(one.path.name).derived)
        for member in suite.members
    }
    return suite_table(workspace, suite, members)
