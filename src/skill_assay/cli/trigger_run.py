"""A trigger evaluation of one skill: inputs, estimate, consent, launch, results, exit code."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import click

from skill_assay.agents.registry import create_agent, detect_default
from skill_assay.cli.resolve import Resolved
from skill_assay.cli.result import ending_words
from skill_assay.cli.talk import confirm, estimate_line
from skill_assay.errors import InputError
from skill_assay.model.trigger_results import QueryResult, RunState, TriggerResults
from skill_assay.reports.figures import count, launches
from skill_assay.runner.canary import CanaryReport, ensure_canary, run_canary
from skill_assay.runner.engine import Ending
from skill_assay.runner.estimate import Estimate, estimate
from skill_assay.runner.execute import Result, make_sandbox, price_book, specs_to_run
from skill_assay.runner.progress import Display
from skill_assay.runner.session import Mode, Session
from skill_assay.triggering.catalogue import INSTALLED
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.diagnose import diagnose, is_silent
from skill_assay.triggering.evaluate import Evaluation, evaluate, open_evaluation, trigger_results
from skill_assay.triggering.subject import Subject, read_subject
from skill_assay.workspace.places import default_workspace, resume_command
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.trigger_store import TriggerFolder, TriggerWorkspace

__all__ = ["LEFT_OUT_LIMIT", "TriggerTask", "exit_code", "run_triggers", "subject_of"]

LEFT_OUT_LIMIT = 0.2
"""Above this share of runs that show nothing, an evaluation is incomplete."""


@dataclass(frozen=True, slots=True)
class TriggerTask:
    """What a person chose besides the settings."""

    mode: Mode = "new"
    fresh: bool = False
    dry_run: bool = False
    yes: bool = False
    format: str = "text"
    output: str | None = None


def run_triggers(root: Path, resolved: Resolved, choice: TriggerChoice, task: TriggerTask, display: Display) -> int:
    """Evaluate one skill's triggering; the exit code says whether it was measured."""
    subject = subject_of(root, resolved, choice)
    workspace = TriggerWorkspace(resolved.workspace or default_workspace(subject.skill.root))
    with open_evaluation(
        subject, choice, resolved.settings, workspace, task.mode, fresh=task.fresh, environment=os.environ
    ) as evaluation:
        session = evaluation.session
        specs = specs_to_run(session)
        expected = estimate([spec.arm.name for spec in specs], price_book(session), session.settings.workers)
        if task.dry_run:
            click.echo(_dry_run(evaluation, expected, task.format))
            return 0
        display.begin(_head(evaluation, len(specs), expected), len(specs))
        try:
            confirm(expected, task.yes, "--runs, --query or --budget")
            session.workspace = TriggerWorkspace.create(workspace.path, _redactor(session))
            result, found = anyio.run(_measure, evaluation, display)
        finally:
            display.end()
        return _finish(result, found, resume_command(root, workspace.path, "trigger"), task)


def subject_of(root: Path, resolved: Resolved, choice: TriggerChoice) -> Subject:
    """The skill with its queries and neighbours; the agent is only asked where its users keep theirs."""
    folders: tuple[str, ...] = ()
    if INSTALLED in choice.catalog:
        name = resolved.settings.agent
        agent = create_agent(name) if name else detect_default(os.environ)
        folders = agent.capabilities.user_skills
    return read_subject(root, choice, folders, os.environ)


async def _measure(evaluation: Evaluation, display: Display) -> tuple[Result, TriggerResults]:
    """The self-test of detection, the runs, and where nothing fired at all the self-test once more."""
    session = evaluation.session
    if session.detected is not None:
        report = await ensure_canary(session.agent, session.detected, make_sandbox(session.settings))
        if report is not None:
            display.say(f"✓ detection self-test on your CLI: {report.passed} of {len(report.results)}")
    result = await evaluate(evaluation, display)
    found = trigger_results(evaluation, result)
    if is_silent(found) and result.stopped.ending is Ending.DONE:
        display.say("No query fired: the self-test of detection decides whether that is believed")
        found = replace(found, diagnosis=diagnose(found, await _fresh_canary(session)))
    return result, found


async def _fresh_canary(session: Session) -> CanaryReport | None:
    if session.detected is None:
        return None
    report = await run_canary(session.agent, session.detected, make_sandbox(session.settings))
    return report if report.results else None


def _redactor(session: Session) -> Redactor:
    secrets = [value for kit in session.kits.values() for value in kit.sign_in.env.values()]
    secrets += [os.environ[name] for name in session.settings.pass_env if name in os.environ]
    return Redactor(secrets, keep=session.settings.keep_secrets)


def _head(evaluation: Evaluation, left: int, expected: Estimate) -> list[str]:
    session, choice = evaluation.session, evaluation.choice
    skill, plan = evaluation.subject.skill, session.plan
    version = session.detected.version if session.detected else ""
    agent = f"{session.agent.name} {version}".strip() + (
        f" ({session.settings.model})" if session.settings.model else ""
    )
    parts = [f"{skill.name} {skill.digest[:7]}", agent, f"seed {plan.seed}"]
    others = len(evaluation.subject.neighbours)
    parts.append(f"{others} skills beside it" if others > 1 else "1 skill beside it" if others else "alone")
    if session.agent.capabilities.simulated:
        parts.append("simulated: no real agent's work")
    whole = len(plan.eval_ids) * plan.trials
    shape = f"{count(len(plan.eval_ids), 'query', 'queries')} × {count(plan.trials, 'run')} = {launches(whole)}"
    shape += f", {left} of them still to be run" if left != whole else ""
    most = "at most " if choice.curtail else ""
    return [" · ".join(parts), f"{shape}, {most}{estimate_line(expected)}", *evaluation.notes]


def _dry_run(evaluation: Evaluation, expected: Estimate, form: str) -> str:
    trials = [str(spec.id) for spec in specs_to_run(evaluation.session)]
    if form == "json":
        spend = expected.spend
        facts = {"launches": len(trials), "usd": round(spend.usd, 2), "tokens": spend.tokens}
        return json.dumps({**facts, "seconds": round(expected.seconds), "trials": trials}, indent=2)
    labels = {True: "should fire  ", False: "should not   "}
    queries = [f"{labels[query.should_trigger]} {query.id}: {query.text}" for query in evaluation.subject.queries]
    return "\n".join([*_head(evaluation, len(trials), expected), *queries, "Nothing was launched."])


def _finish(result: Result, found: TriggerResults, resume: str, task: TriggerTask) -> int:
    """Write the results, show them, say how the run ended."""
    from skill_assay.reports.trigger_html import triggers_page
    from skill_assay.triggering.record import results_record

    folder = result.iteration
    assert isinstance(folder, TriggerFolder)
    record = results_record(found)
    folder.write_results(record)
    page = triggers_page(found)
    folder.write_report(page)
    ending = ending_words(result, resume, "evaluation")
    if found.scores.accuracy.n or not ending:
        _show(found, folder, task, json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False), page)
    if ending:
        click.echo(ending, err=True)
    return exit_code(result, found)


def _show(found: TriggerResults, folder: TriggerFolder, task: TriggerTask, record: str, page: str) -> None:
    from skill_assay.reports.trigger_terminal import print_triggers, render_triggers

    if task.format == "text" and not task.output:
        from rich.console import Console

        print_triggers(found, Console(file=sys.stdout, highlight=False), place=str(folder.path))
        return
    texts = {
        "json": lambda: record,
        "html": lambda: page,
        "text": lambda: render_triggers(found, place=str(folder.path)),
    }
    text = texts[task.format]()
    if not task.output:
        click.echo(text.encode("utf-8", "replace"), nl=not text.endswith("\n"))
        return
    try:
        Path(task.output).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("can't be written", file=task.output, found=error.strerror or str(error)) from error


def exit_code(result: Result, found: TriggerResults) -> int:
    """0 measured; 3 incomplete: stopped, too many runs left out, a query without any, or our detection is broken."""
    if result.stopped.ending is Ending.INTERRUPTED:
        return 130
    total = len(found.every_run)
    # What calls the skill by name where that leaves no sign was known before, and is no failure of the evaluation.
    unseen = sum(run.state is RunState.UNSEEN for run in found.every_run)
    undecided = any(one.passed is None and not _unseen(one) for one in found.queries)
    broken = found.diagnosis is not None and found.diagnosis.detection == "broken"
    incomplete = result.stopped.ending is not Ending.DONE or len(found.left_out) - unseen > LEFT_OUT_LIMIT * max(
        1, total
    )
    return 3 if incomplete or undecided or broken else 0


def _unseen(one: QueryResult) -> bool:
    return bool(one.runs) and all(run.state is RunState.UNSEEN for run in one.runs)
