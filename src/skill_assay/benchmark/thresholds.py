"""Thresholds that were asked for: met, missed, skipped or "cannot tell". A value equal to its threshold passes.

An eval with a known issue is in no threshold; but for `verdict`, which is about the whole effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from skill_assay.benchmark.conclusions import regressions, verdict
from skill_assay.benchmark.descriptive import arm_figures
from skill_assay.model.benchmark import ArmFigures, Benchmark, EvalArm, EvalFigures, Spread, ThresholdResult

__all__ = ["evaluate"]

_ROUND = 1e-9
"""Means are sums of fractions: what is equal in exact arithmetic counts as equal."""


def evaluate(asked: Mapping[str, Any], found: Benchmark) -> tuple[ThresholdResult, ...]:
    """The results, in the order asked.

    Args:
        asked: name → limit; what is no threshold is passed over, and so is one set to false.
        found: the numbers, with the inference and the comparison where there are any.
    """
    gated = _Gated(found)
    results = []
    for name, limit in asked.items():
        if name == "verdict":
            results.append(verdict(limit, found))
        elif name == "no_regressions" and limit is not False:
            results.append(regressions("confirmed" if limit is True else str(limit), found))
        elif name in _RULES and isinstance(limit, (int, float)) and not isinstance(limit, bool):
            results.append(_RULES[name](gated, float(limit)))
    return tuple(results)


class _Gated:
    """The arms compared, over the evals without a known issue."""

    def __init__(self, found: Benchmark) -> None:
        self.evals = found.gated
        whole = len(self.evals) == len(found.evals)
        arms = [arm for arm in (found.primary, found.baseline) if arm is not None]
        figures = arms if whole else [self._again(arm, found) for arm in arms]
        self.primary, self.baseline = figures[0], figures[1] if len(figures) > 1 else None
        names = {arm.arm.name for arm in arms}
        kept = {one.eval.key for one in self.evals}
        self.runs = [run for run in found.runs if run.arm in names and run.eval.key in kept]

    def _again(self, arm: ArmFigures, found: Benchmark) -> ArmFigures:
        kept = {one.eval.key for one in self.evals}
        runs = [run for run in found.runs if run.arm == arm.arm.name and run.eval.key in kept]
        return arm_figures(arm.arm, runs, sum(one.arms[arm.arm.name].requested for one in self.evals))

    def ours(self, one: EvalFigures) -> EvalArm:
        return one.arms[self.primary.arm.name]

    def theirs(self, one: EvalFigures) -> EvalArm | None:
        return one.arms[self.baseline.arm.name] if self.baseline else None

    def difference(self, one: EvalFigures) -> float | None:
        ours, theirs = self.ours(one).mean, self.theirs(one)
        return ours - theirs.mean if ours is not None and theirs is not None and theirs.mean is not None else None

    def worst(self, rank: Callable[[EvalFigures], float | None], shown: Callable[[float], str]) -> tuple[str, ...]:
        """Evals by rank, least first, without those that have none."""
        ranked = [(value, one.eval.name) for one in self.evals if (value := rank(one)) is not None]
        return tuple(f"{name} {shown(value)}" for value, name in sorted(ranked))


def _pass_rate(gated: _Gated, limit: float) -> ThresholdResult:
    def below(one: EvalFigures) -> float | None:
        mean = gated.ours(one).mean
        return mean if mean is not None and mean < limit - _ROUND else None

    value = _mean(gated.primary.pass_rate)
    return _held("min_pass_rate", limit, value, "no completed trial", gated.worst(below, _percent))


def _tokens(gated: _Gated, limit: float) -> ThresholdResult:
    causes = gated.worst(lambda one: _over(gated.ours(one).tokens, limit), lambda value: f"{-value:.0f}")
    return _held("max_avg_tokens", limit, _mean(gated.primary.tokens), "tokens unknown", causes, most=True)


def _duration(gated: _Gated, limit: float) -> ThresholdResult:
    causes = gated.worst(lambda one: _over(gated.ours(one).seconds, limit), lambda value: f"{-value:.0f} s")
    return _held("max_avg_duration_seconds", limit, _mean(gated.primary.seconds), "time unknown", causes, most=True)


def _improvement(gated: _Gated, limit: float) -> ThresholdResult:
    """The skill's mean over the baseline's.

    Without a completed baseline trial there is nothing to compare: skipped, with a note. A baseline that never
    passes makes the ratio infinite: met if the skill ever passes.
    """
    name, ours = "min_improvement_ratio", _mean(gated.primary.pass_rate)
    theirs = _mean(gated.baseline.pass_rate) if gated.baseline else None
    if theirs is None:
        return ThresholdResult(name, limit, None, None, "no completed baseline trial")
    if ours is None:
        return ThresholdResult(name, limit, None, None, "no completed trial with the skill")
    if theirs == 0:
        return ThresholdResult(name, limit, None, ours > 0, "the baseline never passed")

    def below(one: EvalFigures) -> float | None:
        mine, other = gated.ours(one).mean, gated.theirs(one)
        if mine is None or other is None or not other.mean:
            return None
        return mine / other.mean if mine / other.mean < limit - _ROUND else None

    return _held(name, limit, ours / theirs, "", gated.worst(below, lambda value: f"{value:.2f}"))


def _delta(gated: _Gated, limit: float) -> ThresholdResult:
    """The weighted mean difference over evals with a graded trial in both arms: the effect, without known issues."""
    pairs = [(one.eval.weight, d) for one in gated.evals if (d := gated.difference(one)) is not None]
    total = math.fsum(weight for weight, _ in pairs)
    value = math.fsum(weight * d for weight, d in pairs) / total if total > 0 else None

    def below(one: EvalFigures) -> float | None:
        d = gated.difference(one)
        return d if d is not None and d < limit - _ROUND else None

    reason = "no eval has a graded trial in both arms" if gated.baseline else "no baseline"
    return _held("min_delta", limit, value, reason, gated.worst(below, lambda d: f"{d * 100:+.0f} points"))


def _excluded(gated: _Gated, limit: float) -> ThresholdResult:
    def share(one: EvalFigures) -> float | None:
        mine = [run for run in gated.runs if run.eval.key == one.eval.key]
        left_out = sum(run.excluded is not None for run in mine)
        return -left_out / len(mine) if left_out else None

    runs = gated.runs
    value = sum(run.excluded is not None for run in runs) / len(runs) if runs else None
    causes = gated.worst(share, lambda value: _percent(-value))
    return _held("max_excluded_share", limit, value, "no trial", causes, most=True)


def _activation(gated: _Gated, limit: float) -> ThresholdResult:
    def below(one: EvalFigures) -> float | None:
        if one.eval.negative:
            return None
        cell = gated.ours(one)
        used = cell.used / cell.use_known if cell.use_known else None
        return used if used is not None and used < limit - _ROUND else None

    cells = [gated.ours(one) for one in gated.evals if not one.eval.negative]
    known = sum(cell.use_known for cell in cells)
    value = sum(cell.used for cell in cells) / known if known else None
    reason = "whether the skill was used is not known"
    return _held("min_activation", limit, value, reason, gated.worst(below, _percent))


_RULES: Mapping[str, Callable[[_Gated, float], ThresholdResult]] = {
    "min_pass_rate": _pass_rate,
    "max_avg_tokens": _tokens,
    "max_avg_duration_seconds": _duration,
    "min_improvement_ratio": _improvement,
    "min_delta": _delta,
    "max_excluded_share": _excluded,
    "min_activation": _activation,
}


def _held(
    name: str, limit: float, value: float | None, unknown: str, causes: Iterable[str], *, most: bool = False
) -> ThresholdResult:
    """Skipped where the value is unknown; the causes are told of a miss only."""
    if value is None:
        return ThresholdResult(name, limit, None, None, unknown)
    met = value <= limit + _ROUND if most else value >= limit - _ROUND
    return ThresholdResult(name, limit, value, met, causes=() if met else tuple(causes))


def _over(value: float | None, limit: float) -> float | None:
    """Negative, so that the greatest ranks first."""
    return -value if value is not None and value > limit + _ROUND else None


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _mean(found: Spread | None) -> float | None:
    return found.mean if found else None
