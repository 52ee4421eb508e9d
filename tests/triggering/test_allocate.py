"""Fewer launches: the decisions of the full grid where that is promised, and as good a choice where it is not."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.model.triggers import Query
from skill_assay.stats.triggering import reaches
from skill_assay.triggering.allocate import Allocation, Effort, Rival
from tests.triggering.worlds import World, search_world

Outcome = Callable[[str, int], bool | None]


def made(count: int, offset: int = 0) -> list[Query]:
    return [Query(f"q{offset + n}", f"query {offset + n}", n % 2 == 0) for n in range(count)]


def play(allocation: Allocation, outcome: Outcome, workers: int = 1, seed: int = 0) -> int:
    """Run it to its end with so many runs at once, which end in any order; how many were launched."""
    chance, running, repeats, launched = random.Random(seed), [], {}, 0
    while True:
        while len(running) < workers and (query := allocation.next()) is not None:
            running.append(query)
            launched += 1
        if not running:
            assert allocation.finished
            return launched
        query = running.pop(chance.randrange(len(running)))
        repeats[query] = repeats.get(query, 0) + 1
        allocation.settled(query, outcome(query, repeats[query]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([True, False, None]), min_size=5, max_size=5), min_size=4, max_size=8),
    st.integers(1, 5),
    st.sampled_from([0.3, 0.5, 0.67, 1.0]),
    st.integers(1, 9),
    st.integers(0, 3),
)
def test_curtailed_sampling_decides_as_the_full_grid(
    rows: list[list[bool | None]], runs: int, threshold: float, workers: int, seed: int
) -> None:
    """Whatever the outcomes, failures among them, and whatever runs at once: the same pass or fail, never more runs."""
    queries = made(len(rows))
    table = {query.id: row for query, row in zip(queries, rows, strict=True)}
    half = len(queries) // 2

    def outcome(query: str, repeat: int) -> bool | None:
        return table[query][repeat - 1]

    allocation = Allocation(queries[:half], queries[half:], runs, threshold, "curtailed")
    launched = play(allocation, outcome, workers, seed)
    assert launched <= runs * len(queries)
    for tally in (*allocation.of("train"), *allocation.of("test")):
        every = [one for one in table[tally.query.id][:runs] if one is not None]
        whole = (reaches(sum(every), len(every), threshold) == tally.query.should_trigger) if every else None
        if whole is not None or tally.passed is None:
            assert tally.passed == whole
        else:
            pytest.fail("a query without a result was given one")


def test_curtailed_sampling_stops_two_of_three() -> None:
    allocation = Allocation(made(4), made(4, 4), 3, 0.5, "curtailed")
    assert play(allocation, lambda query, repeat: int(query[1:]) % 2 == 0) == 16


def test_the_full_grid_is_the_full_grid() -> None:
    allocation = Allocation(made(4), made(4, 4), 3, 0.5, "full")
    assert play(allocation, lambda query, repeat: True, workers=5) == 24


@pytest.mark.slow
@given(st.integers(0, 2**16), st.integers(0, 2**16), st.integers(0, 2**16))
@settings(max_examples=100, deadline=None)
def test_what_is_run_on_train_does_not_depend_on_test(train_seed: int, one: int, other: int) -> None:
    """Else the proposer would learn about test from how far train was run."""

    def told(test_seed: int) -> list[tuple[int, int]]:
        train, test = made(8), made(6, 100)
        lead = Rival({query.id: True for query in train}, frozenset(query.id for query in train[:4]))
        best = Rival({query.id: True for query in test[1:]} | {test[0].id: False})
        allocation = Allocation(train, test, 3, 0.5, lead=lead, best=best)

        def outcome(query: str, repeat: int) -> bool:
            seed = train_seed if int(query[1:]) < 100 else test_seed
            right = random.Random(f"{seed} {query} {repeat}").random() < 0.8
            return right == (int(query[1:]) % 2 == 0)

        play(allocation, outcome)
        return [(tally.fired, tally.silent) for tally in allocation.of("train")]

    assert told(one) == told(other)


def test_a_description_that_cannot_win_is_left() -> None:
    test = made(8)
    best = Rival({query.id: True for query in test} | {"q7": False})
    allocation = Allocation([], test, 3, 0.5, best=best, hard={"q7": 4})
    launched = play(allocation, lambda query, repeat: int(query[1:]) % 2 == 1)
    assert allocation.cannot_win
    assert launched <= 3
    assert allocation.of("test")[0].query.id == "q7", "the hardest query comes first"


def test_one_failed_query_leaves_a_chance_where_the_best_one_is_poor() -> None:
    test = made(8)
    best = Rival({query.id: n < 2 for n, query in enumerate(test)})
    allocation = Allocation([], test, 3, 0.5, best=best)
    play(allocation, lambda query, repeat: (int(query[1:]) % 2 == 0) == (query != "q3"))
    assert not allocation.cannot_win
    assert allocation.rival("test").passes == 7


def test_fault_1_runs_that_failed_are_no_silence() -> None:
    """A negative that only ever crashes does not pass, and a description is not left for its crashes alone."""
    query = Query("n", "no", False)
    allocation = Allocation([query], [], 3, 0.5, "curtailed")
    assert play(allocation, lambda query, repeat: None) == 3
    assert allocation.of("train")[0].passed is None


def test_a_resumed_allocation_goes_on() -> None:
    queries = made(4)
    whole = Allocation(queries, [], 3, 0.5, "curtailed")
    launched = play(whole, lambda query, repeat: True)
    resumed = Allocation(queries, [], 3, 0.5, "curtailed")
    resumed.recorded("q0", True)
    resumed.recorded("of another part", True)
    assert play(resumed, lambda query, repeat: True) == launched - 1
    assert [one.passed for one in resumed.of("train")] == [one.passed for one in whole.of("train")]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("slope", [1.8, 4.0])
def test_fault_7_half_the_launches_find_as_good_a_description(slope: float, workers: int) -> None:
    """Simulated searches with a known response curve: 20 queries, 3 runs, up to 5 rounds, the same chance for both.

    `slope` 1.8 has many queries that fire now and then, 4.0 mostly such as fire always or never. Quality is the true
    chance of a right run over 400 further queries.
    """
    samples, differences, launches, grids = 120, [], 0, 0
    gained = 0.0
    for seed in range(samples):
        world = World(seed, slope)
        whole, adaptive = (search_world(world, effort, workers) for effort in ("full", "adaptive"))
        differences.append(world.quality(adaptive.best) - world.quality(whole.best))
        gained += (world.quality(whole.best) - world.quality(world.start)) / samples
        launches += adaptive.launches
        grids += adaptive.grid
    loss = -sum(differences) / samples
    assert gained > 0.04, "the search finds something worth keeping at all"
    assert loss < 0.006, "about a tenth of what is gained, and within the noise of this many searches"
    assert launches <= 0.5 * grids


@pytest.mark.parametrize("effort", ["curtailed"])
def test_curtailed_searches_choose_as_the_full_grid_does(effort: Effort) -> None:
    for seed in range(15):
        world = World(seed, 1.8)
        whole, fewer = search_world(world, "full", 1), search_world(world, effort, 8)
        assert fewer.best == whole.best
        assert fewer.launches < 0.8 * whole.launches
