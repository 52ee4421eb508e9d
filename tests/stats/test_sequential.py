"""Early looks: exact by brute force, nested, and honest about what is left out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from skill_assay.stats.sequential import look, spent, stop_at
from skill_assay.stats.signflip import sign_flip
from skill_assay.stats.simulate import World, simulate


def paired(effect: float, *, evals: int = 20, rounds: int = 5, seed: int = 1) -> np.ndarray:
    drawn = simulate(World(effect=effect), evals=evals, trials=rounds, samples=1, seed=seed)
    return (drawn.primary - drawn.baseline)[0]


@pytest.mark.parametrize("kind", ["pocock", "obrien_fleming"])
def test_spending_begins_at_0_grows_and_ends_at_5_percent(kind: str) -> None:
    amounts = [spent(k / 100, kind) for k in range(1, 101)]  # type: ignore[arg-type]
    assert amounts == sorted(amounts) and amounts[0] < 0.001
    assert amounts[-1] == pytest.approx(0.05)


def test_spending_functions_of_lan_and_demets() -> None:
    assert spent(0.5, "pocock") == pytest.approx(0.05 * math.log(1 + (math.e - 1) / 2))
    assert spent(0.5, "obrien_fleming") == pytest.approx(0.00557, abs=1e-4)
    assert spent(0.2, "obrien_fleming") < 0.0001 < 0.01 < spent(0.2, "pocock")


def test_one_planned_round_is_the_sign_flip_test() -> None:
    """With one look nothing is spent twice: crossing is p <= 0.05."""
    for seed in range(12):
        d = paired(0.12, rounds=1, seed=seed)
        p = sign_flip(d[:, 0], seed=1, resamples=1).p
        if abs(p - 0.05) > 0.012:
            assert look(d, planned=1, seed=3, interval=False).crossed == (p <= 0.05)


def test_few_relabellings_cannot_cross() -> None:
    """Two evals in one round have two sizes of effect: half of the relabellings reach the largest."""
    found = look([[1.0], [1.0]], planned=5, seed=1)
    assert found.boundary is None and not found.crossed and found.interval is None


def brute_boundaries(d: np.ndarray, planned: int) -> list[float]:
    """Boundaries of two looks from all relabellings; the second among those alive after the first."""
    evals = len(d)
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=evals * 2))).reshape(-1, 2, evals)
    first = np.abs(signs[:, 0] @ d[:, 0]) / evals
    second = np.abs(signs[:, 0] @ d[:, 0] + signs[:, 1] @ d[:, 1]) / evals / 2

    def smallest(sizes: np.ndarray, allowed: float) -> float:
        ordered = np.sort(sizes)
        values = np.unique(np.round(sizes, 12))
        reached = len(ordered) - np.searchsorted(ordered, values - 1e-9)
        return float(values[reached <= allowed][0])

    boundary = smallest(first, len(signs) * spent(1 / planned))
    alive = first < boundary - 1e-9
    used = (~alive).sum()
    return [boundary, smallest(second[alive], len(signs) * spent(2 / planned) - used)]


@pytest.mark.parametrize("evals", [7, 8])
def test_boundaries_are_brute_force(evals: int) -> None:
    d = np.random.default_rng(12).normal(0.1, 0.3, (evals, 2))
    found = [look(d[:, :k], planned=4, seed=1, resamples=40_000, interval=False).boundary for k in (1, 2)]
    assert found == pytest.approx(brute_boundaries(d, 4), rel=0.02)


def test_a_look_needs_no_memory() -> None:
    """Later rounds don't move earlier boundaries: the stop found at once is the stop found look by look."""
    for seed in range(8):
        d = paired(0.2, seed=seed)
        one_by_one = next((k for k in range(1, 6) if look(d[:, :k], planned=5, seed=2, interval=False).crossed), None)
        assert stop_at(d, planned=5, seed=2) == one_by_one


@pytest.mark.slow
def test_no_more_relabellings_cross_than_were_allowed() -> None:
    """Relabel the data itself at random: the share that ever stops is at most 5 %, whatever the data."""
    d, rng = paired(0.3, seed=5), np.random.default_rng(6)
    stops = [stop_at(d * rng.choice([-1.0, 1.0], d.shape), planned=5, seed=k, resamples=500) for k in range(600)]
    share = sum(stop is not None for stop in stops) / 600
    assert 0.02 < share <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / 600)


def test_swapping_arms_flips_the_sign_and_nothing_else() -> None:
    d = paired(0.2, seed=4)[:, :3]
    there, back = look(d, planned=5, seed=1), look(-d, planned=5, seed=1)
    assert there.crossed == back.crossed and there.boundary == pytest.approx(back.boundary)
    assert there.interval and back.interval
    assert there.interval.low == pytest.approx(-back.interval.high, abs=0.02)


def test_interval_leaves_0_out_exactly_when_the_boundary_is_crossed() -> None:
    for seed in range(10):
        found = look(paired(0.13, seed=seed)[:, :4], planned=5, seed=1)
        assert found.interval is not None
        assert found.interval.low < found.effect < found.interval.high
        assert found.interval.off_zero == found.crossed


def test_a_pair_with_an_excluded_trial_is_left_out() -> None:
    d = paired(0.2, seed=3)[:, :2].copy()
    d[4, 1] = math.nan
    found = look(d, planned=5, seed=1)
    expected = np.mean([*d[:4].mean(axis=1), d[4, 0], *d[5:].mean(axis=1)])
    assert found.effect == pytest.approx(expected)
    d[7] = math.nan
    assert look(d, planned=5, seed=1).effect == pytest.approx(np.nanmean(np.nanmean(np.delete(d, 7, 0), axis=1)))


def test_weights_weigh_the_evals() -> None:
    d = paired(0.2, evals=8, seed=3)[:, :2]
    weights = np.arange(1, 9)
    assert look(d, weights, planned=5, seed=1).effect == pytest.approx(np.average(d.mean(axis=1), weights=weights))
