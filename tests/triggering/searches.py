"""A search without an agent: what a run shows is a function, what the proposer says a list or a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from skill_assay.llm.base import Asker
from skill_assay.llm.scripted import ScriptedVoice
from skill_assay.model.money import Spend
from skill_assay.model.optimisation import Optimisation
from skill_assay.model.triggers import Query
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.settings import Budget
from skill_assay.triggering.allocate import Allocation
from skill_assay.triggering.optimise import Measured, Problem, Search
from skill_assay.triggering.proposer import Brief, Proposal, propose
from skill_assay.triggering.split import Splits

Shows = Callable[[str, Query, int], bool | None]
"""Description, query, repeat → triggered, not, or nothing."""


def queries(count: int, prefix: str) -> tuple[Query, ...]:
    """Half of them should trigger."""
    return tuple(Query(f"{prefix}{n}", f"{prefix} text {n}", n % 2 == 0) for n in range(count))


def problem(train: int = 6, test: int = 8, fresh: int = 0, **facts: Any) -> Problem:
    splits = Splits(queries(train, "train"), queries(test, "test"), queries(fresh, "fresh"))
    return Problem(**{"skill_name": "pdf", "body": "# The body", "original": "original", "splits": splits, **facts})


@dataclass
class FakeMeasure:
    """Keeps every run, so that a search that goes on launches none again."""

    shows: Shows
    records: dict[str, list[tuple[str, bool | None]]] = field(default_factory=dict)
    launched: int = 0
    stop_at: int | None = None
    """Interrupted after so many launches."""

    async def __call__(
        self, place: str, description: str, allocation: Allocation, changed: Callable[[], None]
    ) -> Measured:
        known = {tally.query.id: tally.query for side in ("train", "test") for tally in allocation.of(side)}
        record = self.records.setdefault(place, [])
        for name, outcome in record:
            allocation.recorded(name, outcome)
        while (name := allocation.next()) is not None:
            if self.stop_at is not None and self.launched >= self.stop_at:
                return Measured("interrupted", "interrupted")
            self.launched += 1
            repeat = 1 + sum(one == name for one, _ in record)
            outcome = self.shows(description, known[name], repeat)
            record.append((name, outcome))
            allocation.settled(name, outcome)
            changed()
        return Measured()


@dataclass
class Kept:
    """A checkpoint in memory."""

    proposals: dict[int, Proposal] = field(default_factory=dict)

    def proposal(self, number: int) -> Proposal | None:
        return self.proposals.get(number)

    def keep(self, number: int, proposal: Proposal) -> None:
        self.proposals[number] = proposal


class Desk:
    """The real proposer over a scripted voice."""

    def __init__(self, replies: Any, refuse: Callable[[str], str | None] = lambda text: None) -> None:
        self.voice = ScriptedVoice(replies)
        self.ledger = BudgetLedger(Budget(), lambda what, **facts: None, Spend())
        admission = AdaptiveAdmission(1, self.ledger, PriceBook(free=True), 0.0)
        self.asker = Asker(self.voice, admission, "proposer", pause_seconds=0.0)
        self._refuse = refuse

    async def __call__(self, brief: Brief, taken: Sequence[str]) -> Proposal:
        return await propose(self.asker, brief, taken, self.ledger, self._refuse)

    @property
    def prompts(self) -> list[str]:
        return self.voice.prompts


def say(*descriptions: str) -> list[Mapping[str, str]]:
    return [{"description": text} for text in descriptions]


def search(
    what: Problem,
    shows: Shows,
    replies: Any,
    *,
    measure: FakeMeasure | None = None,
    kept: Kept | None = None,
    desk: Desk | None = None,
) -> Optimisation:
    """Run it to its end."""
    made = Search(what, measure or FakeMeasure(shows), desk or Desk(replies), kept or Kept())
    return anyio.run(made.run)


def by_side(**known: tuple[int, int]) -> Shows:
    """description → how many queries go right on train, and on test."""

    def shows(description: str, query: Query, repeat: int) -> bool:
        train, test = known.get(description, (0, 0))
        number = int(re.sub(r"\D", "", query.id))
        return query.should_trigger == (number < (train if query.id.startswith("train") else test))

    return shows
