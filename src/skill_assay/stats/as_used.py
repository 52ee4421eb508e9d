"""The effect as used: what the skill does in the trials that take it up.

Estimand: effect / (activation with - activation without), the effect on complying trials (Imbens & Angrist 1994). It
assumes that being given the skill does nothing unless it is used. Interval by linearising the ratio over evals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skill_assay.stats.intervals import mean_estimate
from skill_assay.stats.results import EffectAsUsed, Interval

__all__ = ["LEAST_ACTIVATION", "effect_as_used"]

LEAST_ACTIVATION = 0.30
"""At or below this difference in activation the quotient is mostly noise."""


def effect_as_used(differences: ArrayLike, activation: ArrayLike, weights: ArrayLike | None = None) -> EffectAsUsed:
    """The effect on complying trials; the caller holds to `LEAST_ACTIVATION`.

    Args:
        differences: shape (n,): per-eval difference of outcomes.
        activation: shape (n,): per-eval difference of the share of trials that used the skill; its mean is not 0.
        weights: shape (n,), positive, or `None`.
    """
    d, used = np.asarray(differences, float), np.asarray(activation, float)
    share = mean_estimate(used, weights).mean
    effect = mean_estimate(d, weights).mean / share
    interval = mean_estimate(d - effect * used, weights).interval()
    if interval is not None:
        reach = (interval.high - interval.low) / 2 / abs(share)
        interval = Interval(effect - reach, effect + reach, interval.level)
    return EffectAsUsed(effect, share, d.size, interval)
