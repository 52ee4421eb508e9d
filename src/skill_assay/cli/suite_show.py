"""A suite's table: derived from its iterations, written beside them, shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.benchmark.suite import member_derived, suite_table
from skill_assay.cli.result import keep_report
from skill_assay.cli.show import keep, write
from skill_assay.model.suite import Suite, SuiteTable
from skill_assay.reports.suite import suite_json, suite_library_rows, suite_markdown, suite_text
from skill_assay.workspace.resolve import ResolvedPlace
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.suites import current_suite

__all__ = ["form_of", "show_suite", "suite_named", "table_of"]


def suite_named(place: ResolvedPlace) -> Suite | None:
    """The suite that a skill or a workspace means: that of its newest iteration."""
    return current_suite(place.workspace) if place.workspace and place.kind in ("skill", "workspace") else None


def table_of(
    workspace: Workspace,
    suite: Suite,
    *,
    thresholds: Mapping[str, Any] | None = None,
    eval_ids: Iterable[str] = (),
    tags: Iterable[str] = (),
    common: bool = False,
    store: bool = True,
) -> SuiteTable:
    """Derive every member again.

    Args:
        workspace: where its iterations lie.
        suite: which they are.
        thresholds: instead of those of the plans.
        eval_ids: only these evals.
        tags: only evals with one of these tags.
        common: compare each with its earlier iteration only over the evals both have.
        store: write each one's benchmark and report, and the suite's page and plot.
    """
    ids, tagged = tuple(eval_ids), tuple(tags)

    def derived(iteration: Iteration) -> Derived:
        return derive(iteration.path, thresholds=thresholds, eval_ids=ids, tags=tagged, common=common)

    members = {member: member_derived(workspace, member, derived) for member in suite.members}
    table = suite_table(workspace, suite, members)
    if store:
        for member, found in members.items():
            if isinstance(found, Derived) and member.iteration is not None:
                keep(workspace.iteration(member.iteration), found)
                keep_report(workspace.iteration(member.iteration), found)
        _write_page(workspace, table)
    return table


def show_suite(workspace: Workspace, suite: Suite, form: str, output: str | None) -> list[int]:
    """Show it, and say as an exit code of each member whether it was measured whole and meets its gate."""
    table = table_of(workspace, suite)
    write(form_of(table, form), output)
    return [row.gate.exit_code if row.gate else 3 for row in table.rows]


def form_of(table: SuiteTable, form: str) -> str:
    """As `json`, `markdown`, `junit`, `github` or `text`."""
    if form in ("junit", "github"):
        from skill_assay.reports.library import library_github, library_junit

        return (library_junit if form == "junit" else library_github)(suite_library_rows(table))
    return {"json": suite_json, "markdown": suite_markdown, "text": suite_text}[form](table)


def _write_page(workspace: Workspace, table: SuiteTable) -> None:
    from skill_assay.reports.suite_page import suite_page, suite_svg

    try:
        place = workspace.write_suite_report(suite_page(table), suite_svg(table))
    except Exception as error:  # a page that can't be made costs nothing that was measured
        click.echo(f"suite.html could not be written: {error}", err=True)
    else:
        click.echo(f"Page and plot: {place}", err=True)
