"""How likely a half-measured description still comes out ahead, to stop one that won't.

Estimand: the chance that a query passes once all its runs are done, from those done so far (beta-binomial posterior
predictive), and from these the chance of at least so many passes (Poisson-binomial). The prior is deliberately hopeful:
a wrong stop costs a better description, a late one costs a few runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from skill_assay.stats.triggering import reaches

__all__ = ["chance_of_at_least", "pass_chance"]

_AS_BEFORE, _OTHERWISE = 0.9, 0.6
"""Prior mean of a right run: of a query that the description to beat passes, and of any other."""


def pass_chance(
    right: int, wrong: int, left: int, threshold: float, *, should_trigger: bool, passed_before: bool
) -> float:
    """The chance that a query passes in the end.

    Args:
        right: runs that went as they should.
        wrong: runs that did not.
        left: runs still to come.
        threshold: of the rate; a positive passes at it and above, a negative below it.
        should_trigger: the label.
        passed_before: whether the description to beat passes it.
    """
    mean = _AS_BEFORE if passed_before else _OTHERWISE
    a, b = mean + right, 1 - mean + wrong
    chance = 0.0
    for more in range(left + 1):
        fired = right + more if should_trigger else wrong + left - more
        if right + wrong + left and reaches(fired, right + wrong + left, threshold) is should_trigger:
            chance += math.comb(left, more) * math.exp(_log_beta(a + more, b + left - more) - _log_beta(a, b))
    return chance


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def chance_of_at_least(wanted: int, chances: Iterable[float]) -> float:
    """The chance of `wanted` or more successes in independent tries of these chances."""
    exactly = [1.0]
    for chance in chances:
        failed = [weight * (1 - chance) for weight in exactly]
        exactly = [a + b for a, b in zip([*failed, 0.0], [0.0, *(w * chance for w in exactly)], strict=True)]
    return sum(exactly[max(0, wanted) :])
