"""Question 2: the effect on tasks like these; the evals are a random sample of such tasks.

Estimand: the weighted mean of the per-eval difference over the population of tasks, each run under both arms.
Student-t interval on the differences, n_eff - 1 degrees of freedom; sign-flip test; sign test beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skill_assay.stats.fixed_evals import clipped
from skill_assay.stats.intervals import mean_estimate
from skill_assay.stats.results import SampledEvals
from skill_assay.stats.signflip import sign_flip, sign_test

__all__ = ["differ_at_most", "sampled_evals"]

_EQUAL = 1e-9


def sampled_evals(
    differences: ArrayLike, weights: ArrayLike | None = None, *, seed: int, resamples: int
) -> SampledEvals:
    """The effect on tasks like these.

    Args:
        differences: shape (n,), n >= 1: mean outcome of primary minus that of baseline, an eval each.
        weights: shape (n,), positive; `None` weighs all the same.
        seed: for random flips above 20 evals.
        resamples: how many of those.
    """
    d = np.asarray(differences, float)
    estimate = mean_estimate(d, weights)
    test = sign_flip(d, weights, seed=seed, resamples=resamples)
    signs, n = sign_test(d), estimate.n_effective
    all_equal = float(np.ptp(d)) < _EQUAL
    if d.size == 1 or all_equal or estimate.standard_error is None:
        reason = "one eval" if d.size == 1 else "every eval shows the same difference"
        return SampledEvals(
            estimate.mean, n, test, signs, all_equal, no_interval=reason, differ_at_most=differ_at_most(d.size)
        )
    outer, inner = estimate.interval(0.95), estimate.interval(0.90)
    assert outer and inner
    return SampledEvals(
        estimate.mean,
        n,
        test,
        signs,
        all_equal,
        estimate.standard_deviation,
        estimate.standard_error,
        estimate.df,
        clipped(outer),
        clipped(inner),
    )


def differ_at_most(n: int, level: float = 0.95) -> float:
    """Upper bound of the share of tasks that differ when none of n did: 1 - (1 - level)^(1/n)."""
    return float(1 - (1 - level) ** (1 / n))
