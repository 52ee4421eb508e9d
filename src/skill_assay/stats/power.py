"""What a design can see, and what design would see a given effect.

Model: the difference of one eval varies with standard deviation sqrt(between^2 + within^2 (1/trials + 1/trials)),
where `between` is how much the true effect differs from task to task and `within` the noise of one trial. Power of
question 2 by the noncentral t distribution, averaged over the number of evals that tie: those are mute in the sign-flip
test, which with k others reaches no finer level than 2/2^k. Within 6 points of simulation from 6 to 30 evals. Planned
from the spread alone, never from the observed effect, whose inverse square diverges near 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from skill_assay.stats.intervals import mean_estimate, t_quantile

__all__ = [
    "MOST_EVALS",
    "MOST_TRIALS",
    "PRIOR",
    "Spread",
    "evals_needed",
    "power",
    "smallest_visible",
    "smallest_visible_on_these",
    "spread_of",
    "trials_needed",
]

MOST_EVALS = 2000
MOST_TRIALS = 50
_LEVEL = 0.05
_DENSITY = 1 / math.sqrt(2 * math.pi)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """The sources of noise in the difference of one eval."""

    between: float
    """Standard deviation of the true effect over tasks."""
    within: float
    """Standard deviation of one trial's outcome."""
    step: float = 0.0
    """The step between outcomes one trial can have (a quarter with four expectations): coarse ones tie more often."""
    split: bool = True
    """Whether `within` was seen apart; without repeated trials all of it is in `between`."""

    def of_difference(self, trials: float) -> float:
        """Standard deviation of an eval's difference with so many trials an arm."""
        return math.sqrt(self.between**2 + 2 * self.within**2 / trials)

    def ties(self, trials: float) -> float:
        """The share of evals that show no difference at all: the step times the normal density at 0."""
        return min(0.95, self.step / trials * _DENSITY / self.of_difference(trials))


PRIOR = Spread(between=0.13, within=0.29, step=0.25)
"""Where nothing was measured yet: the spread of the project's simulator (four expectations a trial)."""


def spread_of(
    primary: Sequence[ArrayLike], baseline: Sequence[ArrayLike], weights: ArrayLike | None = None
) -> Spread | None:
    """The spread behind measured outcomes; `None` with fewer than two evals or no spread at all.

    Args:
        primary: per eval, the trial outcomes; one or more each.
        baseline: likewise, in the same order.
        weights: one an eval, or `None`.
    """
    first, second = [np.asarray(x, float) for x in primary], [np.asarray(x, float) for x in baseline]
    if len(first) < 2:
        return None
    d = np.array([a.mean() - b.mean() for a, b in zip(first, second, strict=True)])
    total = mean_estimate(d, weights).standard_deviation or 0.0
    repeated = [cell for cell in (*first, *second) if len(cell) > 1]
    freedom = sum(len(cell) - 1 for cell in repeated)
    within = sum(float(cell.var(ddof=1)) * (len(cell) - 1) for cell in repeated) / max(1, freedom)
    each = float(np.mean([1 / len(a) + 1 / len(b) for a, b in zip(first, second, strict=True)]))
    between = math.sqrt(max(0.0, total**2 - within * each))
    spread = Spread(between, math.sqrt(within), split=bool(repeated))
    if between + within < 1e-9:
        return None
    tied = float((np.abs(d) < 1e-9).mean())
    return replace(spread, step=tied * (2 / each) * spread.of_difference(2 / each) / _DENSITY)


def power(effect: float, spread: Spread, *, evals: float, trials: float) -> float:
    """The chance of a verdict in the right direction on tasks like these.

    Args:
        effect: true mean difference, a fraction.
        spread: of the differences.
        evals: (effective) number of evals; below six no verdict is possible and the power is 0.
        trials: an arm and eval.
    """
    deviation, whole = spread.of_difference(trials), math.floor(evals + 1e-9)
    shift = abs(effect) / deviation * math.sqrt(evals)
    tied = spread.ties(trials)
    mean, reach = whole * (1 - tied), 6 * math.sqrt(whole * tied * (1 - tied)) + 1
    speaking = np.arange(max(6, math.floor(mean - reach)), min(whole, math.ceil(mean + reach)) + 1, dtype=float)
    if not speaking.size:
        return 0.0
    step = 2.0 ** (1 - np.minimum(speaking, 60.0))
    level = np.floor(_LEVEL / step + 1e-9) * step
    seen = 1 - special.nctdtr(speaking - 1, min(shift, 30.0), special.stdtrit(speaking - 1, 1 - level / 2))
    return float(_binomial(speaking, whole, 1 - tied) @ seen)


def _binomial(k: Floats, n: int, chance: float) -> Floats:
    """Binomial probabilities of k successes."""
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    result: Floats = np.exp(ways + special.xlogy(k, chance) + special.xlogy(n - k, 1 - chance))
    return result


def smallest_visible(spread: Spread, *, evals: float, trials: float, wanted: float = 0.80) -> float | None:
    """The smallest true effect seen with the wanted power; `None` where none up to 100 points is."""
    if power(1.0, spread, evals=evals, trials=trials) < wanted:
        return None
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        seen = power(middle, spread, evals=evals, trials=trials) >= wanted
        low, high = (low, middle) if seen else (middle, high)
    return high


def smallest_visible_on_these(standard_error: float, df: float, wanted: float = 0.80) -> float | None:
    """The same for question 1, from its standard error; `None` where it exceeds 100 points."""
    effect = (t_quantile(1 - _LEVEL / 2, df) + t_quantile(wanted, df)) * standard_error
    return effect if effect <= 1 else None


def evals_needed(effect: float, spread: Spread, *, trials: float, wanted: float = 0.80) -> int | None:
    """How many evals see the effect with so many trials an arm; `None` above `MOST_EVALS`."""
    if power(effect, spread, evals=MOST_EVALS, trials=trials) < wanted:
        return None
    low, high = 5, MOST_EVALS
    while high - low > 1:
        middle = (low + high) // 2
        seen = power(effect, spread, evals=middle, trials=trials) >= wanted
        low, high = (low, middle) if seen else (middle, high)
    return high


def trials_needed(effect: float, spread: Spread, *, evals: float, wanted: float = 0.80) -> int | None:
    """How many trials an arm see the effect with the evals there are.

    `None` where no number up to 50 does, or where the noise of trials was never seen apart.
    """
    tries = range(1, MOST_TRIALS + 1) if spread.split else ()
    return next((k for k in tries if power(effect, spread, evals=evals, trials=k) >= wanted), None)
