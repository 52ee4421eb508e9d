"""Agreement against figures worked out by hand and published."""

from __future__ import annotations

import pytest

from skill_assay.stats.agreement import agreement, alpha, kappa, rogan_gladen


def pairs(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> tuple[list[bool], list[bool]]:
    first = [True] * (yes_yes + yes_no) + [False] * (no_yes + no_no)
    second = [True] * yes_yes + [False] * yes_no + [True] * no_yes + [False] * no_no
    return first, second


def test_kappa_of_the_textbook_example() -> None:
    """20 and 15 agreed of 50, 5 and 10 not: observed 0.70, chance 0.50."""
    assert kappa(*pairs(20, 5, 10, 15)) == pytest.approx(0.4)


def test_alpha_of_krippendorffs_two_by_two() -> None:
    """Ten units, two observers, 6 agreed: alpha = 1 - 19 · 8 / (14 · 6) / … = 0.095 (Krippendorff's own example)."""
    first = [False, True, False, False, False, False, False, False, True, False]
    second = [True, True, True, False, False, True, False, False, False, False]
    assert alpha(first, second) == pytest.approx(0.095, abs=0.001)


def test_what_is_not_defined_is_none() -> None:
    assert kappa([], []) is None and alpha([], []) is None
    assert kappa([True] * 3, [True] * 3) is None and alpha([True] * 3, [True] * 3) is None
    found = agreement([True, False], [True, True])
    assert found.specificity is None and found.sensitivity == 0.5


def test_the_correction_undoes_known_errors() -> None:
    sensitivity, specificity = 0.9, 0.7
    for true in (0.0, 0.25, 0.8, 1.0):
        reported = true * sensitivity + (1 - true) * (1 - specificity)
        assert rogan_gladen(reported, sensitivity, specificity) == pytest.approx(true)
    assert rogan_gladen(0.5, 0.5, 0.5) is None
    assert rogan_gladen(0.0, 0.9, 0.7) == 0.0
