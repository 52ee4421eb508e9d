"""Power: against scipy, against simulation, and the plans made from it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from skill_assay.stats.calibrate import calibrate
from skill_assay.stats.power import (
    PRIOR,
    Spread,
    evals_needed,
    power,
    smallest_visible,
    smallest_visible_on_these,
    spread_of,
    trials_needed,
)
from skill_assay.stats.simulate import World, raw_effect, simulate

SMOOTH = Spread(between=0.1, within=0.3)


def test_without_ties_it_is_the_t_tests_power_at_the_level_signs_can_reach() -> None:
    deviation, level = SMOOTH.of_difference(3), 12 / 256
    critical = stats.t.ppf(1 - level / 2, 7)
    expected = stats.nct.sf(critical, 7, 0.22 / deviation * math.sqrt(8))
    assert power(0.22, SMOOTH, evals=8, trials=3) == pytest.approx(expected, abs=1e-6)


def test_no_power_below_six_evals() -> None:
    assert power(1.0, SMOOTH, evals=5, trials=10) == 0.0
    assert smallest_visible(SMOOTH, evals=5, trials=10) is None


def test_plans_reach_the_power_and_no_fewer_do() -> None:
    evals = evals_needed(0.1, SMOOTH, trials=3)
    assert evals is not None
    assert power(0.1, SMOOTH, evals=evals, trials=3) >= 0.8 > power(0.1, SMOOTH, evals=evals - 1, trials=3)
    trials = trials_needed(0.15, SMOOTH, evals=20)
    assert trials is not None
    assert power(0.15, SMOOTH, evals=20, trials=trials) >= 0.8 > power(0.15, SMOOTH, evals=20, trials=trials - 1)
    visible = smallest_visible(SMOOTH, evals=15, trials=3)
    assert visible is not None
    assert power(visible, SMOOTH, evals=15, trials=3) == pytest.approx(0.8, abs=1e-3)


def test_where_no_design_is_enough_there_is_none() -> None:
    assert evals_needed(0.001, SMOOTH, trials=3) is None
    assert trials_needed(0.05, Spread(between=0.3, within=0.3), evals=20) is None
    assert trials_needed(0.3, replace(SMOOTH, split=False), evals=20) is None


def test_question_1s_visible_effect() -> None:
    """(t(0.975) + t(0.8)) standard errors; with many degrees of freedom 2.80."""
    assert smallest_visible_on_these(0.1, 1e6) == pytest.approx(0.2802, abs=1e-3)
    assert smallest_visible_on_these(0.5, 3) is None


def test_spread_is_recovered_from_simulated_outcomes() -> None:
    world = World(effect=0.15, effect_spread=0.15)
    drawn = simulate(world, evals=4000, trials=4, samples=1, seed=2)
    found = spread_of(list(drawn.primary[0]), list(drawn.baseline[0]))
    assert found and found.split
    assert found.within == pytest.approx(PRIOR.within, abs=0.01)
    assert found.between == pytest.approx(PRIOR.between, abs=0.02)
    assert found.step == pytest.approx(PRIOR.step, abs=0.08)


def test_without_repeated_trials_the_noise_is_not_split() -> None:
    found = spread_of([[1.0], [0.5], [0.25]], [[0.0], [0.5], [0.5]])
    assert found and not found.split and found.within == 0
    assert found.of_difference(1) == pytest.approx(stats.tstd([1.0, 0.0, -0.25]))


def test_no_spread_is_not_a_plan() -> None:
    assert spread_of([[1.0, 1.0]] * 3, [[0.0, 0.0]] * 3) is None
    assert spread_of([[1.0, 0.0]], [[0.0, 0.0]]) is None


@pytest.mark.slow
@pytest.mark.parametrize("expectations", [4, 2, 1])
@pytest.mark.parametrize("evals", [6, 8, 15, 30])
def test_approximation_is_within_6_points_of_simulation(evals: int, expectations: int) -> None:
    world = raw_effect(World(effect_spread=0.15, expectations=expectations), 0.22)
    drawn = simulate(world, evals=2000, trials=3, samples=1, seed=6)
    spread = spread_of(list(drawn.primary[0]), list(drawn.baseline[0]))
    assert spread
    measured = calibrate(world, evals=evals, trials=3, samples=1200, seed=4, resamples=1000).better
    assert power(0.22, spread, evals=evals, trials=3) == pytest.approx(measured, abs=0.06)
