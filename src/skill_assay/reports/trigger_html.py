"""The page of a trigger evaluation: one file, nothing loaded from elsewhere, everything of others escaped."""

from __future__ import annotations

from skill_assay.model.trigger_results import QueryResult, TriggerResults
from skill_assay.reports.plain import harmless
from skill_assay.reports.trigger_chart import heat_map_svg
from skill_assay.reports.trigger_words import (
    class_rows,
    decision_lines,
    f1_text,
    fired_text,
    groups,
    left_out_lines,
    note_lines,
    range_text,
    share_text,
)

__all__ = ["triggers_page"]


def triggers_page(found: TriggerResults) -> str:
    """The page as HTML."""
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("skill_assay.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["harmless"] = harmless
    # altair escapes texts in the SVG it draws; the numbers and names in it were made harmless before.
    chart = Markup(heat_map_svg(found)) if found.scores.accuracy.n else ""
    return environment.get_template("trigger.html.j2").render(
        found=found,
        chart=chart,
        share=share_text,
        classes=class_rows(found),
        groups=groups(found),
        f1=f1_text(found),
        queries=[_row(one, found) for one in found.queries],
        lines=[*left_out_lines(found), *decision_lines(found)],
        notes=note_lines(found),
    )


def _row(one: QueryResult, found: TriggerResults) -> dict[str, str]:
    states = {True: "pass", False: "fail", None: "open"}
    context = [*one.query.files, *(f"earlier: {turn}" for turn in one.query.turns)]
    return {
        "text": harmless(one.query.text),
        "wanted": "fires" if one.query.should_trigger else "stays silent",
        "state": states[one.passed],
        "rate": "–" if one.rate is None else f"{one.rate * 100:.0f} %",
        "interval": range_text(one.interval) if one.interval else "",
        "fired": fired_text(one, found.skill),
        "context": harmless("; ".join(context)),
        "left_out": "; ".join(harmless(run.message or run.state) for run in one.runs if run.state.outcome is None),
    }
