"""From the trials of two arms to a conclusion: both questions, the verdict rule, and what qualifies it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from skill_assay.benchmark.beside import beside
from skill_assay.benchmark.cells import Cells, cells, counted_timeouts
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.model.inference import Early, EarlyStop, Inference, InferenceSettings, TimeLimits, Way
from skill_assay.stats.results import Decision, FixedEvals, SampledEvals

__all__ = ["infer"]

_NOTHING = "no eval has a graded trial in both arms"


@dataclass(frozen=True, slots=True)
class _Answer:
    """Both questions answered with time-outs handled one way."""

    decision: Decision
    fixed: FixedEvals | None = None
    sampled: SampledEvals | None = None
    early: Early | None = None

    @property
    def effect(self) -> float | None:
        """That of the look, where there is one: its pairs are what its interval is about."""
        if self.early and self.early.effect is not None:
            return self.early.effect
        return self.fixed.effect if self.fixed else None

    def way(self) -> Way:
        shown = self.fixed if self.decision.scope == "these_evals" else self.sampled
        interval = self.early.interval if self.early else shown.interval if shown else None
        p = shown.test.p if shown and not self.early else None
        return Way(self.effect, self.decision.verdict, self.decision.negligible, interval, p)


def infer(
    outcomes: Iterable[TrialOutcome], primary: str, baseline: str, settings: InferenceSettings | None = None
) -> Inference:
    """What the trials of two arms say. Deterministic: neither the order of trials nor that of evals matters.

    Args:
        outcomes: of any arms; only the two named are read.
        primary: name of the arm whose benefit is asked.
        baseline: name of the arm it is compared with.
        settings: margin, seed and the like.
    """
    settings = settings or InferenceSettings()
    trials = tuple(outcomes)
    used = cells(counted_timeouts(trials, settings.timeouts), primary, baseline)
    answer = _answer(used, settings)
    limits = _time_limits(trials, primary, baseline, settings, answer)
    decision = _standing(answer.decision, limits)
    absent = {} if used.eval_ids else {"effect": _NOTHING}
    found = Inference(
        verdict=decision.verdict,
        negligible=decision.negligible,
        scope=decision.scope,
        primary=primary,
        baseline=baseline,
        effect=answer.effect,
        n_evals=len(used.eval_ids),
        n_effective=answer.sampled.n_effective if answer.sampled else 0.0,
        trials={primary: sum(map(len, used.primary)), baseline: sum(map(len, used.baseline))},
        excluded={arm: sum(o.score is None for o in used.every if o.arm == arm) for arm in (primary, baseline)},
        settings=settings,
        evals_left_out=used.left_out,
        these_evals=answer.fixed,
        tasks_like_these=answer.sampled,
        per_eval=dict(zip(used.eval_ids, used.differences(), strict=True)),
        time_limits=limits,
        early=answer.early,
        absent=absent,
    )
    return beside(found, used) if used.eval_ids else found


def _answer(used: Cells, settings: InferenceSettings) -> _Answer:
    from skill_assay.stats.fixed_evals import fixed_evals
    from skill_assay.stats.sampled_evals import sampled_evals
    from skill_assay.stats.verdict import decide, decide_on_these

    if not used.eval_ids:
        return _Answer(Decision("inconclusive", False, "these_evals"))
    seed, resamples = settings.seed, settings.resamples
    fixed = fixed_evals(*used.scores(), used.weights, seed=seed, resamples=resamples)
    sampled = sampled_evals(used.differences(), used.weights, seed=seed, resamples=resamples)
    if settings.early is None:
        return _Answer(decide(sampled, fixed, margin=settings.margin), fixed, sampled)
    early = _early(used, settings.early, seed)
    decision = decide_on_these(early.effect or 0.0, early.crossed, early.interval, None, margin=settings.margin)
    return _Answer(decision, fixed, sampled, early)


def _early(used: Cells, plan: EarlyStop, seed: int) -> Early:
    """The latest look. Even at the last one the verdict is question 1's: deciding question 2 as well spends twice."""
    from skill_assay.stats.sequential import look

    rounds = min(plan.rounds, used.settled_rounds())
    pairs = used.pairs(rounds)
    dropped = sum(math.isnan(value) for row in pairs for value in row)
    if not rounds or dropped == rounds * len(pairs):
        return Early(rounds, plan.rounds, plan.spending, None, False, None, None, dropped)
    found = look(pairs, used.weights, planned=plan.rounds, kind=plan.spending, seed=seed)
    return Early(
        rounds, plan.rounds, plan.spending, found.effect, found.crossed, found.boundary, found.interval, dropped
    )


def _time_limits(
    trials: tuple[TrialOutcome, ...], primary: str, baseline: str, settings: InferenceSettings, answer: _Answer
) -> TimeLimits | None:
    """Both ways of handling time-outs, where their number differs between the arms."""
    late = {arm: sum(o.timed_out for o in trials if o.arm == arm) for arm in (primary, baseline)}
    if late[primary] == late[baseline]:
        return None
    other_policy: Literal["exclude", "fail"] = "fail" if settings.timeouts == "exclude" else "exclude"
    other = _answer(cells(counted_timeouts(trials, other_policy), primary, baseline), settings)
    ways = answer.way(), other.way()
    excluded, failed = ways if settings.timeouts == "exclude" else reversed(ways)
    return TimeLimits(late[primary], late[baseline], excluded, failed)


def _standing(decision: Decision, limits: TimeLimits | None) -> Decision:
    """The verdict, if uneven time limits let it stand."""
    if limits is None:
        return decision
    if not limits.agree:
        return replace(decision, verdict="inconclusive", negligible=False)
    return replace(decision, negligible=limits.excluded.negligible and limits.failed.negligible)
