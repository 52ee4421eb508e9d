"""Intervals against scipy, against hand-made figures, and against what they must never do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skill_assay.stats.intervals import dirichlet_f1, effective_n, mean_estimate, wilson

VALUES = [0.25, 0.5, -0.1, 0.3, 0.0, 0.75]


def test_t_interval_is_scipys() -> None:
    estimate = mean_estimate(VALUES)
    expected = stats.ttest_1samp(VALUES, 0.0).confidence_interval(0.95)
    interval = estimate.interval(0.95)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert estimate.df == pytest.approx(5)


def test_equal_weights_change_nothing() -> None:
    plain, weighted = mean_estimate(VALUES), mean_estimate(VALUES, [3.0] * 6)
    assert plain.interval() is not None
    assert weighted.mean == pytest.approx(plain.mean)
    assert weighted.standard_error == pytest.approx(plain.standard_error)
    assert weighted.df == pytest.approx(plain.df)


def test_weighted_figures_by_hand() -> None:
    """n_eff = (1 + 1 + 2)^2 / (1 + 1 + 4) = 8/3; mean (0 + 0.4 + 2 x 0.8) / 4 = 0.5."""
    estimate = mean_estimate([0.0, 0.4, 0.8], [1, 1, 2])
    assert effective_n([1, 1, 2]) == pytest.approx(8 / 3)
    assert estimate.mean == pytest.approx(0.5)
    variance = (0.25 * 0.25 + 0.25 * 0.01 + 0.5 * 0.09) * (8 / 3) / (5 / 3)
    assert estimate.standard_error == pytest.approx((variance / (8 / 3)) ** 0.5)
    assert estimate.df == pytest.approx(5 / 3)


def test_weighted_interval_covers() -> None:
    """With one variance for all, the weighted interval holds the mean about 95 times in 100."""
    rng, weights = np.random.default_rng(5), np.array([1, 1, 1, 2, 2, 3, 4, 1.0])
    draws = rng.standard_normal((3000, 8))
    held = [i.low <= 0 <= i.high for x in draws if (i := mean_estimate(x, weights).interval())]
    assert 0.93 <= np.mean(held) <= 0.97


def test_fault_14_no_interval_without_spread() -> None:
    """Never a zero-width interval."""
    assert mean_estimate([0.5, 0.5, 0.5]).interval() is None
    assert mean_estimate([0.5]).interval() is None


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(case: tuple[int, int]) -> None:
    successes, n = case
    expected = stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    found = wilson(successes, n)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_of_the_sketch() -> None:
    """9 of 10 is 60 to 98, 8 of 10 is 49 to 94."""
    nine, eight = wilson(9, 10), wilson(8, 10)
    assert nine and eight
    assert [round(x * 100) for x in (nine.low, nine.high, eight.low, eight.high)] == [60, 98, 49, 94]
    assert wilson(0, 0) is None


def test_f1_interval_holds_its_point_and_is_deterministic() -> None:
    first, again = dirichlet_f1(9, 2, 1, 8, seed=1), dirichlet_f1(9, 2, 1, 8, seed=1)
    assert first == again
    assert first.low < 18 / 21 < first.high
    wide = dirichlet_f1(3, 1, 0, 3, seed=1)
    assert wide.high - wide.low > first.high - first.low


def test_f1_interval_against_another_way_of_drawing() -> None:
    """Another way of drawing the same posterior: gamma variables, whose ratios are Dirichlet."""
    rng = np.random.default_rng(99)
    tp, fp, fn = (rng.gamma(k, size=200_000) for k in (10, 3, 2))
    low, high = np.quantile(2 * tp / (2 * tp + fp + fn), [0.025, 0.975])
    found = dirichlet_f1(9, 2, 1, 8, seed=3)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)
