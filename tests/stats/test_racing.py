"""The chance that a half-measured description comes out ahead."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.stats.racing import chance_of_at_least, pass_chance


@given(st.lists(st.floats(0, 1), max_size=7), st.integers(-1, 8))
def test_the_tail_is_that_of_all_outcomes(chances: list[float], wanted: int) -> None:
    whole = 0.0
    for outcome in itertools.product((0, 1), repeat=len(chances)):
        if sum(outcome) >= wanted:
            whole += math.prod(chance if one else 1 - chance for chance, one in zip(chances, outcome, strict=True))
    assert chance_of_at_least(wanted, chances) == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("label", [True, False])
def test_what_is_decided_is_certain(label: bool) -> None:
    facts = {"should_trigger": label, "passed_before": True}
    assert pass_chance(2, 0, 1, 0.5, **facts) == pytest.approx(1)
    assert pass_chance(0, 2, 1, 0.5, **facts) == pytest.approx(0)
    assert pass_chance(1, 1, 0, 0.5, **facts) == (1 if label else 0), "half is enough for a positive only"


@pytest.mark.parametrize("label", [True, False])
def test_better_runs_and_a_better_past_make_a_better_chance(label: bool) -> None:
    def chance(right: int, wrong: int, before: bool) -> float:
        left = 3 - right - wrong
        return pass_chance(right, wrong, left, 0.5, should_trigger=label, passed_before=before)

    assert chance(0, 1, True) < chance(0, 0, True) < chance(1, 0, True)
    assert chance(0, 0, False) < chance(0, 0, True)
    assert all(0 <= chance(right, wrong, True) <= 1 for right, wrong in [(0, 0), (1, 0), (0, 1), (1, 1)])
