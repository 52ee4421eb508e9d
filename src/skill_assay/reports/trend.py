"""How a skill fared from iteration to iteration: pass rates of the arms, below them the effect with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.model.history import History
from skill_assay.reports.drawing import ACCENT, INK, MUTED, OCHRE, RUST, VIOLET, as_png, drawn
from skill_assay.reports.plain import arm_label, harmless

__all__ = ["TrendPoint", "trend_png", "trend_points", "trend_svg"]

_WIDTH, _HEIGHT, _STEP = 320, 110, 60
_ARM_COLOURS = (ACCENT, MUTED, OCHRE, VIOLET, RUST)
_SUBJECT_COLOURS = (ACCENT, OCHRE, VIOLET, RUST, MUTED)


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
    since: int | None = None
    """The number of the iteration it was compared with, so that a line may lead from there."""
    subject: str = ""
    """Who was asked: agent and model."""


def trend_points(found: History) -> list[TrendPoint]:
    """The iterations of a history; a skill against itself is left out."""
    points = []
    for row in found.rows:
        pairs = (("with the skill", row.pass_rate), (arm_label(row.baseline or "baseline"), row.baseline_rate))
        rates = {arm: rate for arm, rate in pairs if rate is not None}
        if not row.noise:
            points.append(TrendPoint(row.number, rates, row.effect, row.low, row.high, row.since, row.subject))
    return points


def trend_svg(points: Sequence[TrendPoint]) -> str:
    """The plot; its colours follow the reader's theme. A line leads only from the iteration one was compared with.

    Of several agents or models each has a colour, and the marks tell the arms apart.
    """
    import altair as alt

    names = [str(point.number) for point in points]
    place = alt.Scale(domain=names)
    x = alt.X("iteration:O", title="iteration", sort=names, scale=place, axis=alt.Axis(labelAngle=0))
    bare = alt.X("iteration:O", title=None, sort=names, scale=place, axis=alt.Axis(labels=False))
    subjects = list(dict.fromkeys(_subject(point) for point in points))
    several = len(subjects) > 1
    arms = list(dict.fromkeys(harmless(arm) for point in points for arm in point.rates))
    colour = _colour(alt, "subject", subjects, _SUBJECT_COLOURS) if several else _colour(alt, "arm", arms, _ARM_COLOURS)
    shape = alt.Shape("arm:N", title=None, scale=alt.Scale(domain=arms))
    panels = [_pass_rates(alt, points, bare, colour, shape)]
    effects = [_effect(point) for point in points if point.effect is not None]
    if effects:
        panels.append(_effects(alt, effects, x, colour if several else alt.value(ACCENT)))
    # For a reader's font that is wider than the one the plot was measured with.
    room = 8 + min(40, max(map(len, [*subjects, *arms])))
    size = {"width": max(_WIDTH, _STEP * len(names)), "height": _HEIGHT}
    chart = (
        alt.vconcat(*(panel.properties(**size) for panel in panels))
        .properties(background="transparent", padding={"left": 8, "top": 5, "right": 16, "bottom": 5})
        .configure(font="system-ui, sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=MUTED, domainColor=MUTED, tickColor=MUTED, grid=False, titleFontWeight="normal"
        )
        .configure_legend(
            labelColor=INK,
            orient="top",
            labelLimit=320,
            direction="vertical" if several else "horizontal",
            symbolBaseFillColor=INK,
            columnPadding=room,
            padding=room / 2,
        )
    )
    return drawn(chart)


def trend_png(points: Sequence[TrendPoint]) -> bytes:
    """The plot for a reader that shows no SVG of ours."""
    return as_png(trend_svg(points))


def _colour(alt: Any, field: str, names: Sequence[str], colours: Sequence[str]) -> Any:
    shown = [colours[place % len(colours)] for place in range(len(names))]
    return alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=names, range=shown))


def _pass_rates(alt: Any, points: Sequence[TrendPoint], x: Any, colour: Any, shape: Any) -> Any:
    y = alt.Y("rate:Q", title="pass rate", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    marks = [_mark(point, arm) for point in points for arm in point.rates]
    dots = alt.Chart(alt.InlineData(values=marks)).mark_point(filled=True, size=70, opacity=1)
    edges = alt.Chart(alt.InlineData(values=_edges(points))).mark_line(strokeWidth=2)
    return alt.layer(
        edges.encode(x=x, y=y, color=colour, detail="edge:N"), dots.encode(x=x, y=y, color=colour, shape=shape)
    )


def _effects(alt: Any, effects: Sequence[Mapping[str, Any]], x: Any, colour: Any) -> Any:
    base = alt.Chart(alt.InlineData(values=effects)).encode(x=x)
    known = [abs(value) for row in effects for value in (row["effect"], row["low"], row["high"]) if value is not None]
    most = min(100.0, max([10.0, *known]) * 1.1)
    scale = alt.Scale(domain=[-most, most])
    axis = alt.Axis(labelExpr="datum.value == 0 ? '0' : format(datum.value, '+d')", tickCount=5)
    y = alt.Y("effect:Q", title="difference in points", axis=axis, scale=scale)
    ranges = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    zero = base.mark_rule(strokeDash=[3, 3], color=MUTED).encode(x=alt.X(), y=alt.YDatum(0))
    dots = base.mark_point(filled=True, size=70, opacity=1, shape="diamond")
    lines = ranges.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour)
    return alt.layer(zero, lines, dots.encode(y=y, color=colour))


def _mark(point: TrendPoint, arm: str) -> dict[str, Any]:
    return {**_facts(point), "arm": harmless(arm), "rate": point.rates[arm]}


def _edges(points: Sequence[TrendPoint]) -> list[dict[str, Any]]:
    """Both ends of every line: an arm in two iterations that were compared."""
    numbered = {point.number: point for point in points}
    pairs = [(numbered[point.since], point) for point in points if point.since in numbered]
    return [
        {**_mark(point, arm), "edge": f"{before.number} {now.number} {arm}"}
        for before, now in pairs
        for arm in now.rates
        if arm in before.rates
        for point in (before, now)
    ]


def _effect(point: TrendPoint) -> dict[str, Any]:
    low, high = (None if end is None else end * 100 for end in (point.low, point.high))
    return {**_facts(point), "effect": (point.effect or 0.0) * 100, "low": low, "high": high}


def _facts(point: TrendPoint) -> dict[str, str]:
    return {"iteration": str(point.number), "subject": _subject(point)}


def _subject(point: TrendPoint) -> str:
    return harmless(point.subject) or "not named"
