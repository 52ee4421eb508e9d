"""A suite as one page and as a plot: a dot a member with its interval, and below it the pairs. Needs no network."""

from __future__ import annotations

from skill_assay.model.inference import Inference
from skill_assay.model.suite import SuiteTable
from skill_assay.reports.forest import ForestRow, forest_svg
from skill_assay.reports.plain import harmless
from skill_assay.reports.suite import answer_lines, foot_lines, member_table, rival_table

__all__ = ["rivals_svg", "suite_page", "suite_svg"]


def suite_svg(found: SuiteTable) -> str:
    """The effect of the skill by member, with 95 % intervals; empty where nothing was measured."""
    rows = [_row(row.member.label, row.inference) for row in found.rows if row.inference]
    return _plot(rows)


def rivals_svg(found: SuiteTable) -> str:
    """The differences of the pairs likewise; empty where none was compared."""
    return _plot([_row(f"{one.cheaper} · {one.dearer}", one.inference) for one in found.rivals if one.inference])


def suite_page(found: SuiteTable) -> str:
    """The page as HTML."""
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("skill_assay.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    # altair escapes the texts in what it draws.
    return environment.get_template("suite.html.j2").render(
        name=harmless(found.skill_name),
        answers=answer_lines(found),
        members=member_table(found),
        plot=Markup(suite_svg(found)),
        rivals=rival_table(found) if found.rivals else [],
        pairs=Markup(rivals_svg(found)),
        foot=foot_lines(found),
    )


def _row(label: str, found: Inference | None) -> ForestRow | None:
    if found is None or found.effect is None:
        return None
    low, high = (found.interval.low, found.interval.high) if found.interval else (found.effect, found.effect)
    return ForestRow(label, found.effect, low, high)


def _plot(rows: list[ForestRow | None]) -> str:
    kept = [row for row in rows if row is not None]
    return forest_svg(kept) if kept else ""
