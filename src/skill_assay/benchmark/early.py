"""The look of `--stop early`: the same rule that the inference applies to what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skill_assay.benchmark.cells import cells, counted_timeouts
from skill_assay.errors import FailureKind
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.model.inference import EarlyStop
from skill_assay.model.plan import Plan
from skill_assay.model.trial import Trial
from skill_assay.stats.results import Spending

__all__ = ["early_of", "look_of"]


def early_of(settings: Mapping[str, Any]) -> EarlyStop | None:
    """What a plan fixed about stopping early; `None` where nothing was asked."""
    asked = settings.get("stop_early")
    if not isinstance(asked, Mapping):
        return None
    spending: Spending = "obrien_fleming" if asked.get("spending") == "obrien_fleming" else "pocock"
    return EarlyStop(int(asked["rounds"]), spending)


def look_of(plan: Plan, weights: Mapping[str, float]) -> Callable[[Sequence[Trial]], bool]:
    """From a plan with `--stop early` to what says whether the answer is clear.

    Args:
        plan: fixes the rounds, the spending function and the seed.
        weights: by eval id.
    """
    early = early_of(plan.settings)
    assert early is not None
    primary = next(arm.name for arm in plan.arms if arm.role == "primary")
    baseline = next(arm.name for arm in plan.arms if arm.role == "baseline")

    def crossed(trials: Sequence[Trial]) -> bool:
        from skill_assay.stats.sequential import look

        outcomes = [_outcome(trial, weights) for trial in trials]
        used = cells(counted_timeouts(outcomes, plan.timeouts), primary, baseline)
        rounds = used.settled_rounds()
        pairs = used.pairs(rounds)
        if not any(value == value for row in pairs for value in row):
            return False
        found = look(pairs, used.weights, planned=early.rounds, kind=early.spending, seed=plan.seed, interval=False)
        return found.crossed

    return crossed


def _outcome(trial: Trial, weights: Mapping[str, float]) -> TrialOutcome:
    failure = trial.failure
    return TrialOutcome(
        eval_id=trial.id.eval_id,
        arm=trial.id.arm,
        repeat=trial.id.repeat,
        score=trial.score,
        timed_out=failure is not None and failure.kind is FailureKind.TIME_LIMIT,
        weight=weights.get(trial.id.eval_id, 1.0),
    )
