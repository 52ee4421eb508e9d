"""Asking a model: validated replies, repeats by the failure table, every question through the admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from skill_assay.errors import Failure, FailureKind
from skill_assay.llm.base import Answer, Asker, ModelFailed, misfit
from skill_assay.llm.scripted import ScriptedVoice
from skill_assay.runner.admission import AdaptiveAdmission, BudgetReached
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.settings import Budget

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


class Desk:
    """An asker with a real ledger whose journal is a list."""

    def __init__(self, *replies: Any, budget: Budget = Budget()) -> None:  # noqa: B008
        self.notes: list[tuple[str, Mapping[str, Any]]] = []
        self.ledger = BudgetLedger(budget, lambda what, **facts: self.notes.append((what, facts)))
        self.voice = ScriptedVoice(list(replies))
        self.asker = Asker(self.voice, AdaptiveAdmission(2, self.ledger, PriceBook(), 0.0), pause_seconds=0.0)

    def ask(self) -> Answer:
        return anyio.run(self.asker.ask, "Is it so?", SCHEMA, self.ledger)

    def said(self, what: str) -> list[Mapping[str, Any]]:
        return [facts for name, facts in self.notes if name == what]


def failure(kind: FailureKind) -> Failure:
    return Failure(kind, "scripted")


def test_a_reply_comes_validated_and_is_paid() -> None:
    desk = Desk({"ok": True})
    assert desk.ask().data == {"ok": True}
    assert desk.ledger.spent.usd == pytest.approx(0.002) and desk.ledger.spent.launches == 1
    [reserved], [settled] = desk.said("reserved"), desk.said("settled")
    assert reserved["reservation"] == settled["reservation"] and reserved["reservation"].startswith("judge-")


def test_fault_27_an_outage_is_retried_twice_and_then_an_error_never_a_reply() -> None:
    desk = Desk(failure(FailureKind.OVERLOADED))
    with pytest.raises(ModelFailed, match="overloaded"):
        desk.ask()
    assert len(desk.voice.prompts) == 3
    assert [facts["again"] for facts in desk.said("model_failed")] == [True, True, False]


def test_an_outage_that_ends_is_no_failure() -> None:
    desk = Desk(failure(FailureKind.SERVER_ERROR), failure(FailureKind.RATE_LIMITED), {"ok": False})
    assert desk.ask().data == {"ok": False}


@pytest.mark.parametrize("kind", [FailureKind.NOT_SIGNED_IN, FailureKind.BAD_REQUEST, FailureKind.NO_CREDIT])
def test_what_no_repeat_mends_is_asked_once(kind: FailureKind) -> None:
    desk = Desk(failure(kind))
    with pytest.raises(ModelFailed):
        desk.ask()
    assert len(desk.voice.prompts) == 1


def test_no_judge_is_waited_for_beyond_all_measure() -> None:
    desk = Desk(Failure(FailureKind.RATE_LIMITED, "tomorrow", retry_after=86_400.0), {"ok": True})
    with pytest.raises(ModelFailed, match="tomorrow"):
        desk.ask()


@pytest.mark.parametrize("bad", [{"ok": "yes"}, {}, {"ok": True, "more": 1}, ["ok"], "ok", None])
def test_a_reply_that_misses_the_schema_is_asked_again(bad: Any) -> None:
    desk = Desk(bad, {"ok": True})
    assert desk.ask().data == {"ok": True}
    assert desk.ledger.spent.launches == 2, "the one that did not fit was paid for too"
    assert misfit(bad, SCHEMA)


def test_the_budget_stops_the_asking() -> None:
    desk = Desk({"ok": True}, budget=Budget(usd=0.001))
    with pytest.raises(BudgetReached):
        desk.ask()
    assert desk.voice.prompts == []
