"""The two questions' answers: on these evals, and on tasks like these."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from skill_assay.stats.fixed_evals import fixed_evals, within_error
from skill_assay.stats.sampled_evals import differ_at_most, sampled_evals

A, B = [1.0, 0.75, 1.0, 0.5], [0.25, 0.5, 0.75, 0.0, 0.25]


def test_one_eval_is_welchs_t() -> None:
    found = fixed_evals([A], [B], seed=1, resamples=100)
    expected = stats.ttest_ind(A, B, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert found.df == pytest.approx(expected.df)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))
    assert found.interval_90 and found.interval_90.low > found.interval.low


def test_several_evals_by_hand() -> None:
    """Evals weighing 1 and 3: shares 1/4 and 3/4; variances 0.5 and 0.125 in the first, 0 and 0.02 in the second."""
    primary, baseline = [[0.0, 1.0], [0.5, 0.5]], [[0.25, 0.75], [0.1, 0.3]]
    found = fixed_evals(primary, baseline, [1, 3], seed=1, resamples=100)
    parts = [0.25**2 * 0.5 / 2, 0.25**2 * 0.125 / 2, 0.0, 0.75**2 * 0.02 / 2]
    assert found.effect == pytest.approx(0.25 * 0 + 0.75 * 0.3)
    assert found.standard_error == pytest.approx(sum(parts) ** 0.5)
    assert found.df == pytest.approx(sum(parts) ** 2 / sum(p**2 for p in parts))


def test_a_cell_with_one_trial_borrows_the_others_variance() -> None:
    """Equal to writing the pooled variance in by hand."""
    cells = [np.array([0.0, 1.0]), np.array([0.5]), np.array([0.2, 0.4, 0.6])]
    shares = np.array([0.5, 0.5, 1.0])
    pooled = (1 * 0.5 + 2 * 0.04) / 3
    found = within_error(cells, shares)
    assert not isinstance(found, str)
    assert found[0] ** 2 == pytest.approx(0.25 * 0.5 / 2 + 0.25 * pooled + 0.04 / 3)


@pytest.mark.slow
def test_borrowed_variance_covers() -> None:
    """With one trial lost in some cells, question 1's interval still holds the truth about 95 times in 100."""
    rng, held = np.random.default_rng(8), []
    for _ in range(1500):
        cells = [rng.normal(0, 1, n) for n in (3, 3, 2, 1, 3, 1, 3, 2)]
        found = within_error(cells, np.full(8, 1 / 4))
        assert not isinstance(found, str)
        effect = sum(cell.mean() for cell in cells) / 4
        held.append(abs(effect) <= stats.t.ppf(0.975, found[1]) * found[0])
    assert 0.93 <= np.mean(held) <= 0.97


def test_no_standard_error_says_why() -> None:
    single = fixed_evals([[1.0], [0.5]], [[0.0], [0.5]], seed=1, resamples=10)
    assert single.interval is None and single.no_interval is not None and "one trial" in single.no_interval
    flat = fixed_evals([[1.0, 1.0]], [[0.0, 0.0]], seed=1, resamples=10)
    assert flat.interval is None and flat.no_interval is not None and "no spread" in flat.no_interval
    assert flat.test.p == pytest.approx(2 / 6)


def test_intervals_stay_within_what_an_effect_can_be() -> None:
    found = sampled_evals([1.0, 0.9, 0.0], seed=1, resamples=10)
    assert found.interval and found.interval.high == 1.0 and found.interval.low < 0


def test_all_equal_shows_a_bound_instead_of_an_interval() -> None:
    """At most 1 - 0.05^(1/8) = 31 % of such tasks would differ."""
    found = sampled_evals([1 / 3, 0.1 + 0.7 / 3, *[1 / 3] * 6], seed=1, resamples=10)
    assert found.all_equal and found.interval is None
    assert found.differ_at_most == pytest.approx(1 - 0.05 ** (1 / 8)) == pytest.approx(0.3123, abs=1e-4)
    assert differ_at_most(1) == pytest.approx(0.95)


def test_one_eval_says_nothing_about_others() -> None:
    found = sampled_evals([0.4], seed=1, resamples=10)
    assert found.interval is None and found.no_interval == "one eval" and found.test.p == 1.0
