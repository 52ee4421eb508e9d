"""What a launch is expected to cost, and what it may cost at worst.

Learned from settled attempts of the same purpose (an arm, a judge); before there are any, a stated prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skill_assay.model.money import Spend

__all__ = ["FREE", "QUERY_PRIORS", "TRIAL_PRIORS", "PriceBook", "Priors"]


@dataclass(frozen=True, slots=True)
class Priors:
    """What is assumed of one launch before anything is known: a guess, said to be one."""

    mean: Spend
    worst: Spend
    """Set aside: ten times the guess."""
    seconds: float


TRIAL_PRIORS = Priors(Spend(0.065, 27_000, 1), Spend(0.65, 270_000, 1), 40.0)
"""A trial of a coding agent on a small task with a mid-priced model."""
QUERY_PRIORS = Priors(Spend(0.02, 18_000, 1), Spend(0.2, 180_000, 1), 15.0)
"""A trigger query, which is decided within a few turns."""
SIMULATED_SECONDS = 0.2
FREE = Spend(launches=1)
_ENOUGH = 3
_MARGIN = 2.0


@dataclass(slots=True)
class _History:
    count: int = 0
    usd_sum: float = 0.0
    usd_max: float = 0.0
    tokens_sum: int = 0
    tokens_max: int = 0
    seconds_sum: float = 0.0


@dataclass(slots=True)
class PriceBook:
    """Prices by purpose."""

    free: bool = False
    """Agents that cost nothing (simulated, or a program of one's own that reports no price)."""
    simulated: bool = False
    """Agents that take no real time."""
    priors: Priors = TRIAL_PRIORS
    others: Mapping[str, Priors] = field(default_factory=dict)
    """Purposes with priors of their own, which cost even where the agents are free (a judge)."""
    _known: dict[str, _History] = field(default_factory=dict)

    def learn(self, purpose: str, spend: Spend, seconds: float | None) -> None:
        """Add a settled attempt."""
        seen = self._known.setdefault(purpose, _History())
        seen.count += 1
        seen.usd_sum += spend.usd
        seen.usd_max = max(seen.usd_max, spend.usd)
        seen.tokens_sum += spend.tokens
        seen.tokens_max = max(seen.tokens_max, spend.tokens)
        seen.seconds_sum += seconds or 0.0

    def is_free(self, purpose: str) -> bool:
        """Whether a launch for it costs nothing."""
        return self.free and purpose not in self.others

    def _prior(self, purpose: str) -> Priors:
        return self.others.get(purpose, self.priors)

    def measured(self, purpose: str) -> bool:
        """Whether enough attempts were seen to go by them."""
        seen = self._known.get(purpose)
        return seen is not None and seen.count >= _ENOUGH

    def mean(self, purpose: str) -> Spend:
        """The expected cost of one launch."""
        seen = self._known.get(purpose)
        if seen is None or seen.count == 0:
            return FREE if self.is_free(purpose) else self._prior(purpose).mean
        return Spend(seen.usd_sum / seen.count, seen.tokens_sum // seen.count, 1)

    def seconds(self, purpose: str) -> float:
        """The expected wall time of one launch."""
        seen = self._known.get(purpose)
        if seen and seen.count:
            return seen.seconds_sum / seen.count
        simulated = self.simulated and purpose not in self.others
        return SIMULATED_SECONDS if simulated else self._prior(purpose).seconds

    def worst(self, purpose: str) -> Spend:
        """What to set aside: twice the dearest seen, once enough were seen; else the prior."""
        seen = self._known.get(purpose)
        if seen is None or seen.count < _ENOUGH:
            return FREE if self.is_free(purpose) else self._prior(purpose).worst
        return Spend(seen.usd_max * _MARGIN, int(seen.tokens_max * _MARGIN), 1)
