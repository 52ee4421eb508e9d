"""How many times the tokens or seconds of the baseline an arm takes.

Estimand: the geometric mean over tasks of primary / baseline. Per eval the mean log ratio; Student-t interval on those;
shown as a ratio. Values that are missing or not positive are left out, never read as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skill_assay.stats.intervals import mean_estimate
from skill_assay.stats.results import Interval, RatioResult

__all__ = ["ratio"]


def ratio(
    primary: Sequence[Sequence[float]], baseline: Sequence[Sequence[float]], weights: Sequence[float] | None = None
) -> RatioResult | None:
    """Geometric mean ratio with its 95 % interval; `None` where no eval has a value in both arms.

    Args:
        primary: per eval, one positive value a trial.
        baseline: likewise, in the same order.
        weights: one an eval, positive.
    """
    logs, kept = [], []
    for index, (a, b) in enumerate(zip(primary, baseline, strict=True)):
        first, second = ([math.log(x) for x in side if x > 0] for side in (a, b))
        if first and second:
            logs.append(float(np.mean(first) - np.mean(second)))
            kept.append(1.0 if weights is None else weights[index])
    if not logs:
        return None
    estimate = mean_estimate(logs, kept)
    interval = estimate.interval()
    return RatioResult(
        math.exp(estimate.mean),
        len(logs),
        interval and Interval(math.exp(interval.low), math.exp(interval.high), interval.level),
    )
