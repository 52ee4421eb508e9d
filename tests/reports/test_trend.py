"""The plot of iterations."""

from __future__ import annotations

import re

from skill_assay.reports.trend import TrendPoint, trend_png, trend_svg

FIRST = TrendPoint(1, {"With Skill": 0.5, "Without": 0.4}, 0.1, -0.1, 0.3, joined=False)
SECOND = TrendPoint(2, {"With Skill": 0.9, "Without": 0.4}, 0.5, 0.3, 0.7, joined=True)
OTHER = TrendPoint(3, {"With Skill": 0.7}, None, None, None, joined=False)


def lines(svg: str) -> list[str]:
    """The paths that join points: they have a second one."""
    return [path for path in re.findall(r'aria-roledescription="line mark"[^>]*? d="([^"]*)"', svg) if "L" in path]


def test_iterations_that_compare_are_joined_and_others_are_not() -> None:
    assert len(lines(trend_svg([FIRST, SECOND]))) == 2, "a line an arm"
    apart = TrendPoint(2, SECOND.rates, 0.5, 0.3, 0.7, joined=False)
    assert lines(trend_svg([FIRST, apart])) == []


def test_every_arm_and_interval_is_in_it_and_nothing_that_was_not_measured() -> None:
    svg = trend_svg([FIRST, SECOND, OTHER])
    assert "With Skill" in svg and "Without" in svg and "difference in points" in svg
    assert svg.count('aria-roledescription="rule mark"') >= 2
    alone = trend_svg([OTHER])
    assert "difference in points" not in alone and "NaN" not in alone and "null" not in alone


def test_names_are_text_and_never_markup() -> None:
    svg = trend_svg([TrendPoint(1, {"</text><script>x()</script>": 0.5}, None, None, None, joined=False)])
    assert "<script>" not in svg


def test_it_is_a_picture_too() -> None:
    assert trend_png([FIRST, SECOND]).startswith(b"\x89PNG")
