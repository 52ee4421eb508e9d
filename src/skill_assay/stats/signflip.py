"""Tests of question 2: is the mean difference on tasks like these 0?

Null hypothesis: the per-eval differences are symmetric about 0, so every pattern of signs is equally likely
(Fisher's sign-flip test). Statistic: |sum w d|. Exact up to 20 evals; above, random flips with the +1 correction
(Phipson & Smyth 2010), so that p is never 0. The sign test beside it only counts wins and losses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from skill_assay.stats.results import SignTest, TestResult

__all__ = ["EXACT_UP_TO", "sign_flip", "sign_test", "smallest_p"]

EXACT_UP_TO = 20
"""Evals up to which all 2^n sign patterns are counted."""
_CELLS = 4_000_000
"""Floats held at once."""
_TIE = 1e-9
"""Sums closer than this share of their scale are one value computed in two ways."""

Floats = NDArray[np.float64]


def sign_flip(differences: ArrayLike, weights: ArrayLike | None = None, *, seed: int, resamples: int) -> TestResult:
    """Two-sided sign-flip p of the weighted differences.

    Args:
        differences: shape (n,), n >= 1.
        weights: shape (n,), positive, or `None`.
        seed: used above 20 evals only.
        resamples: random flips above 20 evals.
    """
    d = np.asarray(differences, float)
    weighted = d if weights is None else d * np.asarray(weights, float)
    threshold = abs(float(weighted.sum())) - _TIE * float(np.abs(weighted).sum())
    if d.size <= EXACT_UP_TO:
        return TestResult(float((np.abs(_every_sum(weighted)) >= threshold).mean()), True)
    hits, rng, rows = 0, np.random.default_rng(seed), max(1, _CELLS // d.size)
    for start in range(0, resamples, rows):
        flips = rng.integers(0, 2, size=(min(rows, resamples - start), d.size), dtype=np.int8)
        hits += int((np.abs((flips * 2.0 - 1.0) @ weighted) >= threshold).sum())
    return TestResult((hits + 1) / (resamples + 1), False, resamples)


def _every_sum(values: Floats) -> Floats:
    """The sum under every sign pattern in which the first sign is up; the others mirror these."""
    sums = values[:1]
    for value in values[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def smallest_p(n: int) -> float:
    """The smallest two-sided p that n evals can give: 2 / 2^n. From 6 evals on it is below 0.05."""
    return 1.0 if n < 1 else 2.0 ** (1 - n)


def sign_test(differences: ArrayLike) -> SignTest:
    """Wins, ties and losses, and the exact two-sided binomial p over wins and losses."""
    d = np.asarray(differences, float)
    wins, losses = int((d > _TIE).sum()), int((d < -_TIE).sum())
    p = min(1.0, 2.0 * float(special.bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0
    return SignTest(wins, d.size - wins - losses, losses, p)
