"""The best of several: its luck is in the null distribution."""

from __future__ import annotations

import random

import pytest

from skill_assay.stats.selection import ENOUGH_QUERIES, best_of_candidates, queries_for_significance, sign_p


def test_four_to_seven_of_eight_is_weak() -> None:
    """The figure that the design gives: p = 0.25."""
    original = [True] * 4 + [False] * 4
    candidate = [True] * 7 + [False]
    found = best_of_candidates(original, [candidate], 3, seed=1)
    assert found.exact and found.p == pytest.approx(0.25)


def test_the_same_gain_among_more_candidates_is_weaker() -> None:
    original = [False] * 8
    good = [True] * 7 + [False]
    others = [[n != k for n in range(8)] for k in range(4)]
    alone = best_of_candidates(original, [good], 7, seed=1).p
    among = best_of_candidates(original, [good, *others], 7, seed=1).p
    assert alone == pytest.approx(2 / 2**7)
    assert among > 1.5 * alone


def test_candidates_like_the_original_add_no_evidence() -> None:
    """However many of them: five queries stay too few."""
    original, good = [False] * 5, [True] * 5
    assert best_of_candidates(original, [good, *[[False] * 5] * 4], 5, seed=1).p > 0.05


def test_five_queries_can_never_decide_and_six_can() -> None:
    assert sign_p(ENOUGH_QUERIES - 1, 0) > 0.05 >= sign_p(ENOUGH_QUERIES, 0)


def test_fault_17_without_a_difference_the_winner_is_rarely_significant() -> None:
    """Five descriptions that are all the same in truth: the best of them is called significant in at most 5 %.

    The naive test of the winner alone is not: that is what the permutation of the maximum is for.
    """
    chance, false, naive, times = random.Random(3), 0, 0, 400
    for _ in range(times):
        rates = [chance.random() for _ in range(12)]
        rows = [[chance.random() < rate for rate in rates] for _ in range(6)]
        original, candidates = rows[0], rows[1:]
        gain, best = max((sum(row) - sum(original), number) for number, row in enumerate(candidates))
        if gain <= 0:
            continue
        # As in a run: the others were stopped once they could not win any more.
        known: list[list[bool | None]] = [
            list(row) if number == best else [*row[:7], *([None] * 5)] for number, row in enumerate(candidates)
        ]
        false += best_of_candidates(original, known, gain, seed=1, resamples=400).p <= 0.05
        pairs = list(zip(candidates[best], original, strict=True))
        naive += sign_p(sum(m and not t for m, t in pairs), sum(t and not m for m, t in pairs)) <= 0.10
    assert false / times <= 0.05 + 0.022
    assert naive > false


def test_a_gain_on_every_query_is_significant_and_none_is_not() -> None:
    original, better = [False] * 12, [True] * 12
    same = [False] * 12
    assert best_of_candidates(original, [better, same], 12, seed=1).p < 0.01
    assert best_of_candidates(original, [same, same], 0, seed=1).p == 1.0
    assert best_of_candidates(original, [], 0, seed=1).p == 1.0


def test_how_many_queries_would_do() -> None:
    wanted = queries_for_significance(3, 0, 8, 1)
    assert wanted is not None and wanted > 8
    assert sign_p(round(3 * wanted / 8), 0) <= 0.05
    assert queries_for_significance(3, 0, 8, 5) > wanted  # type: ignore[operator]
    assert queries_for_significance(2, 2, 8, 1) is None
