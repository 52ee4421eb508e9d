"""`assay grade`: grade the stored trials of an iteration again, without an agent under test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.benchmark.derive import derive
from skill_assay.cli.caps import parse_caps
from skill_assay.cli.options import output_options
from skill_assay.cli.show import keep, show
from skill_assay.errors import IncompleteError, InputError
from skill_assay.model.plan import Plan
from skill_assay.reports.figures import count
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.judging import check_judge
from skill_assay.runner.regrade import Regraded, regrade
from skill_assay.runner.settings import Budget, RunSettings
from skill_assay.workspace.resolve import iteration_of, resolve_place

__all__ = ["command"]

_SHOWN = 20


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--evals", type=click.Path(), metavar="FILE", help="Evals from another file than the skill's own.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only evals with this tag (repeatable).")
@click.option("--grader", metavar="COMMAND", help="Program with {outputs} {transcript} {eval} that grades a trial.")
@click.option("--judge", metavar="NAME", help="Judge for what no check decides; else the run's own.")
@click.option("--judge-votes", type=click.IntRange(1), metavar="N", help="Ask the judge N times (odd); most votes win.")
@click.option(
    "--judge-mode", type=click.Choice(["inline", "agent"]), help="Whether the judge reads the files itself (agent)."
)
@click.option("--judge-again", is_flag=True, help="Ask also what the judge has answered before.")
@click.option("--budget", metavar="CAPS", help="Caps for the judge, as 5usd,2Mtok.")
@click.option("--sandbox", metavar="HOW", help="none, bwrap, or a command put before the checks'.")
@click.option("-q", "--quiet", is_flag=True, help="Only the result.")
@output_options(["text", "json", "markdown"])
def command(place: str, workspace: str | None, format_: str, output: str | None, quiet: bool, **options: Any) -> int:
    """Grade the stored trials of PLACE again, by the skill's evals as they are now; no agent does its task again.

    A judge's stored replies are used again, so only what it has not answered yet is asked (and costs).
    """
    resolved = resolve_place(place, Path(workspace) if workspace else None)
    iteration = iteration_of(resolved)
    if not iteration.has_plan:
        raise InputError(
            "was not made by assay run, so there is no stored work to grade",
            file=str(iteration.path),
            hint="`assay benchmark` reads the grades other tools gave.",
        )
    plan = iteration.read_plan()
    inputs = load_inputs(
        resolved.skill or Path(plan.skill_path),
        _evals(plan, resolved.skill, options["evals"]),
        eval_ids=options["eval_ids"],
        tags=options["tags"],
        allow_outside=bool(plan.settings.get("allow_outside_files")),
    )
    try:
        done = anyio.run(regrade, iteration, plan, inputs, _settings(plan, options))
    except IncompleteError:
        # Some trials have their new grades, so the numbers are made from what is stored now.
        keep(iteration, derive(iteration.path))
        raise
    derived = derive(iteration.path)
    keep(iteration, derived)
    if not quiet:
        _say(done)
    show(derived, format_, output)
    return 0


def _evals(plan: Plan, skill: Path | None, named: str | None) -> Path | None:
    """The file named now, else the one of the run, unless another skill is named."""
    recorded = plan.settings.get("evals_file")
    if named or not recorded or (skill and skill.resolve() != Path(plan.skill_path).resolve()):
        return Path(named) if named else None
    return Path(recorded)


def _settings(plan: Plan, options: dict[str, Any]) -> RunSettings:
    """The run's own graders and sandbox where no others are named."""
    judge = options["judge"] or str(plan.settings.get("judge") or "none")
    mode: Any = options["judge_mode"] or plan.settings.get("judge_mode") or "inline"
    if options["judge"] or options["judge_mode"]:
        check_judge(judge, os.environ, mode)
    caps = parse_caps(options["budget"])
    return RunSettings(
        judge=judge,
        judge_mode=mode,
        judge_votes=options["judge_votes"] or int(plan.settings.get("judge_votes") or 1),
        judge_again=options["judge_again"],
        budget=Budget(caps.get("usd"), caps.get("tokens")),
        grader=options["grader"] or plan.settings.get("grader"),
        sandbox=options["sandbox"] or plan.settings.get("sandbox") or "none",
    )


def _say(done: Regraded) -> None:
    lines = [f"{count(done.trials, 'trial')} graded again, {count(len(done.changed), 'decision')} changed"]
    lines += [f"  {line}" for line in done.changed[:_SHOWN]]
    if len(done.changed) > _SHOWN:
        lines.append(f"  and {len(done.changed) - _SHOWN} more")
    if done.unknown_evals:
        lines.append(f"Left as they were, since the evals no longer have them: {', '.join(done.unknown_evals)}")
    click.echo("\n".join(lines), err=True)
