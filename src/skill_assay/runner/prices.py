"""What a launch is expected to cost, and what it may cost at worst.

Learned from settled attempts of the same purpose (an arm, a judge); before there are any, a stated prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skill_assay.model.money import Spend
from skill_assay.runner.settings import Budget

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
    """Agents that are taken to cost nothing until they say otherwise (simulated, or a program of one's own)."""
    capped: Budget = Budget()
    """What is capped is not taken to be free: a program may well have its price, and say it only afterwards."""
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
        """Whether a launch for it is taken to cost nothing until it says otherwise."""
        return self.free and purpose not in self.others

    def _prior(self, purpose: str) -> Priors:
        return self.others.get(purpose, self.priors)

    def asks_usd(self, purpose: str) -> bool:
        """Whether a launch whose price is unknown stands for what was set aside, not for nothing."""
        return not self.is_free(purpose) or self.capped.usd is not None

    def asks_tokens(self, purpose: str) -> bool:
        """The same of its tokens."""
        return not self.is_free(purpose) or self.capped.tokens is not None

    def known(self, purpose: str) -> bool:
        """Whether any attempt was seen."""
        return purpose in self._known

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
        """What to set aside: twice the dearest seen; while few were seen, the prior if that is more."""
        seen = self._known.get(purpose, _History())
        usd, tokens = seen.usd_max * _MARGIN, int(seen.tokens_max * _MARGIN)
        if seen.count < _ENOUGH:
            prior = self._prior(purpose).worst
            usd = max(usd, prior.usd if self.asks_usd(purpose) else 0.0)
            tokens = max(tokens, prior.tokens if self.asks_tokens(purpose) else 0)
        return Spend(usd, tokens, 1)
