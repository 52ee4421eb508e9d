"""Question 1: the effect on these N evals, taken as fixed; what is random is the noise of trials.

Estimand: sum w (mean of primary - mean of baseline) / sum w over the evals, with the means the arms would reach if each
eval were run without end. Standard error from the variance within evals, Welch-Satterthwaite degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skill_assay.stats.intervals import t_quantile
from skill_assay.stats.permutation import label_permutation
from skill_assay.stats.results import FixedEvals, Interval

__all__ = ["clipped", "fixed_evals", "within_error"]

Floats = NDArray[np.float64]


def fixed_evals(
    primary: Sequence[ArrayLike],
    baseline: Sequence[ArrayLike],
    weights: ArrayLike | None = None,
    *,
    seed: int,
    resamples: int,
) -> FixedEvals:
    """The effect on these evals, its permutation p and its intervals.

    Args:
        primary: one array of trial outcomes in [0, 1] an eval, at least one each.
        baseline: likewise, in the same order.
        weights: shape (evals,), positive; `None` weighs all the same.
        seed: for random relabellings, where not all can be counted.
        resamples: how many of those.
    """
    first, second = [np.asarray(x, float) for x in primary], [np.asarray(x, float) for x in baseline]
    w = np.ones(len(first)) if weights is None else np.asarray(weights, float)
    share = w / w.sum()
    effect = float(sum(s * (a.mean() - b.mean()) for s, a, b in zip(share, first, second, strict=True)))
    test = label_permutation(first, second, w, seed=seed, resamples=resamples)
    found = within_error([*first, *second], np.concatenate([share, share]))
    if isinstance(found, str):
        return FixedEvals(effect, test, no_interval=found)
    error, df = found
    inner, outer = (_interval(effect, error, df, level) for level in (0.90, 0.95))
    return FixedEvals(effect, test, error, df, outer, inner)


def within_error(cells: Sequence[Floats], shares: Floats) -> tuple[float, float] | str:
    """Standard error and degrees of freedom of sum share * mean(cell), or why there is none.

    A cell with one trial borrows the pooled variance of the others; since that is a combination of the same sample
    variances, Welch-Satterthwaite holds for the whole.
    """
    sizes = np.array([len(cell) for cell in cells])
    several = sizes > 1
    if not several.any():
        return "one trial an arm: the noise of trials is unknown"
    variances = np.array([cell.var(ddof=1) for cell, many in zip(cells, several, strict=True) if many])
    if (variances < 1e-18).all():
        return "no spread inside any eval: the noise of trials is unknown"
    freedom = sizes[several] - 1.0
    borrowed = float((shares[~several] ** 2).sum())
    parts = (shares[several] ** 2 / sizes[several] + borrowed * freedom / freedom.sum()) * variances
    return float(np.sqrt(parts.sum())), float(parts.sum() ** 2 / (parts**2 / freedom).sum())


def _interval(effect: float, error: float, df: float, level: float) -> Interval:
    reach = t_quantile(0.5 + level / 2, df) * error
    return clipped(Interval(effect - reach, effect + reach, level))


def clipped(interval: Interval) -> Interval:
    """Cut to what an effect can be: a difference of shares lies between -1 and 1."""
    return Interval(max(-1.0, interval.low), min(1.0, interval.high), interval.level)
