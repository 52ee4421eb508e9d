"""Plots as SVG, drawn without a network. altair is imported when the first one is asked for."""

from __future__ import annotations

import io
from typing import Any

from skill_assay.model.power import PowerTable
from skill_assay.reports.figures import count, span

__all__ = ["power_svg"]

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


def _svg(chart: Any) -> str:
    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue()
