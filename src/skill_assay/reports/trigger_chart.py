"""The heat map of a trigger evaluation as SVG, drawn without a network. altair is imported when it is asked for."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skill_assay.model.trigger_results import QueryResult, TriggerResults
from skill_assay.reports.plain import harmless

if TYPE_CHECKING:
    from altair import LayerChart

__all__ = ["heat_map_svg"]

_LONGEST = 60


def heat_map_svg(found: TriggerResults) -> str:
    """Queries down, skills across: the share of a query's decided runs in which each skill was used."""
    import altair as alt

    rows = [(f"{number}. {_short(one.query.text)}", one) for number, one in enumerate(found.queries, 1) if one.decided]
    panels = [
        _panel([row for row in rows if row[1].query.should_trigger is wanted], found, title)
        for wanted, title in ((True, "should fire"), (False, "should stay silent"))
        if any(one.query.should_trigger is wanted for _, one in rows)
    ]
    buffer = io.StringIO()
    alt.vconcat(*panels).resolve_scale(color="shared").save(buffer, format="svg")
    return buffer.getvalue()


def _panel(rows: Sequence[tuple[str, QueryResult]], found: TriggerResults, title: str) -> LayerChart:
    import altair as alt

    columns = [name or "none" for name in found.matrix.columns]
    values = [
        {"query": label, "fired": name, "share": share}
        for label, one in rows
        for name, share in _shares(one, found).items()
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("fired:N", title="fired", sort=columns, axis=alt.Axis(orient="top", labelAngle=-30)),
        y=alt.Y("query:N", title=None, sort=[label for label, _ in rows], axis=alt.Axis(labelLimit=420)),
    )
    scale, legend = alt.Scale(domain=[0, 1], scheme="blues"), alt.Legend(format="%")
    cells = base.mark_rect(stroke="#fff").encode(
        color=alt.Color("share:Q", title="share of runs", scale=scale, legend=legend)
    )
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("share:Q", format=".0%"),
        color=alt.condition("datum.share > 0.6", alt.value("#fff"), alt.value("#333")),
    )
    size = {"width": max(60 * len(columns), 120), "height": 18 * len(rows)}
    return alt.LayerChart(layer=[cells, numbers]).properties(title=title, **size)


def _shares(one: QueryResult, found: TriggerResults) -> dict[str, float]:
    runs = [run for run in one.runs if run.state.outcome is not None]
    return {
        name or "none": sum(name in run.fired if name else not run.fired for run in runs) / len(runs)
        for name in found.matrix.columns
    }


def _short(text: str) -> str:
    shown = harmless(text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
