"""Money: the worst case is set aside before a launch and replaced by the true cost after it.

With W workers the sum of what is spent and what is set aside never passes a cap, so a cap can't be overshot by more
than what the attempts under way cost beyond their reservations, which the CLI's own cap bounds where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from skill_assay.model.money import Spend
from skill_assay.runner.settings import Budget

__all__ = ["BudgetLedger"]

Note = Callable[..., None]


class BudgetLedger:
    """Implements `model.protocols.Ledger` for one run, with set-asides for whole blocks of trials."""

    def __init__(self, budget: Budget, note: Note, spent: Spend = Spend()) -> None:  # noqa: B008
        self._budget = budget
        self._note = note
        self._spent = spent
        self._reserved = Spend()
        self._holds: dict[Hashable, Spend] = {}
        self.estimated = 0
        """Settlements at the reservation because no bill came."""

    @property
    def spent(self) -> Spend:
        """Settled so far, earlier sessions of a resumed run included."""
        return self._spent

    @property
    def reserved(self) -> Spend:
        """Set aside and not yet settled."""
        return self._reserved

    def reserve(self, worst: Spend) -> bool:
        """Set aside the worst case; false when a cap would be passed."""
        if not self._budget.allows(self._spent + self._reserved + worst):
            return False
        self._reserved = self._reserved + worst
        return True

    def settle(self, reserved: Spend, actual: Spend | None, *, estimated: bool = False) -> None:
        """Replace a reservation by the true cost.

        Args:
            reserved: what was set aside.
            actual: the bill; `None` keeps the reservation as the cost, and counts it as estimated.
            estimated: whether part of the bill is the reservation.
        """
        self._reserved = self._reserved - reserved
        self._spent = self._spent + (replace(reserved, assumed_usd=reserved.usd) if actual is None else actual)
        self.estimated += actual is None or estimated

    def hold(self, parts: Mapping[Any, Spend]) -> bool:
        """Set aside several launches together, all or none: so a cap never splits the arms of one repeat."""
        total = Spend()
        for part in parts.values():
            total = total + part
        if not self.reserve(total):
            return False
        self._holds.update(parts)
        return True

    def take(self, key: Hashable) -> Spend | None:
        """The reservation held for this launch, handed over to its settlement."""
        return self._holds.pop(key, None)

    def release(self, key: Hashable) -> None:
        """Give back a hold that will not be used."""
        held = self._holds.pop(key, None)
        if held is not None:
            self._reserved = self._reserved - held

    def note(self, what: str, **facts: Any) -> None:
        """A line in the journal."""
        self._note(what, **facts)
