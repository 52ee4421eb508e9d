"""What a trigger set can see: the precision of its accuracy, and the power to tell two descriptions apart.

Model: a query is decided rightly in a run with a chance of its own, Beta(1.4, 0.6): 70 % on average, most queries near
always or never. A better description settles some queries for good (chance 1), so many that accuracy over runs rises by
the effect. A query passes at half of its runs; the two descriptions are compared by the exact sign test over queries.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from skill_assay.stats.intervals import wilson

__all__ = ["MEAN_ACCURACY", "accuracy_reach", "trigger_power"]

_RIGHT, _WRONG = 1.4, 0.6
MEAN_ACCURACY = _RIGHT / (_RIGHT + _WRONG)


def accuracy_reach(queries: int, share: float = MEAN_ACCURACY) -> float:
    """Half the width of the Wilson 95 % interval of accuracy when so many queries pass."""
    interval = wilson(round(queries * share), queries)
    assert interval, "queries must be at least 1"
    return (interval.high - interval.low) / 2


def trigger_power(effect: float, *, queries: int, runs: int, seed: int, samples: int = 4000) -> float:
    """The chance that the better description is significantly better over queries. Deterministic by seed.

    Args:
        effect: rise of accuracy over runs, a fraction above 0 and at most 1 - `MEAN_ACCURACY`.
        queries: in the set, half of them to be fired at.
        runs: of each query under each description.
        seed: of the simulation.
        samples: simulated comparisons.
    """
    rng = np.random.default_rng(seed)
    before = rng.beta(_RIGHT, _WRONG, (samples, queries))
    settled = rng.random((samples, queries)) < effect / (1 - MEAN_ACCURACY)
    needed = np.where(np.arange(queries) % 2 == 0, -(-runs // 2), runs // 2 + 1)
    passed_before = rng.binomial(runs, before) >= needed
    passed_after = rng.binomial(runs, np.where(settled, 1.0, before)) >= needed
    gained = (passed_after & ~passed_before).sum(axis=1)
    lost = (passed_before & ~passed_after).sum(axis=1)
    p = 2 * special.bdtr(lost.astype(float), gained + lost, 0.5)
    return float(((gained > lost) & (p <= 0.05)).mean())
