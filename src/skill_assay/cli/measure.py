"""A run of one skill: session, estimate, consent, launch, and what is reused or stopped early on the way."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import click

from skill_assay.benchmark.derive import Derived
from skill_assay.benchmark.early import early_of, look_of
from skill_assay.cli.recorded import as_recorded
from skill_assay.cli.resolve import Resolved
from skill_assay.cli.result import derive_run, finish_run
from skill_assay.cli.talk import confirm, head_line, launches_line
from skill_assay.errors import InputError
from skill_assay.graders.decidable import undecidable
from skill_assay.model.protocols import Scheduler
from skill_assay.model.trial import Trial, TrialSpec
from skill_assay.runner.canary import ensure_canary
from skill_assay.runner.estimate import Estimate, estimate
from skill_assay.runner.execute import (
    Result,
    Schedule,
    execute,
    in_order,
    make_graders,
    make_sandbox,
    price_book,
    specs_to_run,
)
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.judging import judge_purposes
from skill_assay.runner.progress import Display
from skill_assay.runner.reuse import adopt, earlier_baseline, reusable
from skill_assay.runner.rounds import Rounds
from skill_assay.runner.session import Mode, Session, newest, open_session
from skill_assay.workspace.places import default_workspace, resume_command, skill_folder
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.store import Iteration, Workspace

__all__ = ["RunChoices", "expected_of", "measure_skill", "run_skill", "session_of", "to_launch"]


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
    again: bool = False
    """Compare the skill with itself (`--aa`)."""
    reuse_baseline: str | None = None
    previous: str | None = None
    """The iteration to compare with."""
    common: bool = False
    going_on: Iteration | None = None
    """The iteration to go on with, instead of the newest; the settings are then whole, nothing is taken from it."""
    before: int | None = None
    """The first iteration of the suite this one belongs to: what is older came before it."""


def run_skill(root: Path, resolved: Resolved, choices: RunChoices, display: Display) -> int:
    """Measure one skill; the exit code is the answer to "was it measured, and are the gates met"."""
    with session_of(root, resolved, choices) as session:
        if choices.dry_run:
            click.echo(_dry_run(session, to_launch(session, choices), choices.format))
            return 0
        result = _launch(session, choices, display)
        resume = resume_command(root, session.workspace.path)
    return finish_run(result, resume, choices.format, choices.output, previous=choices.previous, common=choices.common)


def measure_skill(
    root: Path, resolved: Resolved, choices: RunChoices, display: Display
) -> tuple[Result, Derived | None]:
    """The same without a word about the outcome; its benchmark is written."""
    with session_of(root, resolved, choices) as session:
        result = _launch(session, choices, display)
    return result, derive_run(result, previous=choices.previous, common=choices.common)


def session_of(root: Path, resolved: Resolved, choices: RunChoices) -> Session:
    """The resolved run, nothing launched or written."""
    place = choices.workspace or resolved.workspace or default_workspace(skill_folder(root))
    settings = resolved.settings
    if choices.mode != "new" and choices.going_on is None:
        last = newest(Workspace(place))
        settings = as_recorded(resolved, last.read_plan().settings if last else None)
    inputs = load_inputs(
        root,
        settings.evals_file or resolved.evals_path,
        eval_ids=settings.eval_ids,
        tags=settings.tags,
        allow_outside=settings.allow_outside_files,
    )
    return open_session(
        inputs,
        settings,
        Workspace(place),
        choices.mode,
        again=choices.again,
        fresh=choices.fresh,
        going_on=choices.going_on,
        before=choices.before,
    )


def expected_of(session: Session, choices: RunChoices) -> Estimate:
    """What is to be launched is expected to take."""
    return _estimate(session, to_launch(session, choices))


def _estimate(session: Session, specs: Sequence[TrialSpec]) -> Estimate:
    graders = make_graders(session.settings, session.inputs.evals_root)
    questions = judge_purposes(specs, session.settings, graders)
    return estimate([*(spec.arm.name for spec in specs), *questions], price_book(session), session.settings.workers)


def to_launch(session: Session, choices: RunChoices) -> list[TrialSpec]:
    """The trials that would be launched: those without a record, less what is taken from an earlier baseline."""
    specs = specs_to_run(session)
    if choices.reuse_baseline is None:
        return specs
    kept = set(reusable(session, earlier_baseline(session, choices.reuse_baseline)))
    return [spec for spec in specs if spec.id not in kept]


def _launch(session: Session, choices: RunChoices, display: Display) -> Result:
    _point_out_undecidable(session, display)
    specs = to_launch(session, choices)
    expected = _estimate(session, specs)
    display.begin([head_line(session), launches_line(session, len(specs), expected)], len(specs))
    try:
        confirm(expected, choices.yes)
        session.workspace = Workspace.create(session.workspace.path, _redactor(session))
        if choices.reuse_baseline is not None:
            source = earlier_baseline(session, choices.reuse_baseline)
            adopt(session, source, reusable(session, source))
        return anyio.run(_measure, session, display)
    finally:
        display.end()


async def _measure(session: Session, display: Display) -> Result:
    """The self-test of detection where the agent has one, then the run."""
    if session.detected is not None and session.base_url is None:
        report = await ensure_canary(session.agent, session.detected, make_sandbox(session.settings))
        if report is not None:
            display.say(f"✓ detection self-test on your CLI: {report.passed} of {len(report.results)}")
    rounds: list[Rounds] = []
    result = await execute(session, display, schedule=_schedule(session, rounds))
    if rounds and rounds[0].stopped_at is not None:
        _shorten(result, rounds[0].stopped_at)
    return result


def _schedule(session: Session, made: list[Rounds]) -> Schedule:
    """In the plan's order, or in rounds with a look after each, where the plan may stop early."""
    early = early_of(session.plan.settings)
    if early is None:
        return in_order
    weights = {one.id: one.weight for one in session.inputs.evals.evals}
    crossed = look_of(session.plan, weights)

    def schedule(specs: Sequence[TrialSpec], recorded: Iterable[Trial]) -> Scheduler:
        made.append(Rounds(specs, recorded, planned=early.rounds, crossed=crossed))
        return made[0]

    return schedule


def _shorten(result: Result, rounds: int) -> None:
    """After an early stop the rounds not run are no longer planned: nothing is missing, nothing is left to resume."""
    plan = result.iteration.read_plan()
    order = tuple(trial for trial in plan.order if trial.repeat <= rounds)
    result.iteration.write_plan(replace(plan, order=order, trials=rounds))


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


def _dry_run(session: Session, specs: Sequence[TrialSpec], form: str) -> str:
    trials, expected = [str(spec.id) for spec in specs], _estimate(session, specs)
    if form == "json":
        spend = expected.spend
        facts = {"launches": len(trials), "usd": round(spend.usd, 2), "tokens": spend.tokens}
        return json.dumps({**facts, "seconds": round(expected.seconds), "trials": trials}, indent=2)
    tokens = f"{expected.spend.tokens} tokens" if expected.spend.tokens else "no tokens"
    lines = [head_line(session), launches_line(session, len(trials), expected), f"{tokens} expected", *trials]
    return "\n".join([*lines, "Nothing was launched."])
