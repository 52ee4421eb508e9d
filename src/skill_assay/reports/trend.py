"""How a skill fared from iteration to iteration: pass rates of the arms, below them the effect with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.model.history import History
from skill_assay.reports.forest import ACCENT, INK, MUTED, as_png, themed
from skill_assay.reports.plain import arm_label, harmless

__all__ = ["TrendPoint", "trend_png", "trend_points", "trend_svg"]

_WIDTH, _HEIGHT, _STEP = 320, 110, 60
_COLOURS = (ACCENT, MUTED, "#8a5a00", "#5b5fa8")


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One iteration; fractions."""

    number: int
    rates: Mapping[str, float]
    """Arm, as it is shown → mean pass rate."""
    effect: float | None
    low: float | None
    high: float | None
    """95 % interval of the effect."""
    joined: bool
    """Whether it compares with the one before, so that a line may lead there."""


def trend_points(found: History) -> list[TrendPoint]:
    """The iterations of a history; a skill against itself is left out. Several agents or models are kept apart."""
    rows = [row for row in found.rows if not row.noise]
    several = len({row.subject for row in rows}) > 1
    points = []
    for row in rows:
        pairs = (("with the skill", row.pass_rate), (arm_label(row.baseline or "baseline"), row.baseline_rate))
        rates = {(f"{row.subject}, {arm}" if several else arm): rate for arm, rate in pairs if rate is not None}
        points.append(TrendPoint(row.number, rates, row.effect, row.low, row.high, row.change is not None))
    return points


def trend_svg(points: Sequence[TrendPoint]) -> str:
    """The plot; its colours follow the reader's theme. Lines are broken where two iterations do not compare."""
    import altair as alt
    import vl_convert

    names = [str(point.number) for point in points]
    x = alt.X("iteration:O", title="iteration", sort=names, scale=alt.Scale(domain=names), axis=alt.Axis(labelAngle=0))
    rates = _rates(points)
    arms = list(dict.fromkeys(row["arm"] for row in rates))
    colours = alt.Scale(domain=arms, range=[_COLOURS[place % len(_COLOURS)] for place in range(len(arms))])
    legend = alt.Legend(orient="top", labelLimit=320)
    upper = (
        alt.Chart(alt.InlineData(values=rates))
        .mark_line(point=alt.OverlayMarkDef(size=50))
        .encode(
            x=alt.X("iteration:O", title=None, sort=names, scale=alt.Scale(domain=names), axis=alt.Axis(labels=False)),
            y=alt.Y("rate:Q", title="pass rate", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("arm:N", title=None, scale=colours, legend=legend),
            shape=alt.Shape("arm:N", title=None, scale=alt.Scale(domain=arms), legend=legend),
            detail="segment:N",
        )
    )
    size = {"width": max(_WIDTH, _STEP * len(names)), "height": _HEIGHT}
    panels = [upper.properties(**size)]
    effects = [_effect(point) for point in points if point.effect is not None]
    if effects:
        panels.append(_effects(alt, effects, x).properties(**size))
    chart = (
        alt.vconcat(*panels)
        .properties(background="transparent", padding={"left": 8, "top": 5, "right": 16, "bottom": 5})
        .configure(font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=MUTED, domainColor=MUTED, tickColor=MUTED, grid=False, titleFontWeight="normal"
        )
        .configure_legend(labelColor=INK)
    )
    return themed(str(vl_convert.vegalite_to_svg(chart.to_dict())))


def trend_png(points: Sequence[TrendPoint]) -> bytes:
    """The plot for a reader that shows no SVG of ours."""
    return as_png(trend_svg(points))


def _effects(alt: Any, effects: Sequence[Mapping[str, Any]], x: Any) -> Any:
    base = alt.Chart(alt.InlineData(values=effects)).encode(x=x)
    known = [abs(value) for row in effects for value in (row["effect"], row["low"], row["high"]) if value is not None]
    most = min(100.0, max([10.0, *known]) * 1.1)
    scale = alt.Scale(domain=[-most, most])
    axis = alt.Axis(format="+d", tickCount=5)
    y = alt.Y("effect:Q", title="difference in points", axis=axis, scale=scale)
    ranges = base.transform_filter("isValid(datum.low)").mark_rule(color=ACCENT, strokeWidth=1.5)
    zero = base.mark_rule(strokeDash=[3, 3], color=MUTED).encode(x=alt.X(), y=alt.YDatum(0))
    dots = base.mark_point(filled=True, size=70, opacity=1, color=ACCENT, shape="diamond")
    return alt.layer(zero, ranges.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"), dots.encode(y=y))


def _rates(points: Sequence[TrendPoint]) -> list[dict[str, Any]]:
    rows, segment = [], 0
    for point in points:
        segment += not point.joined
        for arm, rate in point.rates.items():
            rows.append({"iteration": str(point.number), "arm": harmless(arm), "rate": rate, "segment": segment})
    return rows


def _effect(point: TrendPoint) -> dict[str, Any]:
    low, high = (None if end is None else end * 100 for end in (point.low, point.high))
    return {"iteration": str(point.number), "effect": (point.effect or 0.0) * 100, "low": low, "high": high}
