"""Ratios, effect as used, pass@k, exact tests on counts, Benjamini-Hochberg."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skill_assay.stats.as_used import effect_as_used
from skill_assay.stats.counts import benjamini_hochberg, fisher_worse, mcnemar_exact
from skill_assay.stats.ratios import ratio
from skill_assay.stats.reliability import pass_all_k, pass_at_k


def test_ratio_is_a_t_interval_on_logs() -> None:
    primary, baseline = [[20.0, 20.0], [30.0], [8.0]], [[10.0, 10.0], [10.0], [4.0]]
    logs = [math.log(2), math.log(3), math.log(2)]
    expected = stats.ttest_1samp(logs, 0).confidence_interval()
    found = ratio(primary, baseline)
    assert found and found.interval and found.n == 3
    assert found.ratio == pytest.approx(math.exp(np.mean(logs)))
    assert (found.interval.low, found.interval.high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))


def test_fault_16_unknown_and_zero_are_left_out_of_ratios() -> None:
    found = ratio([[20.0], [], [0.0]], [[10.0], [5.0], [7.0]])
    assert found and found.n == 1 and found.ratio == pytest.approx(2) and found.interval is None
    assert ratio([[]], [[1.0]]) is None


def test_ratio_swaps_to_its_inverse() -> None:
    a, b = [[20.0, 25.0], [30.0], [8.0]], [[10.0], [10.0, 12.0], [9.0]]
    there, back = ratio(a, b, [1, 2, 3]), ratio(b, a, [1, 2, 3])
    assert there and back and there.interval and back.interval
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.interval.low * back.interval.high == pytest.approx(1)


def test_effect_as_used_scales_when_activation_is_the_same_everywhere() -> None:
    d = [0.2, 0.4, 0.1, 0.5]
    plain = stats.ttest_1samp(d, 0).confidence_interval()
    found = effect_as_used(d, [0.5] * 4)
    assert found.effect == pytest.approx(0.6) and found.interval
    assert (found.interval.low, found.interval.high) == pytest.approx((plain.low * 2, plain.high * 2))


def test_effect_as_used_knows_where_the_effect_comes_from() -> None:
    """The skill does +0.6 wherever it is used: dividing finds exactly that, with no spread left."""
    used = np.array([1.0, 0.5, 0.25, 0.75])
    found = effect_as_used(0.6 * used, used)
    assert found.effect == pytest.approx(0.6)
    assert found.interval is None or found.interval.high - found.interval.low < 1e-6


def test_pass_at_k_of_chen() -> None:
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(5, 2, 3) == pytest.approx(1 - 1 / 10)
    assert pass_at_k(3, 3, 2) == 1.0
    assert pass_all_k(5, 3, 2) == pytest.approx(3 / 10)
    assert pass_at_k(2, 1, 3) is None and pass_all_k(2, 1, 3) is None


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_k_by_counting(case: tuple[int, int, int]) -> None:
    import itertools

    n, passed, k = case
    draws = list(itertools.combinations([1] * passed + [0] * (n - passed), k))
    assert pass_at_k(n, passed, k) == pytest.approx(np.mean([any(d) for d in draws]))
    assert pass_all_k(n, passed, k) == pytest.approx(np.mean([all(d) for d in draws]))


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="passed <= n"):
        pass_at_k(3, 4, 1)


def test_mcnemar_by_hand() -> None:
    assert mcnemar_exact(5, 0) == pytest.approx(2 / 32)
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(14, 6) == pytest.approx(2 * sum(math.comb(20, k) for k in range(7)) / 2**20)


def test_fisher_is_one_sided() -> None:
    """3 of 3 before and 0 of 3 now: 1 in 20. The other direction: 1."""
    assert fisher_worse(3, 3, 0, 3) == pytest.approx(1 / 20)
    assert fisher_worse(0, 3, 3, 3) == pytest.approx(1.0)
    assert fisher_worse(6, 6, 2, 6) == pytest.approx(stats.hypergeom.sf(5, 12, 8, 6))


def test_benjamini_hochberg_by_hand() -> None:
    """p = 0.01, 0.02, 0.03, 0.5 of four: 0.04, 0.04, 0.04, 0.5."""
    assert benjamini_hochberg([0.5, 0.01, 0.03, 0.02]) == pytest.approx((0.5, 0.04, 0.04, 0.04))
    assert benjamini_hochberg([]) == ()
