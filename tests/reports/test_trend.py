"""The plot of iterations."""

from __future__ import annotations

import re

from skill_assay.reports.trend import TrendPoint, trend_png, trend_svg

FIRST = TrendPoint(1, {"With Skill": 0.5, "Without": 0.4}, 0.1, -0.1, 0.3)
SECOND = TrendPoint(2, {"With Skill": 0.9, "Without": 0.4}, 0.5, 0.3, 0.7, since=1)
OTHER = TrendPoint(3, {"With Skill": 0.7}, None, None, None)


def lines(svg: str) -> list[str]:
    """The paths that join points: they have a second one."""
    return [path for path in re.findall(r'aria-roledescription="line mark"[^>]*? d="([^"]*)"', svg) if "L" in path]


def test_iterations_that_compare_are_joined_and_others_are_not() -> None:
    assert len(lines(trend_svg([FIRST, SECOND]))) == 2, "a line an arm"
    apart = TrendPoint(2, SECOND.rates, 0.5, 0.3, 0.7)
    assert lines(trend_svg([FIRST, apart])) == []


def test_a_line_leads_from_the_iteration_one_was_compared_with_and_from_no_other() -> None:
    """Two agents in turn: a line each between their own, none to the neighbour."""
    ones, twos = {"With Skill": 0.2}, {"With Skill": 0.8}
    points = [
        TrendPoint(1, ones, None, None, None, subject="codex/gpt-5.5"),
        TrendPoint(2, twos, None, None, None, subject="pi/sonnet"),
        TrendPoint(3, ones, None, None, None, since=1, subject="codex/gpt-5.5"),
        TrendPoint(4, twos, None, None, None, since=2, subject="pi/sonnet"),
        TrendPoint(5, twos, None, None, None, since=7, subject="pi/sonnet"),
    ]
    svg = trend_svg(points)
    drawn = [[float(pair.split(",")[1]) for pair in re.findall(r"[-\d.]+,[-\d.]+", path)] for path in lines(svg)]
    assert len(drawn) == 2 and all(first == second for first, second in drawn), "level: each agent's own rate"
    assert "codex/gpt-5.5" in svg and "pi/sonnet" in svg
    assert "codex/gpt-5.5" not in trend_svg(points[::2][:2]), "of one alone there is nothing to tell apart"


def test_every_arm_and_interval_is_in_it_and_nothing_that_was_not_measured() -> None:
    svg = trend_svg([FIRST, SECOND, OTHER])
    assert "With Skill" in svg and "Without" in svg and "difference in points" in svg
    assert svg.count('aria-roledescription="rule mark"') >= 2
    alone = trend_svg([OTHER])
    assert "difference in points" not in alone and "NaN" not in alone and "null" not in alone


def test_names_are_text_and_never_markup() -> None:
    svg = trend_svg([TrendPoint(1, {"</text><script>x()</script>": 0.5}, None, None, None)])
    assert "<script>" not in svg


def test_it_is_a_picture_too() -> None:
    assert trend_png([FIRST, SECOND]).startswith(b"\x89PNG")
