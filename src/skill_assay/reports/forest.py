"""The effect by eval as a plot: a dot an eval, and below them the whole with its interval. SVG, without a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.model.benchmark import Benchmark, EvalArm
from skill_assay.model.inference import Inference
from skill_assay.reports.drawing import ACCENT, INK, MUTED, as_png, drawn
from skill_assay.reports.plain import harmless

__all__ = ["ForestRow", "forest_png", "forest_rows", "forest_svg"]

_ROW, _WIDTH, _LONGEST = 22, 420, 34
_MOST = 60
_ALL = "all evals"


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line of the plot; fractions."""

    name: str
    effect: float
    low: float
    high: float
    whole: bool = False
    """The effect over all evals, with its interval; else an eval, plus and minus one standard error."""


def forest_rows(found: Benchmark, inference: Inference | None) -> list[ForestRow]:
    """The evals by their effect, and last the whole; nothing where nothing was compared."""
    if inference is None or inference.effect is None or found.baseline is None:
        return []
    rows = []
    for one in found.evals:
        ours, theirs = one.arms[found.primary.arm.name], one.arms[found.baseline.arm.name]
        if ours.mean is not None and theirs.mean is not None:
            effect, error = ours.mean - theirs.mean, _standard_error(ours, theirs)
            rows.append(ForestRow(one.eval.name, effect, effect - error, effect + error))
    rows.sort(key=lambda row: -row.effect)
    if len(rows) > _MOST:
        half = _MOST // 2
        rows = rows[:half] + rows[-half:]
    interval = inference.interval
    low, high = (interval.low, interval.high) if interval else (inference.effect, inference.effect)
    return [*rows, ForestRow(_ALL, inference.effect, low, high, whole=True)]


def _standard_error(one: EvalArm, two: EvalArm) -> float:
    """Of a difference of two means; 0 where a single trial tells no spread."""
    total = 0.0
    for cell in (one, two):
        if cell.completed > 1 and cell.stddev is not None:
            total += cell.stddev**2 / cell.completed
    return math.sqrt(total)


def forest_svg(rows: Sequence[ForestRow]) -> str:
    """The plot; its colours follow the reader's theme."""
    import altair as alt

    values = [_value(place, row) for place, row in enumerate(rows)]
    order = [value["key"] for value in values]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y(
            "key:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelExpr="slice(datum.label, 4)", labelLimit=230, ticks=False, domain=False),
        )
    )
    colour = alt.condition("datum.whole", alt.value(ACCENT), alt.value(INK))
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=alt.XDatum(0))
    lines = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title="difference in points", axis=alt.Axis(format="+d", grid=False, tickCount=6)),
        x2="high:Q",
        color=colour,
    )
    dots = base.mark_point(filled=True, opacity=1).encode(
        x="effect:Q",
        color=colour,
        shape=alt.condition("datum.whole", alt.value("diamond"), alt.value("circle")),
        size=alt.condition("datum.whole", alt.value(150), alt.value(60)),
    )
    chart = (
        alt.layer(zero, lines, dots)
        .properties(width=_WIDTH, height=alt.Step(_ROW), background="transparent", padding=_padding(order))
        .configure(font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=13,
            titleFontSize=12,
            labelColor=INK,
            titleColor=MUTED,
            domainColor=MUTED,
            tickColor=MUTED,
            titleFontWeight="normal",
        )
    )
    return drawn(chart)


def forest_png(rows: Sequence[ForestRow]) -> bytes:
    """The plot for a reader that shows no SVG of ours."""
    return as_png(forest_svg(rows))


def _padding(names: Sequence[str]) -> dict[str, float]:
    """Room for a reader's font that is wider than the one the plot was measured with."""
    return {"left": 8 + 1.5 * max(map(len, names)), "top": 5, "right": 16, "bottom": 5}


def _value(place: int, row: ForestRow) -> dict[str, Any]:
    name = harmless(row.name)
    shown = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return {
        "key": f"{place:03} {shown}",
        "effect": row.effect * 100,
        "low": row.low * 100,
        "high": row.high * 100,
        "whole": row.whole,
    }
