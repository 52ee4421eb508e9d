"""Worlds with a known response curve: how likely a description makes an agent pick a skill up for a query.

A description is a number a topic (how clearly it speaks of it) and one for its breadth. A query that should trigger is
of one topic; one that should not lies at some distance. The proposer reacts to the train queries that failed, with noise.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property

from skill_assay.model.triggers import Query
from skill_assay.triggering.allocate import Allocation, Effort, Rival
from skill_assay.triggering.split import split_queries

Description = tuple[float, ...]
TOPICS = 4


@dataclass(frozen=True)
class Found:
    best: Description
    launches: int
    grid: int


class World:
    def __init__(self, seed: int, slope: float) -> None:
        self.seed, self.slope = seed, slope
        self._chance = random.Random(seed)
        self._facts: dict[str, tuple[int, float]] = {}
        self.queries = self._made(20, 0)
        self._others = self._made(400, 1000)
        clear = [self._chance.uniform(-1.0, 1.5) for _ in range(TOPICS)]
        self.start: Description = (*clear, self._chance.uniform(-0.5, 1.0))
        self._known: dict[Description, float] = {}

    def _made(self, count: int, offset: int) -> list[Query]:
        queries = [Query(str(offset + n), f"query {offset + n}", n % 2 == 0) for n in range(count)]
        for query in queries:
            self._facts[query.id] = (self._chance.randrange(TOPICS), self._chance.gauss(0, 1))
        return queries

    def rate(self, description: Description, query: Query) -> float:
        """The true chance that it fires."""
        topic, difficulty = self._facts[query.id]
        clear, broad = description[topic], description[TOPICS]
        x = (
            clear + 0.6 - difficulty + 0.4 * broad
            if query.should_trigger
            else 1.2 * broad + 0.15 * clear - 1.2 - difficulty
        )
        return 1 / (1 + math.exp(-self.slope * x))

    def fires(self, description: Description, query: Query, repeat: int) -> bool:
        return random.Random(f"{self.seed} {description} {query.id} {repeat}").random() < self.rate(description, query)

    def quality(self, description: Description) -> float:
        """The true chance of a right run, over queries nobody has seen."""
        if description not in self._known:
            rates = [(self.rate(description, query), query.should_trigger) for query in self._others]
            self._known[description] = sum(rate if wanted else 1 - rate for rate, wanted in rates) / len(rates)
        return self._known[description]

    def propose(self, base: Description, failed: list[Query], number: int) -> Description:
        chance, values = random.Random(f"{self.seed} {number} {base}"), list(base)
        for query in failed:
            if query.should_trigger:
                values[self._facts[query.id][0]] += 0.5
            else:
                values[TOPICS] -= 0.35
        return tuple(value + chance.gauss(0, 0.5) for value in values)

    @cached_property
    def by_id(self) -> dict[str, Query]:
        return {query.id: query for query in self.queries}


def measure_world(world: World, description: Description, allocation: Allocation, workers: int) -> None:
    running: list[str] = []
    repeats: dict[str, int] = {}
    while True:
        while len(running) < workers and (query := allocation.next()) is not None:
            running.append(query)
        if not running:
            return
        query = running.pop(0)
        repeats[query] = repeats.get(query, 0) + 1
        allocation.settled(query, world.fires(description, world.by_id[query], repeats[query]))


def search_world(world: World, effort: Effort, workers: int, rounds: int = 5, runs: int = 3) -> Found:
    """The rules of `triggering.optimise.Search` without its records, so that thousands can be run."""
    splits, description = split_queries(world.queries), world.start
    lead: Rival | None = None
    best: Rival | None = None
    chosen, base, failed = description, description, list[Query]()
    hard: dict[str, int] = {}
    launches = number = 0
    for number in range(1, rounds + 1):
        allocation = Allocation(splits.train, splits.test, runs, 0.5, effort, lead=lead, best=best, hard=hard)
        measure_world(world, description, allocation, workers)
        launches += allocation.done
        test, train = allocation.rival("test"), allocation.rival("train")
        if best is None or (not allocation.cannot_win and test.passes > best.passes):
            best, chosen = test, description
        if lead is None or (not allocation.cannot_lead and train.passes >= lead.passes):
            lead, base = train, description
            failed = [world.by_id[name] for name, passed in train.passed.items() if passed is False]
        for name, passed in test.passed.items():
            hard[name] = hard.get(name, 0) + (passed is False)
        if all(tally.passed and tally.sure for tally in allocation.of("train")):
            break
        description = world.propose(base, failed, number)
    return Found(chosen, launches, number * runs * len(world.queries))
