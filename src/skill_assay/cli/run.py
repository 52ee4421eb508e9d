"""`assay run`: does the agent do better with the skill?"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.cli.options import output_options, setting_options, talk_options
from skill_assay.cli.progress import make_display
from skill_assay.cli.resolve import Resolved, resolve
from skill_assay.cli.result import finish_run
from skill_assay.cli.talk import confirm, head_line, launches_line
from skill_assay.errors import InputError
from skill_assay.graders.decidable import undecidable
from skill_assay.runner.canary import ensure_canary
from skill_assay.runner.estimate import Estimate, estimate
from skill_assay.runner.execute import Result, execute, make_graders, make_sandbox, price_book, specs_to_run
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.progress import Display
from skill_assay.runner.session import Mode, Session, open_session
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.store import Workspace

__all__ = ["RunChoices", "command", "run_skill"]


@dataclass(frozen=True, slots=True)
class RunChoices:
    """What a person chose besides the settings."""

    mode: Mode = "new"
    fresh: bool = False
    dry_run: bool = False
    yes: bool = False
    format: str = "text"
    output: str | None = None
    workspace: Path | None = None


@click.command()
@click.argument("skill", type=click.Path())
@setting_options
@click.option(
    "--config", type=click.Path(), metavar="FILE", help="Configuration file; evals/benchmark.config.json if there."
)
@click.option("--evals", type=click.Path(), metavar="FILE", help="Evals from another file than the skill's own.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only evals with this tag (repeatable).")
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where results go.")
@click.option("--resume", is_flag=True, help="Run what the newest iteration is missing.")
@click.option("--add", is_flag=True, help="Add trials or evals to the newest iteration.")
@click.option("--new", "fresh", is_flag=True, help="Begin another iteration although the newest is unfinished.")
@click.option("--ungraded", is_flag=True, help="Run evals nothing can decide; grade them later.")
@click.option("--allow-outside-files", is_flag=True, help="Take fixtures from outside the skill's folder.")
@click.option("--allow-unequal", is_flag=True, help="Go on although the arms differ in more than the skill.")
@click.option("--keep-secrets", is_flag=True, help="Write secrets down as they are.")
@click.option("--keep-sandboxes", is_flag=True, help="Leave each trial's folders for a look.")
@click.option("--dry-run", is_flag=True, help="List the trials and the estimate; launch nothing.")
@click.option("--show-config", is_flag=True, help="Print every setting with its origin; launch nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before a costly run.")
@output_options(["text", "json", "markdown"])
@talk_options
def command(skill: str, **options: Any) -> int:
    """Run the evals of SKILL with and without it, and measure the difference."""
    root = Path(skill)
    resolved = resolve(root, options)
    if options["show_config"]:
        click.echo(resolved.show(options["format_"]))
        return 0
    choices = RunChoices(
        mode=_mode(options),
        fresh=options["fresh"],
        dry_run=options["dry_run"],
        yes=options["yes"],
        format=options["format_"],
        output=options["output"],
    )
    kind = "none" if options["no_progress"] else options["progress"]
    return run_skill(root, resolved, choices, make_display(kind, options["quiet"]))


def _mode(options: dict[str, Any]) -> Mode:
    asked = [name for name in ("resume", "add", "fresh") if options[name]]
    if len(asked) > 1:
        raise InputError("--resume, --add and --new exclude each other")
    return "resume" if options["resume"] else "add" if options["add"] else "new"


def run_skill(root: Path, resolved: Resolved, choices: RunChoices, display: Display) -> int:
    """Measure one skill; the exit code is the answer to "was it measured, and are the gates met"."""
    settings = resolved.settings
    inputs = load_inputs(
        root,
        resolved.evals_path,
        eval_ids=settings.eval_ids,
        tags=settings.tags,
        allow_outside=settings.allow_outside_files,
    )
    place = choices.workspace or resolved.workspace or default_workspace(inputs.skill.root)
    with open_session(inputs, settings, Workspace(place), choices.mode, fresh=choices.fresh) as session:
        _point_out_undecidable(session, display)
        specs = specs_to_run(session)
        expected = estimate([spec.arm.name for spec in specs], price_book(session), settings.workers)
        if choices.dry_run:
            click.echo(_dry_run(session, expected, choices.format))
            return 0
        display.begin([head_line(session), launches_line(session, len(specs), expected)], len(specs))
        try:
            confirm(expected, choices.yes)
            session.workspace = Workspace.create(place, _redactor(session))
            result = anyio.run(_measure, session, display)
        finally:
            display.end()
        return finish_run(result, str(root), choices.format, choices.output)


async def _measure(session: Session, display: Display) -> Result:
    """The self-test of detection where the agent has one, then the run."""
    if session.detected is not None and session.base_url is None:
        report = await ensure_canary(session.agent, session.detected, make_sandbox(session.settings))
        if report is not None:
            display.say(f"✓ detection self-test on your CLI: {report.passed} of {len(report.results)}")
    return await execute(session, display)


def _redactor(session: Session) -> Redactor:
    secrets = [value for kit in session.kits.values() for value in kit.sign_in.env.values()]
    secrets += [os.environ[name] for name in session.settings.pass_env if name in os.environ]
    return Redactor(secrets, keep=session.settings.keep_secrets)


def _point_out_undecidable(session: Session, display: Display) -> None:
    inputs = session.inputs
    chosen = replace(inputs.evals, evals=inputs.chosen)
    graders = make_graders(session.settings, inputs.evals_root)
    nothing = undecidable(chosen, graders, inputs.skill.name)
    if not nothing.evals or session.settings.ungraded:
        return
    names = "; ".join(f"{name} ({reason})" for name, reason in nothing.evals)
    if nothing.all:
        raise InputError(
            f"Nothing in these evals can be decided by a machine: {names}",
            file=str(session.inputs.evals.source),
            hint='Give an expectation a check, as {"text": "…", "check": {"file_exists": "report.md"}}, or run now '
            "and grade later with --ungraded.",
        )
    display.say(f"Nothing can be decided in {names}: they will be run and stay ungraded")


def _dry_run(session: Session, expected: Estimate, form: str) -> str:
    trials = [str(spec.id) for spec in specs_to_run(session)]
    if form == "json":
        spend = expected.spend
        facts = {"launches": len(trials), "usd": round(spend.usd, 2), "tokens": spend.tokens}
        return json.dumps({**facts, "seconds": round(expected.seconds), "trials": trials}, indent=2)
    tokens = f"{expected.spend.tokens} tokens" if expected.spend.tokens else "no tokens"
    lines = [head_line(session), launches_line(session, len(trials), expected), f"{tokens} expected", *trials]
    return "\n".join([*lines, "Nothing was launched."])
