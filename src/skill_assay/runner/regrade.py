"""Grades the stored trials of an iteration again, by the evals as they are now; nothing is launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import anyio

from skill_assay.agents.registry import create_agent
from skill_assay.errors import NotFoundError, policy
from skill_assay.model.evals import Eval
from skill_assay.model.plan import Plan
from skill_assay.model.protocols import Agent
from skill_assay.model.trial import Trial
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.code import SandboxedCode
from skill_assay.runner.execute import make_graders, make_sandbox
from skill_assay.runner.grading import Grading, grade, stored_events
from skill_assay.runner.inputs import Inputs
from skill_assay.runner.judging import make_judges, priors_of
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.settings import RunSettings
from skill_assay.runner.together import together
from skill_assay.workspace.journal import Journal, Lock
from skill_assay.workspace.store import Iteration

__all__ = ["Regraded", "regrade"]

_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Regraded:
    """What grading again changed."""

    trials: int
    """Graded again; those that ended outside the agent's work have nothing to grade."""
    changed: tuple[str, ...]
    """`eval/arm/repeat: expectation: before → now`, one a decision that came out otherwise."""
    unknown_evals: tuple[str, ...]
    """Evals of stored trials that the evals file no longer has; their grades stay as they were."""


async def regrade(iteration: Iteration, plan: Plan, inputs: Inputs, settings: RunSettings) -> Regraded:
    """Grade again.

    Args:
        iteration: one of ours.
        plan: its plan, for the arms' agents.
        inputs: the skill and its evals as they are now; only the chosen evals are graded.
        settings: the grader program and the sandbox.

    Raises:
        NotFoundError: no trial is recorded.
        IncompleteError: the judge's budget is reached; what could be graded is, and the rest is as it was.
    """
    agents = {arm.name: _agent(arm.agent, inputs) for arm in plan.arms}
    trials = list(iteration.trials())
    if not trials:
        raise NotFoundError("no trial is recorded here", file=str(iteration.path))
    evals = {one.id: one for one in inputs.chosen}
    known = {one.id for one in inputs.evals.evals}
    todo = [trial for trial in trials if trial.id.eval_id in evals and policy(trial.failure).graded]
    with Lock(iteration.lock_path()):
        journal = Journal(iteration.journal_path(), iteration.writer)
        try:
            grading = _grading(iteration, inputs, settings, journal)
            changed = await _grade_all(iteration, todo, evals, agents, grading)
            journal.write("graded_again", trials=len(todo), changed=len(changed))
        finally:
            journal.close()
    unknown = tuple(sorted({trial.id.eval_id for trial in trials} - known))
    return Regraded(len(todo), tuple(changed), unknown)


def _agent(spec: str, inputs: Inputs) -> Agent:
    agent = create_agent(spec)
    bind = getattr(agent, "bind", None)
    if bind is not None:
        bind(inputs.skill.root, inputs.evals)
    return agent


def _grading(iteration: Iteration, inputs: Inputs, settings: RunSettings, journal: Journal) -> Grading:
    sandbox = make_sandbox(settings)
    ledger = BudgetLedger(settings.budget, journal.write)
    admission = AdaptiveAdmission(_AT_ONCE, ledger, PriceBook(free=True, others=priors_of(settings)))
    judges = make_judges(settings, iteration, admission, sandbox)
    return Grading(
        make_graders(settings, inputs.evals_root, judges),
        SandboxedCode(sandbox),
        ledger,
        inputs.skill.name,
        inputs.evals_root,
    )


async def _grade_all(
    iteration: Iteration, todo: list[Trial], evals: Mapping[str, Eval], agents: Mapping[str, Agent], grading: Grading
) -> list[str]:
    found: dict[int, list[str]] = {}
    free = anyio.CapacityLimiter(_AT_ONCE)

    async def one(index: int, trial: Trial) -> None:
        async with free:
            run = iteration.run_folder(trial.id)
            events = stored_events(agents[trial.id.arm], run, trial.last.number) if trial.last else []
            new = await grade(evals[trial.id.eval_id], trial, run, events, grading)
            run.write_grades(new, evals[trial.id.eval_id])
            found[index] = _changes(trial, new)

    for eval_id in {trial.id.eval_id for trial in todo}:
        iteration.describe(evals[eval_id])
    await together(one(index, trial) for index, trial in enumerate(todo))
    return [line for index in sorted(found) for line in found[index]]


def _changes(old: Trial, new: Trial) -> list[str]:
    before = {grade.text: grade.decision for grade in old.grades}
    return [
        f"{new.id}: {grade.text}: {before.get(grade.text, 'not there')} → {grade.decision}"
        for grade in new.grades
        if before.get(grade.text) != grade.decision
    ]
