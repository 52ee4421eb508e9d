"""Power of a trigger set: what must hold whatever the model's numbers."""

from __future__ import annotations

import pytest

from skill_assay.stats.intervals import wilson
from skill_assay.stats.trigger_power import accuracy_reach, trigger_power


def test_more_queries_and_larger_effects_see_more() -> None:
    powers = [trigger_power(0.2, queries=n, runs=3, seed=1) for n in (8, 20, 40, 80)]
    assert powers == sorted(powers) and powers[-1] > 0.8
    powers = [trigger_power(e, queries=40, runs=3, seed=1) for e in (0.05, 0.1, 0.2, 0.3)]
    assert powers == sorted(powers)


def test_no_effect_is_found_at_most_in_half_of_5_percent() -> None:
    assert trigger_power(1e-9, queries=40, runs=3, seed=2) <= 0.025 + 2.6 * (0.025 * 0.975 / 4000) ** 0.5


def test_five_queries_that_differ_can_never_decide() -> None:
    """Two-sided, 5 of 5 gives p = 0.0625: fewer than six queries that could differ are too few."""
    assert trigger_power(0.3, queries=5, runs=3, seed=1) == 0.0


def test_reach_is_half_of_wilsons_interval() -> None:
    interval = wilson(14, 20)
    assert interval and accuracy_reach(20) == pytest.approx((interval.high - interval.low) / 2)
