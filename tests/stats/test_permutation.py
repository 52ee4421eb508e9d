"""Label permutations within evals, against brute force and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from skill_assay.stats.permutation import _chances, label_permutation

OUTCOMES = st.lists(st.integers(0, 4).map(lambda k: k / 4), min_size=1, max_size=3)
EVALS = st.lists(st.tuples(OUTCOMES, OUTCOMES, st.sampled_from([1.0, 2.0])), min_size=1, max_size=3)


def p_of(evals: list[tuple[list[float], list[float], float]], **options: int) -> float:
    primary, baseline, weights = zip(*evals, strict=True)
    arrays = [[np.array(x) for x in side] for side in (primary, baseline)]
    return label_permutation(*arrays, np.array(weights), **{"seed": 1, "resamples": 2000, **options}).p


def brute_force(evals: list[tuple[list[float], list[float], float]]) -> float:
    total = sum(w for *_, w in evals)

    def choices(a: list[float], b: list[float], w: float) -> list[float]:
        pool, n = a + b, len(a)
        every = []
        for chosen in itertools.combinations(range(len(pool)), n):
            inside = [pool[i] for i in chosen]
            outside = [x for i, x in enumerate(pool) if i not in chosen]
            every.append(w / total * (np.mean(inside) - np.mean(outside)))
        return every

    observed = abs(sum(w / total * (np.mean(a) - np.mean(b)) for a, b, w in evals))
    sums = [abs(sum(x)) for x in itertools.product(*(choices(*e) for e in evals))]
    return float(np.mean([s >= observed - 1e-9 for s in sums]))


@settings(deadline=None, max_examples=60)
@given(EVALS)
def test_exact_p_is_brute_force(evals: list[tuple[list[float], list[float], float]]) -> None:
    assert p_of(evals) == pytest.approx(brute_force(evals))


@given(EVALS)
def test_swapping_arms_keeps_p(evals: list[tuple[list[float], list[float], float]]) -> None:
    assert p_of(evals) == pytest.approx(p_of([(b, a, w) for a, b, w in evals]))


def test_scipy_agrees_on_one_eval() -> None:
    a, b = np.array([1.0, 0.75, 1.0, 0.5]), np.array([0.25, 0.5, 0.75, 0.0])
    expected = stats.permutation_test(
        (a, b), lambda x, y, axis: np.abs(x.mean(axis) - y.mean(axis)), alternative="greater", vectorized=True
    )
    assert label_permutation([a], [b], np.ones(1), seed=1, resamples=10).p == pytest.approx(expected.pvalue)


def uneven(seed: int, evals: int = 8, trials: int = 5) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Outcomes without a common step, so that the exact distribution is too large."""
    rng = np.random.default_rng(seed)
    return [rng.random(trials) for _ in range(evals)], [rng.random(trials - k % 2) for k in range(evals)]


def test_large_designs_are_drawn_and_agree_with_another_way_of_drawing() -> None:
    primary, baseline = uneven(3)
    found = label_permutation(primary, baseline, np.ones(8), seed=1, resamples=10_000)
    assert not found.exact and found.resamples == 10_000
    rng = np.random.default_rng(77)
    observed = abs(np.mean([a.mean() - b.mean() for a, b in zip(primary, baseline, strict=True)]))
    sums = np.zeros(10_000)
    for a, b in zip(primary, baseline, strict=True):
        mixed = rng.permuted(np.tile(np.concatenate([a, b]), (10_000, 1)), axis=1)
        sums += (mixed[:, : len(a)].mean(axis=1) - mixed[:, len(a) :].mean(axis=1)) / 8
    assert found.p == pytest.approx(float((np.abs(sums) >= observed).mean()), abs=0.02)


def test_drawn_p_keeps_when_arms_are_swapped() -> None:
    primary, baseline = uneven(9)
    first = label_permutation(primary, baseline, np.ones(8), seed=1, resamples=3000)
    assert first == label_permutation(baseline, primary, np.ones(8), seed=1, resamples=3000)


def test_many_trials_of_one_eval_are_drawn() -> None:
    """More than 20,000 ways to label one eval."""
    rng = np.random.default_rng(2)
    a, b = rng.random(12), rng.random(12)
    found = label_permutation([a], [b], np.ones(1), seed=1, resamples=5000)
    expected = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.abs(x.mean(axis) - y.mean(axis)),
        alternative="greater",
        vectorized=True,
        n_resamples=5000,
        rng=np.random.default_rng(3),
    )
    assert not found.exact
    assert found.p == pytest.approx(expected.pvalue, abs=0.03)


def test_p_is_never_0() -> None:
    one, none = [np.ones(6) + k / 1000 for k in range(12)], [np.arange(6) / 1e4 + k / 977 for k in range(12)]
    found = label_permutation(one, none, np.ones(12), seed=1, resamples=99)
    assert found.p > 0


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.lists(st.integers(0, 6), min_size=3, max_size=9), st.data())
def test_ways_are_counted_as_brute_force_lists_them(parts: int, places: list[int], data: st.DataObject) -> None:
    """The shortcut for scores that are shares: the same sums with the same chances as every choice listed."""
    pool = np.array(sorted(places)) / parts + 0.25
    size = data.draw(st.integers(1, len(pool) - 1))
    found = _chances(pool, size)
    assert found is not None
    unit, ways = found
    sums = [sum(each) for each in itertools.combinations(pool, size)]
    for step, chance in enumerate(ways / ways.sum()):
        here = size * pool[0] + unit * step
        assert chance == pytest.approx(sum(abs(one - here) < 1e-9 for one in sums) / len(sums))


def test_outcomes_that_are_no_shares_are_not_counted() -> None:
    assert _chances(np.array([0.0, 0.1234567, 1.0]), 2) is None
