"""Triggered, not triggered, time-out, error: what a trial's record shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import SkillUse
from skill_assay.model.trial import Attempt, State, Trial, TrialId
from skill_assay.model.trigger_results import RunState
from skill_assay.triggering.states import Names, run_of, with_savings
from skill_assay.triggering.watch import NOT_WITHIN, USED

NAMES = Names(frozenset({"pdf", "pdf-tools"}), "pdf-tools", {"Forms": "forms", "forms": "forms"})


def trial(attempt: Attempt, state: State = State.COMPLETED, used: bool | None = False, repeat: int = 1) -> Trial:
    return Trial(TrialId("1", "with_skill", repeat), state, (attempt,), skill_used=used)


def fired(*names: str, confirmed: bool = True, parent: str | None = None) -> tuple[SkillUse, ...]:
    return tuple(SkillUse(name, "tool", confirmed, parent=parent) for name in names)


def test_a_use_ended_early_and_an_answer_without_one() -> None:
    early = run_of(trial(Attempt(1, skill_uses=fired("pdf"), ended_early=USED, decided_seconds=2.0)), NAMES, True)
    assert (early.state, early.decided_by, early.fired, early.decided_seconds) == (
        RunState.TRIGGERED,
        "use",
        ("pdf-tools",),
        2.0,
    )
    answered = run_of(trial(Attempt(1, answer="I did it.")), NAMES, True)
    assert (answered.state, answered.decided_by, answered.fired) == (RunState.NOT_TRIGGERED, "answer", ())


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (FailureKind.CRASHED, RunState.ERROR),
        (FailureKind.OVERLOADED, RunState.ERROR),
        (FailureKind.RATE_LIMITED, RunState.ERROR),
        (FailureKind.NOT_SIGNED_IN, RunState.ERROR),
        (FailureKind.TIME_LIMIT, RunState.TIMEOUT),
    ],
)
def test_fault_1_a_failure_is_never_a_silent_run(kind: FailureKind, state: RunState) -> None:
    run = run_of(trial(Attempt(1, Failure(kind, "why")), State.EXCLUDED), NAMES, True)
    assert run.state is state and run.state.outcome is None
    assert (run.failure, run.message, run.decided_by) == (kind, "why", None)


def test_an_agent_at_its_own_limit_was_silent() -> None:
    limit = Attempt(1, Failure(FailureKind.AGENT_LIMIT, "turns"))
    assert run_of(trial(limit), NAMES, True).state is RunState.NOT_TRIGGERED


def test_a_use_counts_although_the_agent_crashed_afterwards() -> None:
    crashed = Attempt(1, Failure(FailureKind.CRASHED, "x"), skill_uses=fired("pdf"))
    assert run_of(trial(crashed, State.EXCLUDED), NAMES, True).state is RunState.TRIGGERED


def test_what_comes_after_the_allowed_turns_counts_for_nothing() -> None:
    late = Attempt(1, skill_uses=fired("pdf"), ended_early=f"{NOT_WITHIN} 4 turns")
    run = run_of(trial(late), NAMES, True)
    assert run.state is RunState.NOT_TRIGGERED and run.decided_by == "turns"


def test_an_agent_that_shows_no_uses_shows_nothing() -> None:
    run = run_of(trial(Attempt(1, answer="x"), used=None), NAMES, True)
    assert run.state is RunState.ERROR and "does not show" in run.message


def test_other_skills_are_named_by_their_folder_and_refused_ones_apart() -> None:
    uses = (*fired("Forms", "forms", "elsewhere:x"), *fired("other:pdf", confirmed=False))
    run = run_of(trial(Attempt(1, skill_uses=uses)), NAMES, True)
    assert run.state is RunState.NOT_TRIGGERED
    assert run.fired == ("forms", "elsewhere:x") and run.refused == ("other:pdf",)


def test_sub_agents_count_when_wanted() -> None:
    inside = trial(Attempt(1, skill_uses=fired("pdf", parent="t")))
    assert run_of(inside, NAMES, True).state is RunState.TRIGGERED
    silent = run_of(inside, NAMES, False)
    assert silent.state is RunState.NOT_TRIGGERED and silent.fired == ()


def test_savings_are_against_runs_that_went_to_their_own_end() -> None:
    early = Attempt(1, skill_uses=fired("pdf"), ended_early=USED, decided_seconds=2.0, wall_seconds=2.5)
    whole = [Attempt(1, answer="x", wall_seconds=seconds) for seconds in (8.0, 10.0, 30.0)]
    trials = {("1", number): trial(attempt, repeat=number) for number, attempt in enumerate([early, *whole], 1)}
    runs = [run_of(one, NAMES, True) for one in trials.values()]
    assert [run.saved_seconds for run in with_savings(runs, trials)] == [8.0, None, None, None]
    assert [run.saved_seconds for run in with_savings(runs[:1], trials)] == [None]
    slow = {("1", 1): trial(replace(early, decided_seconds=99.0)), ("1", 2): trials["1", 2]}
    late = [run_of(one, NAMES, True) for one in slow.values()]
    assert with_savings(late, slow)[0].saved_seconds == 0.0
