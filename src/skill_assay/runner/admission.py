"""The one point every launch passes, agent or judge: a free worker, the API's consent, and the budget.

When the API says that it is crowded (429, 529), all workers slow down together: the limit is halved and nothing
is launched until the wait is over; every success then wins back a part of a worker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager

import anyio

from skill_assay.errors import Failure, IncompleteError, policy
from skill_assay.model.money import Spend
from skill_assay.model.transcript import Usage
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook

__all__ = ["AdaptiveAdmission", "BudgetReached", "LaunchPermit", "memory_workers"]

WAIT_SECONDS = 5.0
"""How long all workers hold back when the API is crowded and does not say for how long."""
LONGEST_WAIT = 600.0
"""Seconds they hold back at most, whatever an agent or a server says: it may be a mistake or a lie."""
_MEMORY_PER_AGENT = 300_000_000


class BudgetReached(IncompleteError):
    """The next launch could pass a cap."""


def memory_workers(wanted: int, available: int | None = None) -> int:
    """How many agents fit into memory at 300 MB each, at least one, at most `wanted`."""
    if available is None:
        import psutil

        available = int(psutil.virtual_memory().available)
    return max(1, min(wanted, available // _MEMORY_PER_AGENT))


class LaunchPermit:
    """Implements `model.protocols.Permit`."""

    def __init__(self, admission: AdaptiveAdmission, purpose: str, reserved: Spend, label: str) -> None:
        self._admission = admission
        self._label = label
        self._purpose = purpose
        self.reserved = reserved
        self._settled = False

    def slow_down(self, failure: Failure) -> None:
        """The agent itself waits for the API: tell the others."""
        self._admission.hear(failure)

    def settle_nothing(self) -> None:
        """Nothing was launched: the reservation is given back whole."""
        if not self._settled:
            self._settled = True
            self._admission.give_back(self.reserved, self._label)

    def settle(self, usage: Usage | None, failure: Failure | None, seconds: float | None = None) -> None:
        """Tell what it cost and how it ended; a second call changes nothing."""
        if self._settled:
            return
        self._settled = True
        self._admission.settle(self._purpose, self._label, self.reserved, usage, failure, seconds)


class AdaptiveAdmission:
    """Implements `model.protocols.Admission`."""

    def __init__(self, limit: int, ledger: BudgetLedger, prices: PriceBook, wait_seconds: float = WAIT_SECONDS) -> None:
        self._ceiling = limit
        self._wait_seconds = wait_seconds
        self._limit = float(limit)
        self._active = 0
        self._ledger = ledger
        self._prices = prices
        self._not_before = 0.0
        self._changed = anyio.Event()
        self._clock: Callable[[], float] = anyio.current_time

    @property
    def workers(self) -> int:
        """How many may run at once just now."""
        return max(1, int(self._limit))

    @property
    def ceiling(self) -> int:
        """How many may run at once when the API has no objection."""
        return self._ceiling

    @property
    def active(self) -> int:
        """How many run now."""
        return self._active

    @asynccontextmanager
    async def enter(self, purpose: str, key: Hashable = None, label: str = "") -> AsyncIterator[LaunchPermit]:
        """Wait for a worker, then reserve (or take what was held for `key`).

        Args:
            purpose: whose past prices to go by.
            key: names a hold of the ledger's.
            label: names the launch in the journal.

        Raises:
            BudgetReached: the launch could pass a cap.
        """
        await self._worker()
        try:
            reserved = self._ledger.take(key) if key is not None else None
            if reserved is None:
                reserved = self._prices.worst(purpose)
                if not self._ledger.reserve(reserved):
                    hint = "Raise it with --budget; what is there is not paid for again."
                    raise BudgetReached("The budget is reached", hint=hint)
            self._ledger.note("reserved", reservation=label, **_facts(reserved))
            permit = LaunchPermit(self, purpose, reserved, label)
            try:
                yield permit
            finally:
                permit.settle(None, None)
        finally:
            self._active -= 1
            self._wake()

    async def _worker(self) -> None:
        while True:
            pause = self._not_before - self._clock()
            if pause <= 0 and self._active < self.workers:
                self._active += 1
                return
            with anyio.move_on_after(pause if pause > 0 else None):
                await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def hear(self, failure: Failure | None) -> None:
        """Adapt the number of workers to what the API said."""
        if failure is not None and policy(failure).shared:
            now = self._clock()
            if now >= self._not_before:
                # One halving a wave: eight workers told the same thing at once are one message, not eight.
                self._limit = max(1.0, self._limit / 2)
            wait = min(failure.retry_after or self._wait_seconds, LONGEST_WAIT)
            self._not_before = max(self._not_before, now + wait)
        elif failure is None:
            self._limit = min(float(self._ceiling), self._limit + 1.0 / self._limit)
            self._wake()

    def settle(
        self,
        purpose: str,
        label: str,
        reserved: Spend,
        usage: Usage | None,
        failure: Failure | None,
        seconds: float | None,
    ) -> None:
        """Replace the reservation by the bill and learn from it; what the bill leaves open stays as reserved."""
        bill, whole = self._bill(purpose, usage, reserved)
        self._ledger.settle(reserved, bill, estimated=not whole)
        self._ledger.note("settled", reservation=label, estimated=not whole, **_facts(bill))
        if whole and policy(failure).graded:
            # A trial that ended at its limit of turns is the dearest kind, and has its whole bill.
            self._prices.learn(purpose, bill, seconds)
        if usage is not None or failure is not None:
            self.hear(failure)

    def give_back(self, reserved: Spend, label: str) -> None:
        """Cancel a reservation whose launch never came."""
        self._ledger.settle(reserved, Spend())
        self._ledger.note("settled", reservation=label, **_facts(Spend()))

    def _bill(self, purpose: str, usage: Usage | None, reserved: Spend) -> tuple[Spend, bool]:
        """What a launch cost, and whether nothing of it had to be taken from the reservation."""
        usd = usage.cost_usd if usage else None
        tokens = usage.tokens.total if usage and usage.tokens else None
        unknown_usd = usd is None and self._prices.asks_usd(purpose)
        unknown_tokens = tokens is None and self._prices.asks_tokens(purpose)
        bill = Spend(
            reserved.usd if unknown_usd else usd or 0.0,
            reserved.tokens if unknown_tokens else tokens or 0,
            1,
            assumed_usd=reserved.usd if unknown_usd else 0.0,
        )
        return bill, not (unknown_usd or unknown_tokens)


def _facts(spend: Spend) -> dict[str, float | int]:
    facts = {"usd": round(spend.usd, 6), "tokens": spend.tokens, "launches": spend.launches}
    return {**facts, "assumed_usd": round(spend.assumed_usd, 6)} if spend.assumed_usd else facts
