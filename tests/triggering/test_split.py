"""The split: skill-creator's membership, fields that win, no text on two sides, nothing degenerate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.model.triggers import Query
from skill_assay.triggering.split import Splits, split_queries


def made(positives: int, negatives: int) -> list[Query]:
    labels = [True] * positives + [False] * negatives
    return [Query(str(number), f"query {number}", label) for number, label in enumerate(labels)]


def texts(queries: tuple[Query, ...]) -> list[str]:
    return [query.text for query in queries]


@pytest.mark.parametrize("name", ["2_2", "3_3", "5_15", "10_10", "12_8"])
def test_membership_and_order_are_those_of_skill_creator(shared_data: Path, name: str) -> None:
    known = json.loads((shared_data / "oracle" / "split" / f"{name}.json").read_text(encoding="utf-8"))
    queries = [Query(str(number), one["query"], one["should_trigger"]) for number, one in enumerate(known["input"])]
    found = split_queries(queries, holdout=known["holdout"], seed=known["seed"])
    assert texts(found.train) == known["train"]
    assert texts(found.test) == known["test"]


def test_it_is_the_documented_algorithm() -> None:
    """Worked by hand with the same shuffles, so that the promise holds where the recorded lists are absent."""
    import random

    queries, chance = made(5, 7), random.Random(7)
    positives, negatives = queries[:5], queries[5:]
    chance.shuffle(positives)
    chance.shuffle(negatives)
    found = split_queries(queries, holdout=0.4, seed=7)
    assert found.test == (*positives[:2], *negatives[:2])
    assert found.train == (*positives[2:], *negatives[2:])


def test_the_split_fields_win() -> None:
    queries = made(6, 6)
    queries[0] = Query("0", "query 0", True, split="test")
    queries[1] = Query("1", "query 1", True, split="train")
    queries[11] = Query("11", "query 11", False, split="fresh")
    for seed in range(20):
        found = split_queries([*queries, Query("12", "query 12", True, split="fresh")], seed=seed)
        assert queries[0] in found.test and queries[1] in found.train and queries[11] in found.fresh
        assert sum(query.should_trigger for query in found.test) == 2


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=8, max_size=30),
    st.integers(0, 5),
    st.sampled_from([0.0, 0.2]),
)
def test_fault_18_no_text_is_on_two_sides(rows: list[tuple[int, bool]], seed: int, fresh: float) -> None:
    """One text may stand several times (other files, other case): all of them go to one side, and none is lost."""
    spellings = ("ask {}", "Ask  {}", "ASK {} ")
    queries = [
        Query(str(number), spellings[number % 3].format(text), label, files=(f"f{number}",))
        for number, (text, label) in enumerate(rows)
    ]
    try:
        found = split_queries(queries, seed=seed, fresh=fresh)
    except InputError:
        return
    sides = [{text.casefold().strip().replace("  ", " ") for text in texts(side)} for side in _all(found)]
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
    assert sorted(query.id for side in _all(found) for query in side) == sorted(query.id for query in queries)


def _all(found: Splits) -> tuple[tuple[Query, ...], ...]:
    return found.train, found.test, found.fresh


def test_one_text_with_two_fields_is_refused() -> None:
    queries = [*made(4, 4), Query("a", "Same", True, split="train"), Query("b", "same", True, ("test"), files=("x",))]
    with pytest.raises(InputError, match="two splits") as caught:
        split_queries(queries, file="triggers.json")
    assert "'same' in train and test" in str(caught.value)


def test_fresh_is_taken_out_of_train_and_leaves_test_as_it_was() -> None:
    queries = made(10, 10)
    plain, with_fresh = split_queries(queries), split_queries(queries, fresh=0.2)
    assert with_fresh.test == plain.test
    assert set(with_fresh.train) | set(with_fresh.fresh) == set(plain.train)
    assert [query.should_trigger for query in with_fresh.fresh] == [True, True, False, False]


@pytest.mark.parametrize(
    ("positives", "negatives", "fresh", "said"),
    [
        (1, 5, 0.0, "Add at least 1 with should_trigger true"),
        (0, 5, 0.0, "Add at least 2 with should_trigger true"),
        (5, 0, 0.0, "Add at least 2 with should_trigger false"),
        (1, 1, 0.0, "1 with should_trigger true and 1 with should_trigger false"),
        (2, 5, 0.2, "Add at least 1 with should_trigger true"),
    ],
)
def test_fault_18_degenerate_splits_are_refused_with_what_to_add(
    positives: int, negatives: int, fresh: float, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        split_queries(made(positives, negatives), fresh=fresh, file="triggers.json")
    assert said in str(caught.value) and "triggers.json" in str(caught.value)


def test_fields_that_leave_a_side_empty_are_named() -> None:
    queries = [Query(str(n), f"q{n}", n % 2 == 0, split="train") for n in range(8)]
    with pytest.raises(InputError, match="`split` fields"):
        split_queries(queries)


@pytest.mark.parametrize(("holdout", "fresh"), [(0.0, 0.0), (1.0, 0.0), (0.6, 0.4), (-0.1, 0.0), (0.4, -0.1)])
def test_shares_that_leave_nothing_are_refused(holdout: float, fresh: float) -> None:
    with pytest.raises(InputError, match="no queries to train on"):
        split_queries(made(5, 5), holdout=holdout, fresh=fresh)
