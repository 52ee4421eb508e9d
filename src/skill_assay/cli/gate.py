"""`assay gate`: does a benchmark meet its thresholds?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from skill_assay.benchmark.derive import derive
from skill_assay.benchmark.gate import DEFAULT_THRESHOLDS, gate
from skill_assay.cli.options import output_options
from skill_assay.cli.show import headline_of, show, write
from skill_assay.cli.suite_show import form_of, suite_named, table_of
from skill_assay.formats.config import find_config, load_config
from skill_assay.model.suite import Suite
from skill_assay.reports.suite import suite_gate_text
from skill_assay.workspace.resolve import ResolvedPlace, iteration_of, resolve_place
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.suites import begun_iteration

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--config", type=click.Path(), metavar="FILE", help="Take the thresholds of this configuration.")
@click.option("--previous", metavar="PLACE", help="The iteration regressions are counted against; else the one before.")
@click.option("--common", is_flag=True, help="Compare only the evals both iterations have unchanged.")
@output_options(["text", "json", "junit", "github", "markdown"])
def command(
    place: str,
    workspace: str | None,
    config: str | None,
    previous: str | None,
    common: bool,
    format_: str,
    output: str | None,
) -> int:
    """Hold PLACE (a skill, a workspace or an iteration) to its thresholds; of a suite, every member.

    Thresholds are those of --config, else of the skill's configuration where a skill is named, else those the run was
    made with, else a mean pass rate of 0.8, 100,000 tokens, 120 seconds and an improvement ratio of 1.
    As markdown it is short, for a comment on a pull request. Exit code 0: met; 1: not met; 2: nothing there; 3: met as
    far as was measured, and not all was.
    """
    named = resolve_place(place, Path(workspace) if workspace else None)
    suite = suite_named(named)
    if suite and named.workspace and not previous:
        return _gate_suite(named, named.workspace, suite, config, common, format_, output)
    iteration = iteration_of(named)
    thresholds = _thresholds(named, iteration, config)
    derived = derive(iteration.path, thresholds=thresholds, previous=previous, common=common)
    found = gate(derived.benchmark)
    if format_ in ("text", "json"):
        from skill_assay.reports.gate import gate_json, gate_text

        skill = str(named.skill or derived.benchmark.skill_path or place)
        again = "" if derived.benchmark.foreign else derived.benchmark.again
        text = gate_text(found, headline=headline_of(derived), skill=skill, again=again)
        write(gate_json(found) if format_ == "json" else text, output)
    elif format_ == "markdown":
        from skill_assay.reports.ci import pull_request_comment

        write(pull_request_comment(derived.benchmark, found, headline=headline_of(derived)), output)
    else:
        show(derived, format_, output)
    return found.exit_code


def _gate_suite(
    named: ResolvedPlace,
    workspace: Workspace,
    suite: Suite,
    config: str | None,
    common: bool,
    form: str,
    output: str | None,
) -> int:
    """Every member held to the thresholds; one that was not measured is incomplete."""
    begun = next((one for member in suite.members if (one := begun_iteration(workspace, member))), None)
    thresholds = _thresholds(named, begun or workspace.iteration(0), config)
    table = table_of(workspace, suite, thresholds=thresholds, common=common, store=False)
    write(suite_gate_text(table) if form == "text" else form_of(table, form), output)
    codes = [row.gate.exit_code if row.gate else 3 for row in table.rows]
    return 1 if 1 in codes else 3 if any(codes) else 0


def _thresholds(named: ResolvedPlace, iteration: Iteration, config: str | None) -> Mapping[str, Any]:
    own = find_config(named.skill) if named.skill else None
    file = Path(config) if config else own
    asked: Mapping[str, Any] = load_config(file).thresholds if file else {}
    if not asked and not config and iteration.has_plan:
        asked = iteration.read_plan().settings.get("thresholds") or {}
    if not asked:
        click.echo("No thresholds are set; held to the usual four.", err=True)
    return asked or DEFAULT_THRESHOLDS
