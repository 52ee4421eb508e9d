"""Curtailed sampling: the decisions of the full grid, whatever the order in which results come, with fewer launches."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.evals import Eval
from skill_assay.model.trial import Arm, Attempt, Limits, State, Trial, TrialId, TrialSpec
from skill_assay.runner.plan import interleave
from skill_assay.stats.triggering import reaches
from skill_assay.triggering.curtail import Curtailed

Outcomes = dict[TrialId, bool | None]


def spec(trial: TrialId) -> TrialSpec:
    return TrialSpec(trial, Eval(trial.eval_id, "?"), Arm("a", "primary", "x"), Limits(), 1)


def settle(scheduler: Curtailed, trial: TrialId) -> None:
    failed = Attempt(1, Failure(FailureKind.CRASHED, "x"))
    scheduler.settled(Trial(trial, State.COMPLETED, (failed,)))


def play(
    order: tuple[TrialId, ...], truth: Outcomes, workers: int, rng: random.Random, threshold: float
) -> set[TrialId]:
    """Run a plan with so many workers, results coming in any order; the runs that were launched."""
    planned = len({trial.repeat for trial in order})
    scheduler = Curtailed([spec(trial) for trial in order], [], planned, threshold, lambda trial: truth[trial.id])
    launched: set[TrialId] = set()
    running: list[TrialId] = []
    while True:
        while len(running) < workers and (following := scheduler.next()) is not None:
            running.append(following.id)
            launched.add(following.id)
        if not running:
            assert scheduler.finished
            assert len(launched) + scheduler.dropped == len(order)
            return launched
        settle(scheduler, running.pop(rng.randrange(len(running))))


def decision(trials: set[TrialId] | tuple[TrialId, ...], truth: Outcomes, threshold: float) -> dict[str, bool | None]:
    found: dict[str, bool | None] = {}
    for query in {trial.eval_id for trial in trials}:
        seen = [truth[trial] for trial in trials if trial.eval_id == query]
        decided = [outcome for outcome in seen if outcome is not None]
        found[query] = reaches(sum(decided), len(decided), threshold) if decided else None
    return found


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    runs=st.integers(1, 5),
    workers=st.integers(1, 8),
    threshold=st.sampled_from([0.3, 0.5, 1.0]),
)
def test_decisions_are_those_of_the_full_grid(seed: int, runs: int, workers: int, threshold: float) -> None:
    rng = random.Random(seed)
    order = interleave(["1", "2", "3"], ["a"], runs, seed)
    truth: Outcomes = {trial: rng.choice([True, True, False, False, None]) for trial in order}
    launched = play(order, truth, workers, rng, threshold)
    assert decision(launched, truth, threshold) == decision(order, truth, threshold)


def test_no_launch_is_made_that_running_ones_may_make_needless() -> None:
    """Eight workers and two clear queries: two runs each of three, not three."""
    order = interleave(["1", "2"], ["a"], 3, 1)
    launched = play(order, dict.fromkeys(order, True), 8, random.Random(1), 0.5)
    assert len(launched) == 4 and {trial.repeat for trial in launched} == {1, 2}


def test_recorded_runs_count_on_a_resume() -> None:
    order = interleave(["1"], ["a"], 3, 1)
    recorded = [Trial(trial, State.COMPLETED) for trial in order[:2]]
    scheduler = Curtailed([spec(order[2])], recorded, 3, 0.5, lambda trial: True)
    assert scheduler.next() is None and scheduler.finished and scheduler.dropped == 1
