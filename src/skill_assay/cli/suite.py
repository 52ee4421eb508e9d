"""`assay run SKILL` with several agents or models: an iteration each, one estimate, one consent, one budget."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from skill_assay.agents.registry import create_agent, detect_default
from skill_assay.cli.measure import RunChoices, expected_of, measure_skill, session_of, to_launch
from skill_assay.cli.recorded import as_recorded
from skill_assay.cli.resolve import Resolved
from skill_assay.cli.result import ending_words, exit_code
from skill_assay.cli.suite_show import show_suite
from skill_assay.cli.talk import confirm, estimate_line
from skill_assay.errors import AssayError, InputError
from skill_assay.formats.skill import read_skill
from skill_assay.model.money import Spend
from skill_assay.model.suite import Member, Suite
from skill_assay.reports.figures import launches
from skill_assay.runner.engine import Ending
from skill_assay.runner.estimate import Estimate
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.plan import plain_settings
from skill_assay.runner.progress import Display
from skill_assay.runner.session import Mode
from skill_assay.runner.settings import Budget, RunSettings
from skill_assay.workspace.journal import replay
from skill_assay.workspace.places import default_workspace, resume_command, skill_folder
from skill_assay.workspace.store import Workspace
from skill_assay.workspace.suites import begun_iteration, current_suite, keep_suite
from skill_assay.workspace.writing import utc_now

__all__ = ["is_suite", "run_suite"]

_SPENT = "not run: the budget of the suite is reached"
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class _Part:
    """A member, ready to be run."""

    member: Member
    resolved: Resolved
    choices: RunChoices
    trials: tuple[str, ...] = ()
    expected: Estimate = Estimate(Spend(), 0.0, True)
    error: str = ""
    """Why it can't be."""


def is_suite(root: Path, resolved: Resolved, choices: RunChoices) -> bool:
    """Whether several agents or models are asked for, or the suite of the newest iteration is gone on with.

    Raises:
        InputError: trials would be added to one member alone.
    """
    if choices.mode == "new":
        return len(resolved.members) > 1
    going_on = current_suite(_workspace(root, resolved, choices)) is not None
    if choices.mode == "add" and (going_on or len(resolved.members) > 1):
        raise InputError(
            "Nothing can be added to a suite: its members would no longer have the same trials",
            hint="Begin another with --new.",
        )
    return going_on or len(resolved.members) > 1


def run_suite(root: Path, resolved: Resolved, choices: RunChoices, display_of: Callable[[], Display]) -> int:
    """Measure one skill with every member.

    Args:
        root: the skill.
        resolved: the settings, with the members.
        choices: what was chosen for all.
        display_of: a new display for each.

    Raises:
        InputError: the skill or its evals can't be read, a suite is unfinished, or it changed since it began.
    """
    skill = skill_folder(root)
    workspace = _workspace(root, resolved, choices)
    suite = _resumed(workspace, resolved) if choices.mode == "resume" else _new(skill, workspace, resolved, choices)
    parts, suite = _parts(root, workspace, suite, resolved, replace(choices, yes=True))
    expected = _sum(parts)
    if choices.dry_run:
        click.echo(_dry_run(parts, expected, choices.format))
        return 0
    for part in parts:
        click.echo(_line(part), err=True)
    click.echo(f"{launches(expected.spend.launches)} in all, {estimate_line(expected)}", err=True)
    confirm(expected, choices.yes)
    workspace = Workspace.create(workspace.path)
    suite = keep_suite(workspace, suite)
    codes = {}
    for part in parts:
        suite, code = _run(root, workspace, suite, part, display_of)
        codes[part.member.key] = code
        if code == _INTERRUPTED:
            break
    gates = show_suite(workspace, suite, choices.format, choices.output)
    code = _exit_code([*codes.values(), *gates])
    if code in (3, _INTERRUPTED):
        again = resume_command(root, workspace.path)
        click.echo(f"Not every agent and model is measured whole. Go on with  {again}", err=True)
    return code


def _workspace(root: Path, resolved: Resolved, choices: RunChoices) -> Workspace:
    return Workspace(choices.workspace or resolved.workspace or default_workspace(skill_folder(root)))


def _new(skill: Path, workspace: Workspace, resolved: Resolved, choices: RunChoices) -> Suite:
    members = tuple(_named(member) for member in resolved.members)
    last = current_suite(workspace)
    if last is not None and not choices.fresh and {one.key for one in last.members} == {one.key for one in members}:
        left = [one.label for one in last.members if one.reason or begun_iteration(workspace, one) is None]
        if left and last.digests == _digests(skill, resolved):
            raise InputError(
                f"A suite of these agents and models is unfinished: {', '.join(left)}",
                hint="Go on with --resume, or begin another with --new.",
            )
    newest = max((one.number for one in workspace.iterations() if one.has_plan), default=0)
    return Suite(members, resolved.settings.seed, utc_now(), newest, _digests(skill, resolved))


def _named(member: Member) -> Member:
    """With the agent found here where none was named; an agent that nobody knows is refused at once."""
    agent = create_agent(member.agent) if member.agent else detect_default(os.environ)
    return member if member.agent else replace(member, agent=agent.name)


def _digests(skill: Path, resolved: Resolved) -> dict[str, str]:
    settings = resolved.settings
    inputs = load_inputs(
        skill,
        resolved.evals_path,
        eval_ids=settings.eval_ids,
        tags=settings.tags,
        allow_outside=settings.allow_outside_files,
    )
    return {"skill": inputs.skill.digest, "evals": inputs.evals.digest}


def _resumed(workspace: Workspace, resolved: Resolved) -> Suite:
    suite = current_suite(workspace)
    if suite is None:
        raise InputError("There is no suite to go on with", hint="Leave --resume out to begin one.")
    if resolved.origins["agent"].origin == "default" and resolved.origins["model"].origin == "default":
        return suite
    known = {member.key for member in suite.members}
    for member in resolved.members:
        if _named(member).key not in known:
            raise InputError(
                f"{member.label} is not in the suite that --resume goes on with",
                expected=", ".join(one.label for one in suite.members),
                hint="Leave --agent and --model out, or begin another suite with --new.",
            )
    return suite


def _parts(
    root: Path, workspace: Workspace, suite: Suite, resolved: Resolved, choices: RunChoices
) -> tuple[list[_Part], Suite]:
    """Every member as it would be run, and the suite with what they share: the settings, and the judge."""
    common = resolved.settings if choices.mode == "new" else as_recorded(resolved, suite.settings or None)
    if choices.mode == "resume":
        _refuse_changed(root, suite)
    before = suite.after + 1
    parts, settings, judge = [], suite.settings, ""
    for member in suite.members:
        iteration = begun_iteration(workspace, member) if choices.mode == "resume" else None
        mine = replace(common, agent=member.agent, model=member.model, judge=judge or common.judge)
        mode: Mode = "resume" if iteration else "new"
        chosen = replace(choices, mode=mode, fresh=True, going_on=iteration, before=before, workspace=workspace.path)
        part = _part(root, member, replace(resolved, settings=mine), chosen)
        if not part.error:
            judge = judge or part.resolved.settings.judge
            settings = {**(settings or _shared(part.resolved.settings)), "budget": asdict(common.budget)}
        parts.append(part)
    return parts, replace(suite, settings=settings)


def _shared(settings: RunSettings) -> Mapping[str, Any]:
    return {name: value for name, value in plain_settings(settings).items() if name not in ("agent", "model")}


def _refuse_changed(root: Path, suite: Suite) -> None:
    if read_skill(root).digest != suite.digests.get("skill"):
        raise InputError(
            "The skill changed since the suite began, so its members would not measure the same",
            file=str(root),
            hint="Undo the change, or begin another suite with --new.",
        )


def _part(root: Path, member: Member, resolved: Resolved, choices: RunChoices) -> _Part:
    try:
        with session_of(root, resolved, choices) as session:
            trials = tuple(str(spec.id) for spec in to_launch(session, choices))
            version = session.detected.version if session.detected else None
            # What `auto` found for the first member judges all of them.
            resolved = replace(resolved, settings=replace(resolved.settings, judge=session.settings.judge))
            known = replace(member, version=version)
            return _Part(known, resolved, choices, trials, expected_of(session, choices))
    except InputError as error:
        return _Part(member, resolved, choices, error=str(error).splitlines()[0])


def _sum(parts: Sequence[_Part]) -> Estimate:
    spend, seconds, measured = Spend(), 0.0, True
    for part in parts:
        spend, seconds = spend + part.expected.spend, seconds + part.expected.seconds
        measured = measured and part.expected.measured
    return Estimate(spend, seconds, measured)


def _line(part: _Part) -> str:
    where = f"iteration-{part.choices.going_on.number}, " if part.choices.going_on else ""
    if part.error:
        return f"  {part.member.label}: can't be measured: {part.error}"
    if not part.trials:
        return f"  {part.member.label}: {where}nothing left to run"
    version = f" ({part.member.version})" if part.member.version else ""
    return f"  {part.member.label}{version}: {where}{launches(len(part.trials))}, {estimate_line(part.expected)}"


def _dry_run(parts: Sequence[_Part], expected: Estimate, form: str) -> str:
    if form == "json":
        members = [
            {
                "agent": part.member.agent,
                "model": part.member.model,
                "launches": len(part.trials),
                "usd": round(part.expected.spend.usd, 2),
                "trials": part.trials,
                **({"error": part.error} if part.error else {}),
            }
            for part in parts
        ]
        spend = expected.spend
        facts = {"launches": spend.launches, "usd": round(spend.usd, 2), "tokens": spend.tokens}
        return json.dumps({**facts, "seconds": round(expected.seconds), "members": members}, indent=2)
    lines = [line for part in parts for line in (_line(part), *(f"    {trial}" for trial in part.trials))]
    whole = f"{launches(expected.spend.launches)} in all, {estimate_line(expected)}"
    return "\n".join([*lines, whole, "Nothing was launched."])


def _run(
    root: Path, workspace: Workspace, suite: Suite, part: _Part, display_of: Callable[[], Display]
) -> tuple[Suite, int]:
    """One member; what became of it is written before and after."""
    member = part.member
    if part.error:
        return keep_suite(workspace, suite, replace(member, reason=part.error)), 3
    if not part.trials:
        return keep_suite(workspace, suite, member), 0
    budget = _left(workspace, suite, member)
    if budget is None:
        return keep_suite(workspace, suite, replace(member, reason=_SPENT)), 3
    iteration = part.choices.going_on or workspace.next_iteration()
    member = replace(member, iteration=iteration.number, reason="not finished")
    suite = keep_suite(workspace, suite, member)
    click.echo(f"{member.label} · {iteration.path.name}", err=True)
    resolved = replace(part.resolved, settings=replace(part.resolved.settings, budget=budget))
    try:
        result, derived = measure_skill(root, resolved, part.choices, display_of())
    except AssayError as error:
        begun = begun_iteration(workspace, member)
        failed = replace(member, iteration=begun.number if begun else None, reason=str(error).splitlines()[0])
        return keep_suite(workspace, suite, failed), error.exit_code
    said = ending_words(result, resume_command(root, workspace.path))
    if said:
        click.echo(said, err=True)
    code = exit_code(result, derived)
    suite = keep_suite(workspace, suite, replace(member, reason=said.splitlines()[0] if said else ""))
    return suite, code if result.stopped.ending is not Ending.INTERRUPTED else _INTERRUPTED


def _left(workspace: Workspace, suite: Suite, member: Member) -> Budget | None:
    """The suite's caps less what the other members spent; `None` where a cap is reached."""
    recorded = suite.settings.get("budget") or {}
    caps = Budget(**recorded)
    spent = Spend()
    for other in suite.members:
        if other.key != member.key and (iteration := begun_iteration(workspace, other)):
            state = replay(iteration.journal_path())
            spent = spent + state.spent + state.unsettled
    left = Budget(
        usd=None if caps.usd is None else caps.usd - spent.usd,
        tokens=None if caps.tokens is None else caps.tokens - spent.tokens,
        trials=None if caps.trials is None else caps.trials - spent.launches,
    )
    reached = any(cap is not None and cap <= 0 for cap in (left.usd, left.tokens, left.trials))
    return None if reached else left


def _exit_code(codes: Sequence[int]) -> int:
    """130 interrupted; 1 a threshold missed; 3 not all was measured."""
    if _INTERRUPTED in codes:
        return _INTERRUPTED
    return 1 if 1 in codes else 3 if any(codes) else 0
