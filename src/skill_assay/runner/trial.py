"""What happens in a trial: prepare → launch → collect → grade → record.

Attempts are repeated only for failures outside the agent's work, each in a fresh sandbox; what is graded is what
was stored, so grading again later gives the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import anyio

from skill_assay.errors import Failure, FailureKind, policy
from skill_assay.model.protocols import StopWhen
from skill_assay.model.trial import Attempt, Outcome, State, Trial, TrialSpec
from skill_assay.runner.attempt import launch
from skill_assay.runner.backoff import pause_before_retry
from skill_assay.runner.earlier import NOTHING, Earlier
from skill_assay.runner.grading import grade, stored_events
from skill_assay.runner.prepare import collect, prepare
from skill_assay.runner.rig import Rig
from skill_assay.runner.watch import own_skill_used

__all__ = ["run_trial"]


async def run_trial(spec: TrialSpec, rig: Rig, stop_when: StopWhen | None = None, earlier: Earlier = NOTHING) -> Trial:
    """Run one trial to its end and record it.

    Args:
        spec: the trial.
        rig: what it shares with the others.
        stop_when: sees every event; a text ends the attempt, decided.
        earlier: what an interrupted session left; numbering goes on after it.

    Raises:
        BudgetReached: a cap forbade a launch before any answer; nothing is recorded then.
    """
    trial = earlier.collected
    if trial is None:
        attempts = list(earlier.attempts)
        outcome = await _attempt_until_settled(spec, rig, stop_when, attempts, earlier.settled)
        trial = _trial(spec, rig, attempts, outcome)
        rig.iteration.run_folder(spec.id).write_collected(trial, spec.eval)
    agent = rig.arms[spec.arm.name].agent
    run = rig.iteration.run_folder(spec.id)
    events = stored_events(agent, run, trial.attempts[-1].number)
    if policy(trial.failure).graded:
        trial = await grade(spec.eval, trial, run, events, rig.grading)
    rig.iteration.record(trial, spec.eval, events)
    return trial


async def _attempt_until_settled(
    spec: TrialSpec, rig: Rig, stop_when: StopWhen | None, attempts: list[Attempt], already: int
) -> Outcome:
    waited = 0.0
    rng = random.Random(f"{spec.seed}/{spec.id}")
    while True:
        outcome = await _attempt(spec, len(attempts) + 1, rig, stop_when)
        attempts.append(outcome.attempt)
        failure = outcome.attempt.failure
        rig.ledger.note(
            "attempt_ended",
            trial=str(spec.id),
            attempt=outcome.attempt.number,
            failure=failure.kind if failure else None,
            message=failure.message if failure else None,
        )
        pause = pause_before_retry(attempts[already:], rig.settings.retrying, waited, rng)
        if pause is None:
            return outcome
        rig.ledger.note("retry_waits", trial=str(spec.id), attempt=len(attempts), seconds=round(pause, 3))
        waited += pause
        await anyio.sleep(pause)


async def _attempt(spec: TrialSpec, number: int, rig: Rig, stop_when: StopWhen | None) -> Outcome:
    label = f"{spec.id}#{number}@{rig.session}"
    async with (
        rig.admission.enter(spec.arm.name, key=(spec.id, number), label=label) as permit,
        prepare(spec, rig) as room,
    ):
        if room.failure is not None:
            permit.settle_nothing()
            return Outcome(Attempt(number=number, failure=room.failure))
        attempt = await launch(spec, number, room, rig, permit, stop_when)
        permit.settle(attempt.usage, attempt.failure, attempt.seconds)
        return collect(spec, attempt, room, rig)


def _trial(spec: TrialSpec, rig: Rig, attempts: Sequence[Attempt], outcome: Outcome) -> Trial:
    failure = outcome.attempt.failure
    return Trial(
        id=spec.id,
        state=_state(failure),
        attempts=tuple(attempts),
        outputs=outcome.outputs,
        notes=outcome.notes,
        omitted=outcome.omitted,
        skill_used=_skill_used(spec, rig, outcome.attempt),
        arm_agent=spec.arm.agent,
        arm_model=spec.arm.model,
        plan_digest=spec.plan_digest,
        versions={**rig.versions, "agent": rig.arms[spec.arm.name].version},
    )


def _state(failure: Failure | None) -> State:
    if failure is not None and failure.kind is FailureKind.INTERRUPTED:
        return State.INTERRUPTED
    return State.COMPLETED if policy(failure).counts else State.EXCLUDED


def _skill_used(spec: TrialSpec, rig: Rig, attempt: Attempt) -> bool | None:
    capabilities = rig.arms[spec.arm.name].agent.capabilities
    seen = capabilities.slash_signs if spec.arm.invoke == "slash" else capabilities.skill_signs
    if attempt.started is not None and attempt.started.skill_signs is not None:
        seen = attempt.started.skill_signs
    used = own_skill_used(attempt.skill_uses, rig.skill_names)
    return used if used or seen or spec.arm.skill is None else None
