"""What a run is expected to take: launches, money, tokens, time. Shown before anything is launched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skill_assay.model.money import Spend
from skill_assay.runner.prices import PriceBook

__all__ = ["CONFIRM_LAUNCHES", "CONFIRM_USD", "Estimate", "estimate"]

CONFIRM_LAUNCHES = 60
CONFIRM_USD = 5.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """An expectation, not a bound; the bound is the budget."""

    spend: Spend
    seconds: float
    measured: bool
    """Whether it rests on past trials of every arm; else on a stated prior."""

    @property
    def needs_confirmation(self) -> bool:
        """Whether it lies above the threshold from which a person is asked."""
        return self.spend.launches > CONFIRM_LAUNCHES or self.spend.usd > CONFIRM_USD


def estimate(purposes: Iterable[str], prices: PriceBook, workers: int) -> Estimate:
    """Sum up the launches of a plan.

    Args:
        purposes: the arm of every trial to be run.
        prices: what past ones cost.
        workers: how many run at once.
    """
    total, seconds, measured = Spend(), 0.0, True
    for purpose in purposes:
        total = total + prices.mean(purpose)
        seconds += prices.seconds(purpose)
        measured = measured and prices.measured(purpose)
    return Estimate(total, seconds / max(1, min(workers, total.launches or 1)), measured)
