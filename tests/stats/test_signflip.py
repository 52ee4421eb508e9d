"""Sign flips against brute force and scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skill_assay.stats.signflip import sign_flip, sign_test, smallest_p

DIFFERENCES = st.lists(st.integers(-12, 12).map(lambda k: k / 12), min_size=1, max_size=9)


def brute_force(weighted: list[float]) -> float:
    observed = abs(sum(weighted)) - 1e-9
    sums = [
        abs(sum(s * x for s, x in zip(signs, weighted, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(weighted))
    ]
    return sum(x >= observed for x in sums) / len(sums)


@given(DIFFERENCES)
def test_exact_p_is_brute_force(differences: list[float]) -> None:
    found = sign_flip(differences, seed=1, resamples=10)
    assert found.exact
    assert found.p == pytest.approx(brute_force(differences))


@given(DIFFERENCES.filter(lambda d: len(d) > 1), st.data())
def test_weights_enter_the_sums(differences: list[float], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=len(differences), max_size=len(differences)))
    found = sign_flip(differences, weights, seed=1, resamples=10)
    assert found.p == pytest.approx(brute_force([d * w for d, w in zip(differences, weights, strict=True)]))


def test_scipy_agrees() -> None:
    d = np.array([0.25, 0.5, -0.08, 0.3, 0.1, 0.75, 0.4, -0.2])
    expected = stats.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(d, seed=1, resamples=10).p == pytest.approx(expected.pvalue)


def test_twenty_evals_are_exact_and_21_are_not() -> None:
    d = np.linspace(-0.2, 0.5, 21)
    assert sign_flip(d[:20], seed=1, resamples=50).exact
    found = sign_flip(d, seed=1, resamples=50)
    assert not found.exact and found.resamples == 50


def test_monte_carlo_nears_the_exact_p() -> None:
    """A zero difference adds an eval and changes no sum, so 20 exact evals know the answer for 21."""
    d = np.random.default_rng(4).normal(0.08, 0.3, 20)
    exact = sign_flip(d, seed=1, resamples=1).p
    found = sign_flip([*d, 0.0], seed=1, resamples=20_000)
    assert not found.exact
    assert found.p == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5 + 1e-4)


def test_monte_carlo_p_is_never_0_and_repeats_by_seed() -> None:
    d = np.full(30, 0.5)
    found = sign_flip(d, seed=7, resamples=999)
    assert found.p == pytest.approx(1 / 1000)
    noisy = np.random.default_rng(1).normal(0.1, 0.3, 30)
    assert sign_flip(noisy, seed=7, resamples=999) == sign_flip(noisy, seed=7, resamples=999)


def test_smallest_p_says_why_six_evals() -> None:
    assert smallest_p(5) == pytest.approx(0.0625)
    assert smallest_p(6) == pytest.approx(0.03125)
    assert sign_flip([0.3] * 5, seed=1, resamples=10).p == pytest.approx(smallest_p(5))
    assert sign_flip([0.3] * 6, seed=1, resamples=10).p == pytest.approx(smallest_p(6))


@given(DIFFERENCES)
def test_sign_test_is_scipys(differences: list[float]) -> None:
    found = sign_test(differences)
    assert found.wins + found.ties + found.losses == len(differences)
    decided = found.wins + found.losses
    assert found.p == pytest.approx(stats.binomtest(found.wins, decided).pvalue if decided else 1.0)
