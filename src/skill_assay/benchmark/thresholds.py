"""Thresholds that were asked for: met, missed or skipped. A value equal to its threshold passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_assay.model.benchmark import ArmFigures, Spread, ThresholdResult

__all__ = ["evaluate", "improvement"]


def evaluate(asked: Mapping[str, Any], primary: ArmFigures, baseline: ArmFigures | None) -> tuple[ThresholdResult, ...]:
    """The results, in the order asked. Thresholds on the inference are evaluated where that is computed.

    Args:
        asked: name → limit; names of other thresholds and limits that are no number are passed over.
        primary: the arm they are about.
        baseline: for the improvement ratio.
    """
    rules = {
        "min_pass_rate": lambda limit: _least("min_pass_rate", limit, _mean(primary.pass_rate)),
        "max_avg_tokens": lambda limit: _most("max_avg_tokens", limit, _mean(primary.tokens), "tokens"),
        "max_avg_duration_seconds": lambda limit: _most(
            "max_avg_duration_seconds", limit, _mean(primary.seconds), "time"
        ),
        "min_improvement_ratio": lambda limit: improvement(limit, primary, baseline),
    }
    return tuple(
        rules[name](float(limit))
        for name, limit in asked.items()
        if name in rules and isinstance(limit, (int, float)) and not isinstance(limit, bool)
    )


def improvement(limit: float, primary: ArmFigures, baseline: ArmFigures | None) -> ThresholdResult:
    """The skill's mean over the baseline's.

    Without a completed baseline trial there is nothing to compare: skipped, with a note. A baseline that never
    passes makes the ratio infinite: met if the skill ever passes.
    """
    name, ours = "min_improvement_ratio", _mean(primary.pass_rate)
    theirs = _mean(baseline.pass_rate) if baseline else None
    if theirs is None:
        return ThresholdResult(name, limit, None, None, "no completed baseline trial")
    if ours is None:
        return ThresholdResult(name, limit, None, None, "no completed trial with the skill")
    if theirs == 0:
        return ThresholdResult(name, limit, None, ours > 0, "the baseline never passed")
    return ThresholdResult(name, limit, ours / theirs, ours / theirs >= limit)


def _least(name: str, limit: float, value: float | None) -> ThresholdResult:
    if value is None:
        return ThresholdResult(name, limit, None, None, "no completed trial")
    return ThresholdResult(name, limit, value, value >= limit)


def _most(name: str, limit: float, value: float | None, what: str) -> ThresholdResult:
    if value is None:
        return ThresholdResult(name, limit, None, None, f"{what} unknown")
    return ThresholdResult(name, limit, value, value <= limit)


def _mean(found: Spread | None) -> float | None:
    return found.mean if found else None
