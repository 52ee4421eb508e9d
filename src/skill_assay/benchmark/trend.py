"""How a skill fared from iteration to iteration, from what each iteration's own `benchmark.json` says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.benchmark.derive import Derived
from skill_assay.errors import AssayError
from skill_assay.model.history import TrendRow, subject_of
from skill_assay.reports.plain import arm_label
from skill_assay.reports.trend import TrendPoint
from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.store import Iteration, iteration_number

__all__ = ["trend_of", "trend_rows"]


def trend_rows(iterations: Sequence[Iteration], name: str, derived: Derived) -> list[TrendRow]:
    """A row an iteration, in their order; nothing where there is but one.

    Only the one looked at is derived: deriving all of them again would make a page wait.

    Args:
        iterations: those that lie beside each other.
        name: the folder's name of the one looked at.
        derived: what that one says now.
    """
    if len(iterations) < 2:
        return []
    return [_now(name, derived) if one.path.name == name else _stored(one) for one in iterations]


def trend_of(rows: Sequence[TrendRow]) -> list[TrendPoint]:
    """What a plot of them shows; nothing where fewer than two have a pass rate."""
    points = []
    for row in rows:
        number = iteration_number(Path(row.name))
        if row.rates and number is not None:
            rates = {arm_label(arm): rate for arm, rate in row.rates.items()}
            points.append(TrendPoint(number, rates, row.effect, row.low, row.high, row.since, row.subject))
    return points if len(points) > 1 else []


def _now(name: str, derived: Derived) -> TrendRow:
    found, inference = derived.benchmark, derived.inference
    interval = inference.interval if inference else None
    return TrendRow(
        name,
        effect=inference.effect if inference else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        verdict=inference.verdict if inference else None,
        rates={arm.arm.name: arm.pass_rate.mean for arm in found.arms if arm.pass_rate},
        since=found.comparison.since if found.comparison else None,
        subject=subject_of(found.primary.arm.agent, found.primary.arm.model),
        shown=True,
    )


def _stored(iteration: Iteration) -> TrendRow:
    """By `benchmark.json`, which may be anything."""
    try:
        facts = _object(read_json(iteration.benchmark_path))
    except AssayError:
        return TrendRow(iteration.path.name)
    inference, summary = _object(facts.get("inference")), _object(facts.get("run_summary"))
    interval, verdict = _object(inference.get("interval")), inference.get("verdict")
    means = {str(arm): _number(_object(_object(one).get("pass_rate")).get("mean")) for arm, one in summary.items()}
    return TrendRow(
        iteration.path.name,
        effect=_number(inference.get("effect")),
        low=_number(interval.get("low")),
        high=_number(interval.get("high")),
        verdict=verdict if isinstance(verdict, str) else None,
        rates={arm: mean for arm, mean in means.items() if mean is not None},
        since=_since(_object(facts.get("comparison"))),
        subject=_subject(facts.get("arms")),
    )


def _since(comparison: Mapping[Any, Any]) -> int | None:
    """A path leads elsewhere, so only a bare name counts."""
    previous = comparison.get("previous")
    if comparison.get("comparable") is not True or not isinstance(previous, str) or Path(previous).name != previous:
        return None
    return iteration_number(Path(previous))


def _subject(arms: Any) -> str:
    """Of the arm whose worth is asked."""
    known = [_object(one) for one in arms] if isinstance(arms, list) else []
    primary = next((one for one in known if one.get("role") == "primary"), _object(None))
    agent, model = primary.get("agent"), primary.get("model")
    return subject_of(agent if isinstance(agent, str) else None, model if isinstance(model, str) else None)


def _object(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> float | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else None
