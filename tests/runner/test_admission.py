"""One point for every launch: workers, the API's consent, the budget."""

from __future__ import annotations

import anyio
import anyio.from_thread
import pytest

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.money import Spend
from skill_assay.model.transcript import Tokens, Usage
from skill_assay.runner.admission import LONGEST_WAIT, AdaptiveAdmission, BudgetReached, memory_workers
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.settings import Budget

CROWDED = Failure(FailureKind.OVERLOADED, "overloaded", status=529, retry_after=30.0)


def admission(limit: int = 8, budget: Budget = Budget()) -> AdaptiveAdmission:  # noqa: B008
    ledger = BudgetLedger(budget, lambda what, **facts: None)
    return AdaptiveAdmission(limit, ledger, PriceBook())


def test_never_more_than_the_limit_at_once() -> None:
    most = 0

    async def work(gate: AdaptiveAdmission) -> None:
        nonlocal most
        async with gate.enter("arm") as permit:
            most = max(most, gate.active)
            await anyio.sleep(0)
            permit.settle(Usage(cost_usd=0.1), None)

    async def main() -> None:
        gate = admission(3)
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(work, gate)

    anyio.run(main)
    assert most == 3


def test_a_crowded_api_slows_all_workers_together_and_they_recover() -> None:
    async def main() -> None:
        gate = admission(8)
        now = 100.0
        gate._clock = lambda: now
        for _ in range(8):
            gate.hear(CROWDED)
        assert gate.workers == 4, "one wave of refusals halves the limit once"
        now = 131.0
        gate.hear(CROWDED)
        assert gate.workers == 2
        for _ in range(100):
            gate.hear(None)
        assert gate.workers == 8

    anyio.run(main)


def test_nothing_is_launched_until_the_wait_is_over() -> None:
    async def main() -> None:
        gate = admission(2)
        gate.hear(Failure(FailureKind.RATE_LIMITED, "slow down", status=429, retry_after=0.05))
        began = anyio.current_time()
        async with gate.enter("arm") as permit:
            permit.settle(Usage(cost_usd=0.0), None)
        assert anyio.current_time() - began >= 0.05

    anyio.run(main)


def test_no_answer_of_an_api_or_an_agent_holds_the_workers_back_for_ever() -> None:
    async def main() -> None:
        gate = admission(2)
        now = 100.0
        gate._clock = lambda: now
        gate.hear(Failure(FailureKind.RATE_LIMITED, "come back in a million years", retry_after=3e13))
        now += LONGEST_WAIT
        async with gate.enter("arm") as permit:
            permit.settle_nothing()

    with anyio.from_thread.start_blocking_portal() as portal:
        portal.start_task_soon(main).result(timeout=30)


def test_a_launch_that_could_pass_the_cap_is_refused_and_its_worker_freed() -> None:
    async def main() -> None:
        gate = admission(1, Budget(usd=0.01))
        for _ in range(2):
            with pytest.raises(BudgetReached):
                async with gate.enter("arm"):
                    raise AssertionError("must not be entered")
        assert gate.active == 0

    anyio.run(main)


def test_prices_are_learned_from_settled_launches() -> None:
    prices = PriceBook()
    ledger = BudgetLedger(Budget(), lambda what, **facts: None)

    async def main() -> None:
        gate = AdaptiveAdmission(1, ledger, prices)
        for _ in range(3):
            async with gate.enter("arm") as permit:
                permit.settle(Usage(tokens=Tokens(input=900, output=100), cost_usd=0.02), None, 4.0)

    anyio.run(main)
    assert prices.mean("arm") == Spend(pytest.approx(0.02), 1000, 1)
    assert prices.worst("arm") == Spend(pytest.approx(0.04), 2000, 1)
    assert ledger.spent == Spend(pytest.approx(0.06), 3000, 3)


@pytest.mark.parametrize(
    ("kind", "learned"), [(FailureKind.AGENT_LIMIT, True), (FailureKind.OVERLOADED, False), (None, True)]
)
def test_fault_7_a_launch_at_its_limit_of_turns_is_the_dearest_and_is_learned_from(
    kind: FailureKind | None, learned: bool
) -> None:
    prices = PriceBook()

    async def main() -> None:
        gate = AdaptiveAdmission(1, BudgetLedger(Budget(), lambda what, **facts: None), prices)
        async with gate.enter("arm") as permit:
            permit.settle(Usage(Tokens(input=5), cost_usd=3.0), Failure(kind, "") if kind else None)

    anyio.run(main)
    assert (prices.worst("arm").usd == 6.0) is learned


def test_fault_7_the_first_dear_launch_is_learned_from() -> None:
    prices = PriceBook()
    prior = prices.worst("arm")
    prices.learn("arm", Spend(0.01, 10, 1), 1.0)
    assert prices.worst("arm") == prior
    prices.learn("arm", Spend(2.0, 900_000, 1), 1.0)
    assert prices.worst("arm") == Spend(4.0, 1_800_000, 1)
    assert PriceBook(free=True).worst("arm") == Spend(launches=1)


def test_a_launch_whose_cost_is_unknown_stays_at_its_reservation() -> None:
    async def main() -> BudgetLedger:
        ledger = BudgetLedger(Budget(), lambda what, **facts: None)
        gate = AdaptiveAdmission(1, ledger, PriceBook())
        async with gate.enter("arm") as permit:
            permit.settle(Usage(), None)
        return ledger

    assert anyio.run(main).estimated == 1


@pytest.mark.parametrize(
    ("budget", "usage", "spent", "estimated"),
    [
        (Budget(usd=9), Usage(tokens=Tokens(input=7)), Spend(0.65, 7, 1, assumed_usd=0.65), 1),
        (Budget(tokens=10**6), Usage(cost_usd=0.1), Spend(0.1, 270_000, 1), 1),
        (Budget(usd=9), Usage(cost_usd=0.1), Spend(0.1, 0, 1), 0),
        (Budget(trials=9), Usage(), Spend(0.0, 0, 1), 0),
    ],
)
def test_fault_7_a_free_agent_that_says_no_price_uses_up_what_is_capped(
    budget: Budget, usage: Usage, spent: Spend, estimated: int
) -> None:
    async def main() -> BudgetLedger:
        ledger = BudgetLedger(budget, lambda what, **facts: None)
        gate = AdaptiveAdmission(1, ledger, PriceBook(free=True, capped=budget))
        async with gate.enter("arm") as permit:
            permit.settle(usage, None)
        return ledger

    ledger = anyio.run(main)
    assert ledger.spent == spent
    assert ledger.estimated == estimated


@pytest.mark.parametrize(("available", "workers"), [(10**12, 10), (900_000_000, 3), (1, 1)])
def test_memory_bounds_the_workers(available: int, workers: int) -> None:
    assert memory_workers(10, available) == workers
