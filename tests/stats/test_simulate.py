"""The simulator does what it says, so that what is calibrated against it means something."""

from __future__ import annotations

import numpy as np
import pytest

from skill_assay.stats.simulate import World, raw_effect, simulate, true_effect


def test_it_repeats_by_seed() -> None:
    first, again = (simulate(World(effect=0.1), evals=5, trials=2, samples=3, seed=9) for _ in range(2))
    other = simulate(World(effect=0.1), evals=5, trials=2, samples=3, seed=10)
    assert (first.primary == again.primary).all() and (first.baseline == again.baseline).all()
    assert (first.primary != other.primary).any()


def test_difficulty_and_correlation_are_as_stated() -> None:
    """Beta(2, 2): mean 1/2, variance 1/20; within a trial Var = E[p(1-p)] (1 + 3 x 0.3) / 4 = 0.2 x 1.9 / 4."""
    drawn = simulate(World(), evals=20_000, trials=4, samples=1, seed=1).baseline[0]
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)
    assert drawn.var(axis=1, ddof=1).mean() == pytest.approx(0.095, abs=0.002)
    assert drawn.mean(axis=1).var(ddof=1) == pytest.approx(1 / 20 + 0.095 / 4, abs=0.003)


def test_all_or_nothing_is_0_or_1() -> None:
    drawn = simulate(World(expectations=1), evals=50, trials=3, samples=2, seed=1)
    assert set(np.unique(drawn.primary)) == {0.0, 1.0}


@pytest.mark.parametrize("world", [World(effect=0.3), World(effect=0.3, effect_spread=0.15), World(effect=-0.6)])
def test_true_effect_is_what_simulation_gives(world: World) -> None:
    drawn = simulate(world, evals=40_000, trials=4, samples=1, seed=3)
    assert true_effect(world) == pytest.approx(float((drawn.primary - drawn.baseline).mean()), abs=0.006)


def test_raw_effect_inverts_clipping() -> None:
    world = raw_effect(World(effect_spread=0.15), 0.22)
    assert world.effect > 0.22
    assert true_effect(world) == pytest.approx(0.22, abs=1e-6)


def test_a_slower_arm_times_out_more_and_in_its_failing_trials() -> None:
    drawn = simulate(World(time_limit=2.0, slower=1.6), evals=5000, trials=3, samples=1, seed=2)
    late, late_baseline = drawn.primary_timed_out, drawn.baseline_timed_out
    assert late.mean() > 1.5 * late_baseline.mean() > 0
    assert drawn.primary[late].mean() < drawn.primary[~late].mean() - 0.1
    assert not simulate(World(), evals=5, trials=2, samples=1, seed=1).primary_timed_out.any()
