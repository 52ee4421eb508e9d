"""Test of question 1: do the arms differ on these very evals?

Null hypothesis: within each eval the arm labels are exchangeable. Statistic: |sum w d| / sum w, `d` the difference of
the arms' means in an eval. The distributions of the evals are independent, so the exact one is their convolution;
where that grows too large, labels are drawn at random with the +1 correction.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from skill_assay.stats.results import TestResult

__all__ = ["label_permutation"]

_ENUMERATED = 20_000
"""Assignments of one eval up to which all are listed."""
_WORK = 4_000_000
"""Sums formed by the exact convolution before random labels are cheaper."""
_TIE = 1e-9
_MOST_PARTS = 60
"""Shares are told by their denominator up to this one."""
_MOST_COUNTED = 300
"""Outcomes of an eval up to which the ways of choosing among them are counted, within what a float holds."""

Floats = NDArray[np.float64]


def label_permutation(
    primary: Sequence[Floats], baseline: Sequence[Floats], weights: Floats, *, seed: int, resamples: int
) -> TestResult:
    """Two-sided p of permuting arm labels within each eval; the same when the arms are swapped.

    Args:
        primary: one array of trial outcomes an eval, each with one value or more.
        baseline: likewise, in the same order.
        weights: shape (evals,), positive.
        seed: used where the exact distribution is too large.
        resamples: random relabellings there.
    """
    share = weights / weights.sum()
    observed = sum(w * (a.mean() - b.mean()) for w, a, b in zip(share, primary, baseline, strict=True))
    if observed < 0:
        primary, baseline, observed = baseline, primary, -observed
    evals = [(w, np.sort(np.concatenate([a, b])), len(a)) for w, a, b in zip(share, primary, baseline, strict=True)]
    threshold = observed - _TIE
    exact = _exact(evals, threshold)
    if exact is not None:
        return TestResult(exact, True)
    rng = np.random.default_rng(seed)
    sums = np.zeros(resamples)
    for weight, pool, size in evals:
        sums += weight * _draw(pool, size, resamples, rng)
    return TestResult((int((np.abs(sums) >= threshold).sum()) + 1) / (resamples + 1), False, resamples)


def _differences(pool: Floats, size: int) -> Floats:
    """The difference of means for every choice of `size` labels out of the pool."""
    n = len(pool)
    inside = pool[_choices(n, size)].sum(axis=1)
    result: Floats = inside / size - (pool.sum() - inside) / (n - size)
    return result


@lru_cache(maxsize=8)
def _choices(n: int, size: int) -> NDArray[np.intp]:
    return np.array(list(itertools.combinations(range(n), size)), dtype=np.intp)


def _draw(pool: Floats, size: int, resamples: int, rng: np.random.Generator) -> Floats:
    """The difference of means for `resamples` random choices of `size` labels."""
    if math.comb(len(pool), size) <= _ENUMERATED:
        every = _differences(pool, size)
        return every[rng.integers(0, len(every), resamples)]
    values, counts = np.unique(pool, return_counts=True)
    chances = _chances(pool, size)
    if chances is not None:
        unit, ways = chances
        reached = ways.cumsum()
        drawn = np.searchsorted(reached, rng.random(resamples) * reached[-1], side="right")
        inside = size * values[0] + unit * drawn
    elif 2 * len(values) <= len(pool):
        # Equal outcomes are interchangeable: how many of each are chosen says all.
        inside = rng.multivariate_hypergeometric(counts, size, resamples) @ values
    else:
        order = rng.random((resamples, len(pool))).argpartition(size - 1, axis=1)
        inside = pool[order[:, :size]].sum(axis=1)
    result: Floats = inside / size - (pool.sum() - inside) / (len(pool) - size)
    return result


def _chances(pool: Floats, size: int) -> tuple[float, Floats] | None:
    """In how many ways the sum of `size` outcomes lies 0, 1, … units above the least it could be, and the unit.

    Scores are shares of a few expectations, so their sums take few values, and ways are counted faster than drawn.
    `None` where the outcomes are no such shares, or too many to be counted.
    """
    above = pool - pool.min()
    parts = next((n for n in range(1, _MOST_PARTS + 1) if np.abs(above * n - np.rint(above * n)).max() < _TIE), None)
    if parts is None:
        return None
    places = np.rint(above * parts).astype(np.intp)
    farthest = int(np.sort(places)[-size:].sum())
    if len(pool) > _MOST_COUNTED or (size + 1) * (farthest + 1) * len(pool) > _WORK:
        return None
    ways = np.zeros((size + 1, farthest + 1))
    ways[0, 0] = 1.0
    for place, count in zip(*np.unique(places, return_counts=True), strict=True):
        grown = np.zeros_like(ways)
        for taken in range(min(int(count), size) + 1):
            far = taken * int(place)
            if far <= farthest:
                grown[taken:, far:] += math.comb(int(count), taken) * ways[: size + 1 - taken, : farthest + 1 - far]
        ways = grown / grown.max()
    return 1 / parts, ways[size]


def _exact(evals: Sequence[tuple[float, Floats, int]], threshold: float) -> float | None:
    """P(|sum| >= threshold) by convolution, or `None` where that is too much work."""
    if any(math.comb(len(pool), size) > _ENUMERATED for _, pool, size in evals):
        return None
    values, chances, work = np.zeros(1), np.ones(1), 0
    for weight, pool, size in evals:
        steps, counts = _merge(weight * _differences(pool, size), None)
        work += len(values) * len(steps)
        if work > _WORK:
            return None
        sums = (values[:, None] + steps[None, :]).ravel()
        values, chances = _merge(sums, (chances[:, None] * (counts / counts.sum())[None, :]).ravel())
    return min(1.0, float(chances[np.abs(values) >= threshold].sum()))


def _merge(values: Floats, chances: Floats | None) -> tuple[Floats, Floats]:
    """Equal values joined, their chances added; values nearer than 1e-11 are equal."""
    keys, where = np.unique(np.rint(values * 1e11), return_inverse=True)
    return keys / 1e11, np.bincount(where, weights=chances, minlength=len(keys)).astype(float)
