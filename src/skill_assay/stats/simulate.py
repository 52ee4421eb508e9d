"""The project's simulator: benchmarks with a known truth, against which the statistics are checked.

A task's difficulty is its pass probability without the skill, Beta(2, 2). A trial has four expectations whose outcomes
correlate by 0.3 within the trial; its outcome is the share that passed. The effect is added to the pass probability
and clipped to [0, 1]; it may differ from task to task. Time limits: a trial's time is log-normal, longer where it
fails, and the primary arm may be slower by a factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Samples", "World", "raw_effect", "simulate", "true_effect", "world_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """How tasks, trials and the skill behave."""

    effect: float = 0.0
    """Added to the pass probability, before clipping."""
    effect_spread: float = 0.0
    """Standard deviation of the added effect over tasks."""
    expectations: int = 4
    """1 is all-or-nothing."""
    correlation: float = 0.3
    """Of two expectations within a trial."""
    time_limit: float | None = None
    """In units of the baseline's median time; `None`: no trial times out."""
    slower: float = 1.0
    """The primary arm's time as a multiple of the baseline's."""
    failing_slower: float = 1.5
    """The time of a trial that passes nothing as a multiple of one that passes all."""
    time_spread: float = 0.5
    """Standard deviation of the log time of a trial."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Simulated benchmarks; arrays have shape (samples, evals, trials)."""

    primary: Floats
    baseline: Floats
    primary_timed_out: NDArray[np.bool_]
    baseline_timed_out: NDArray[np.bool_]


def simulate(world: World, *, evals: int, trials: int, samples: int, seed: int) -> Samples:
    """Draw benchmarks of a world. Deterministic by seed."""
    rng = np.random.default_rng(seed)
    without, with_skill = _probabilities(world, (samples, evals), rng)
    arms = []
    for chance, factor in ((with_skill, world.slower), (without, 1.0)):
        outcome = _outcomes(world, np.repeat(chance[..., None], trials, axis=2), rng)
        arms.append((outcome, _timed_out(world, outcome, factor, rng)))
    (primary, late), (baseline, late_baseline) = arms
    return Samples(primary, baseline, late, late_baseline)


def _probabilities(world: World, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Pass probabilities without and with the skill."""
    without = rng.beta(2.0, 2.0, shape)
    added = world.effect + world.effect_spread * rng.standard_normal(shape)
    return without, np.clip(without + added, 0.0, 1.0)


def _outcomes(world: World, chance: Floats, rng: np.random.Generator) -> Floats:
    """Share of expectations passed: each copies the trial's common draw with probability sqrt(correlation)."""
    copies = rng.binomial(world.expectations, math.sqrt(world.correlation), chance.shape)
    own = rng.binomial(world.expectations - copies, chance)
    common = rng.random(chance.shape) < chance
    result: Floats = (own + copies * common) / world.expectations
    return result


def _timed_out(world: World, outcome: Floats, factor: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    if world.time_limit is None:
        return np.zeros(outcome.shape, bool)
    noise = world.time_spread * rng.standard_normal(outcome.shape)
    late: NDArray[np.bool_] = factor * world.failing_slower ** (1 - outcome) * np.exp(noise) > world.time_limit
    return late


def true_effect(world: World) -> float:
    """The mean effect over tasks after clipping, by quadrature over difficulty (and over the effect's spread)."""
    difficulty = (np.arange(2000) + 0.5) / 2000
    density = 6 * difficulty * (1 - difficulty) / 2000
    nodes, mass = np.polynomial.hermite_e.hermegauss(81)
    added = world.effect + world.effect_spread * nodes
    change = np.clip(difficulty[:, None] + added, 0.0, 1.0) - difficulty[:, None]
    return float(density @ change @ (mass / mass.sum()))


def raw_effect(world: World, wanted: float) -> World:
    """The world whose mean effect after clipping is the wanted one, between -0.45 and 0.45."""
    low, high = -1.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if true_effect(replace(world, effect=middle)) < wanted else (low, middle)
    return replace(world, effect=(low + high) / 2)


def world_of(effect: float) -> World:
    """The usual world with this mean effect: identical arms at 0, else effects that differ by 15 points over tasks."""
    return raw_effect(World(effect_spread=0.15), effect) if effect else World()
