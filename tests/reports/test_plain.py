from __future__ import annotations

import pytest

from skill_assay.model.benchmark import ArmFigures, EvalArm, FoundArm, Spread
from skill_assay.reports.figures import count, launches
from skill_assay.reports.plain import arm_label, arm_line, delta_line, dots, harmless, percent_of


def arm(rate: float | None, seconds: float | None = None, tokens: float | None = None) -> ArmFigures:
    spreads = [None if value is None else Spread(value, value / 10, 0, 1, 3) for value in (rate, seconds, tokens)]
    return ArmFigures(FoundArm("a", "primary"), 3, 3, *spreads, None, 0, 0)


def test_the_lines_carry_units_and_leave_out_the_unknown() -> None:
    assert arm_line(arm(0.87, 41, 31204)) == "87% ± 9% pass rate, 41s ± 4s, 31204 ± 3120 tokens"
    assert arm_line(arm(0.87)) == "87% ± 9% pass rate"
    assert arm_line(arm(None)) == "nothing measured"


@pytest.mark.parametrize(
    ("ours", "theirs", "line"),
    [
        (arm(0.87, 41, 31204), arm(0.56, 33, 22870), "+31pp pass rate, +8s time, +8334 tokens      269 tokens a point"),
        (arm(0.5, 33, 9000), arm(0.56, 41, 8000), "-6pp pass rate, -8s time, +1000 tokens"),
        (arm(0.9, None, 7000), arm(0.5, 3, 8000), "+40pp pass rate, -1000 tokens"),
        (arm(0.5, 10, 100), arm(0.5, 10, 90), "0pp pass rate, 0s time, +10 tokens"),
        (arm(None), arm(0.5), "not measured in both arms"),
    ],
)
def test_the_delta_says_what_a_point_costs_only_where_points_were_gained(
    ours: ArmFigures, theirs: ArmFigures, line: str
) -> None:
    assert delta_line(ours, theirs) == line


def test_marks_are_best_first_and_what_is_excluded_last() -> None:
    cell = EvalArm((0.0, None, 1.0, 0.5), 4, 0.5, 0.5, None, None, 0, 0)
    assert dots(cell) == "●◐○×"
    assert dots(cell, unicode=False) == "#+-x"


def test_labels() -> None:
    assert [arm_label(name) for name in ("with_skill", "without_skill", "old_skill")] == [
        "With Skill",
        "Without",
        "Old Skill",
    ]
    assert percent_of(None) == "–"
    assert harmless("a\tb\x07\u200bc") == "a bc"


@pytest.mark.parametrize(("n", "shown"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1200, "1,200 pairs")])
def test_one_is_no_plural(n: int, shown: str) -> None:
    assert count(n, "pair") == shown
    assert launches(n) == shown.replace("pairs", "launches").replace("pair", "launch")
