"""Plots as SVG, drawn without a network. altair is imported when the first one is asked for."""

from __future__ import annotations

import io
from typing import Any

from skill_assay.model.history import History
from skill_assay.model.power import PowerTable
from skill_assay.reports.figures import count, span
from skill_assay.reports.plain import harmless

__all__ = ["history_svg", "power_svg"]

_WIDTH, _HEIGHT = 320, 220


def power_svg(table: PowerTable) -> str:
    """Power against the number of evals (or queries): a line an effect, a panel a number of trials (or runs)."""
    import altair as alt

    unit, repeat = ("queries", "run") if table.kind == "queries" else ("evals", "trial")
    values = [
        {
            unit: row.units,
            "panel": count(row.repeats, repeat),
            "order": row.repeats,
            "effect": f"+{span(effect)}",
            "size": effect,
            "power": chance,
        }
        for row in table.rows
        for effect, chance in row.power.items()
    ]
    effects = [f"+{span(effect)}" for effect in (table.rows[0].power if table.rows else ())]
    base = alt.Chart(alt.InlineData(values=values))
    lines = base.mark_line(point=True).encode(
        x=alt.X(f"{unit}:Q", title=unit, scale=alt.Scale(zero=False, nice=False, padding=10)),
        y=alt.Y("power:Q", title="power", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("effect:N", title="true effect, points", sort=effects),
        shape=alt.Shape("effect:N", sort=effects, legend=None),
    )
    wanted = base.mark_rule(strokeDash=[4, 4], color="#888").encode(y=alt.YDatum(0.8))
    panels = sorted({(row.repeats, count(row.repeats, repeat)) for row in table.rows})
    chart = (
        alt.layer(lines, wanted)
        .properties(width=_WIDTH, height=_HEIGHT)
        .facet(alt.Facet("panel:N", title=None, sort=[name for _, name in panels]), columns=3)
        .properties(title="Chance of seeing an effect; the dashed line is 80 %")
    )
    return _svg(chart)


def history_svg(found: History) -> str:
    """Pass rate of both arms against the iteration, above the effect with its 95 % interval; A/A runs are left out."""
    import altair as alt

    rows = [row for row in found.rows if not row.noise]
    several = len({row.subject for row in rows}) > 1
    rates = [
        {
            "iteration": str(row.number),
            "order": row.number,
            "arm": f"{harmless(row.subject)}, {arm}" if several else arm,
            "rate": rate,
        }
        for row in rows
        for arm, rate in (("with the skill", row.pass_rate), (row.baseline or "baseline", row.baseline_rate))
        if rate is not None
    ]
    effects = [
        {"iteration": str(row.number), "effect": row.effect, "low": row.low, "high": row.high}
        for row in rows
        if row.effect is not None
    ]
    names = [str(row.number) for row in rows]
    x = alt.X("iteration:O", title="iteration", sort=names, scale=alt.Scale(domain=names), axis=alt.Axis(labelAngle=0))
    upper = (
        alt.Chart(alt.InlineData(values=rates))
        .mark_line(point=True)
        .encode(
            x=x,
            y=alt.Y("rate:Q", title="pass rate", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("arm:N", title=None),
            shape=alt.Shape("arm:N", legend=None),
        )
    )
    base = alt.Chart(alt.InlineData(values=effects)).encode(x=x)
    scale = alt.Scale(domain=[-1, 1])
    y = alt.Y("effect:Q", title="effect (95 %)", axis=alt.Axis(format="+%"), scale=scale)
    ranges = base.transform_filter("isValid(datum.low)").mark_rule().encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    zero = base.mark_rule(strokeDash=[4, 4], color="#888").encode(x=alt.X(), y=alt.YDatum(0))
    lower = alt.layer(zero, ranges, base.mark_point(filled=True, size=60).encode(y=y))
    size = {"width": max(_WIDTH, 60 * len(names)), "height": _HEIGHT // 2}
    return _svg(alt.vconcat(upper.properties(**size), lower.properties(**size)))


def _svg(chart: Any) -> str:
    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue()
