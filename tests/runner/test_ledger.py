"""Money is set aside before a launch and settled after: a cap is never overshot."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skill_assay.model.money import Spend
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.settings import Budget


def ledger(budget: Budget, spent: Spend = Spend()) -> BudgetLedger:  # noqa: B008
    return BudgetLedger(budget, lambda what, **facts: None, spent)


def test_without_caps_everything_is_allowed() -> None:
    assert ledger(Budget()).reserve(Spend(1e9, 10**12, 10**6))


def test_fault_7_reservations_of_running_launches_count() -> None:
    money = ledger(Budget(usd=1.0))
    assert money.reserve(Spend(usd=0.6))
    assert not money.reserve(Spend(usd=0.6)), "the first launch has not settled, so its worst case counts"
    money.settle(Spend(usd=0.6), Spend(usd=0.1))
    assert money.reserve(Spend(usd=0.6))


def test_reaching_a_cap_exactly_is_within_it() -> None:
    assert ledger(Budget(usd=1.0, tokens=10, trials=1)).reserve(Spend(1.0, 10, 1))


def test_what_earlier_sessions_spent_counts() -> None:
    assert not ledger(Budget(usd=1.0), spent=Spend(usd=0.9)).reserve(Spend(usd=0.2))


def test_an_attempt_without_a_bill_is_settled_at_its_reservation() -> None:
    money = ledger(Budget())
    money.reserve(Spend(usd=0.5, tokens=100, launches=1))
    money.settle(Spend(usd=0.5, tokens=100, launches=1), None)
    assert money.spent == Spend(0.5, 100, 1, assumed_usd=0.5), "and is known for what it is"
    assert money.estimated == 1


def test_a_hold_takes_all_arms_or_none() -> None:
    money = ledger(Budget(trials=3))
    assert money.hold({"a": Spend(launches=1), "b": Spend(launches=1)})
    assert not money.hold({"c": Spend(launches=1), "d": Spend(launches=1)}), "one place is left, two are needed"
    assert money.take("a") == Spend(launches=1)
    assert money.take("a") is None
    money.release("b")
    assert money.reserved == Spend(launches=1)


@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 1)), max_size=30), st.floats(0.1, 5))
def test_spent_and_reserved_never_pass_the_cap(launches: list[tuple[float, float]], cap: float) -> None:
    money = ledger(Budget(usd=cap))
    open_: list[Spend] = []
    for worst, share in launches:
        if money.reserve(Spend(usd=worst)):
            open_.append(Spend(usd=worst))
        if open_ and share > 0.5:
            reserved = open_.pop()
            money.settle(reserved, Spend(usd=reserved.usd * share))
        assert money.spent.usd + money.reserved.usd <= cap + 1e-6
