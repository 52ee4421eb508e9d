"""Figures of a classification, and runs that stop once their query is decided."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from skill_assay.stats.triggering import classify, curtailed_rate, decided_fires, reaches, stopping_point

THRESHOLDS = (0.25, 0.5, 2 / 3, 1.0)


def test_figures_count_queries() -> None:
    found = classify(9, 2, 1, 8, seed=1)
    shares = (found.accuracy, found.precision, found.recall, found.specificity)
    assert [(share.count, share.n) for share in shares] == [(17, 20), (9, 11), (9, 10), (8, 10)]
    recall, precision = found.recall.interval, found.precision.interval
    assert recall and precision
    # As the examples of the documentation show them.
    assert (round(recall.low, 2), round(recall.high, 2)) == (0.60, 0.98)
    assert (round(precision.low, 2), round(precision.high, 2)) == (0.52, 0.95)
    assert found.f1 == pytest.approx(18 / 21) and found.f1_interval
    assert found.f1_interval.low < found.f1 < found.f1_interval.high
    assert classify(9, 2, 1, 8, seed=1) == found


def test_what_was_not_counted_has_no_figure() -> None:
    found = classify(0, 0, 0, 5, seed=1)
    assert found.recall.value is None and found.precision.value is None and found.f1 is None
    assert found.recall.interval is None and found.specificity.value == 1.0


def full_grid(outcomes: Sequence[bool | None], threshold: float) -> bool | None:
    decided = [outcome for outcome in outcomes if outcome is not None]
    return reaches(sum(decided), len(decided), threshold) if decided else None


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("planned", [1, 2, 3, 4, 5])
def test_a_stopped_query_is_decided_as_the_full_grid_decides_it(planned: int, threshold: float) -> None:
    """Every way the runs may go, failures among them."""
    for outcomes in product((True, False, None), repeat=planned):
        stop = stopping_point(outcomes, planned, threshold)
        if stop is None:
            assert set(outcomes) == {None}
            continue
        seen = outcomes[:stop]
        decided = decided_fires(seen.count(True), seen.count(False), planned - stop, threshold)
        assert decided is full_grid(outcomes, threshold), outcomes


def test_stopping_saves_runs_and_never_stops_while_open() -> None:
    assert stopping_point([True, True], 3, 0.5) == 2
    assert stopping_point([True, False], 3, 0.5) is None
    assert stopping_point([None, None], 3, 0.5) is None


def expected(planned: int, threshold: float, p: float, failed: Sequence[bool], naive: bool) -> float:
    """The mean of the rate over every way the runs may go, those marked as failed apart."""
    total = 0.0
    for fired in product((True, False), repeat=planned - sum(failed)):
        rest = iter(fired)
        outcomes = [None if skip else next(rest) for skip in failed]
        chance = p ** fired.count(True) * (1 - p) ** fired.count(False)
        stop = stopping_point(outcomes, planned, threshold) or planned
        seen = [outcome for outcome in outcomes[:stop] if outcome is not None]
        rate = sum(seen) / len(seen) if naive else curtailed_rate(outcomes[:stop], planned, threshold)
        assert rate is not None
        total += chance * rate
    return total


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize(
    "failed", [[False] * 3, [False] * 5, [True, False, False], [False, True, False, False, True, False]]
)
def test_the_rate_of_a_stopped_query_is_unbiased(failed: list[bool], threshold: float, p: float) -> None:
    assert expected(len(failed), threshold, p, failed, naive=False) == pytest.approx(p)


def test_the_naive_rate_would_be_biased() -> None:
    assert expected(3, 0.5, 0.8, [False] * 3, naive=True) == pytest.approx(0.832)


def test_outcomes_after_the_stop_change_no_rate() -> None:
    assert curtailed_rate([True, True, False], 3, 0.5) == curtailed_rate([True, True], 3, 0.5) == 1.0
    assert curtailed_rate([None, None], 3, 0.5) is None
