"""Designs side by side: what so many evals and trials can see, from an iteration's own spread or a stated prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_assay.benchmark.cells import Cells, cells
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.model.power import PowerRow, PowerTable

if TYPE_CHECKING:
    from skill_assay.stats.power import Spread
from skill_assay.reports.figures import count

__all__ = ["Measured", "eval_designs", "measured", "query_designs"]

PRIOR_BASIS = "assumed: tasks of middling difficulty, four expectations a trial (nothing was measured)"
QUERY_BASIS = "assumed: queries decided rightly in 70 % of runs (nothing was measured)"


@dataclass(frozen=True, slots=True)
class Measured:
    """What past trials say about a design."""

    evals: int
    trials: int
    """An arm and eval, rounded."""
    spread: Spread | None
    """`None` where no spread was seen."""
    cost_per_launch: float | None


def measured(outcomes: Sequence[TrialOutcome], primary: str, baseline: str) -> Measured:
    """The spread and the price of past trials of two arms."""
    from skill_assay.stats.power import spread_of

    used = cells(outcomes, primary, baseline)
    spread = spread_of(*used.scores(), used.weights) if used.eval_ids else None
    costs = [trial.cost_usd for trial in used.every if trial.cost_usd is not None]
    return Measured(len(used.eval_ids), _trials(used), spread, sum(costs) / len(costs) if costs else None)


def _trials(used: Cells) -> int:
    sizes = [len(cell) for cell in (*used.primary, *used.baseline)]
    return max(1, round(len(sizes) / sum(1 / size for size in sizes))) if sizes else 1


def eval_designs(
    evals: Sequence[int], trials: Sequence[int], effects: Sequence[float], *, past: Measured | None, price: float | None
) -> PowerTable:
    """Power of question 2 for every number of evals with every number of trials.

    Args:
        evals: numbers of evals.
        trials: numbers of trials an arm and eval; without repeated trials in the past only the past number is shown.
        effects: true mean differences, fractions.
        past: what was measured, or `None` for the prior.
        price: USD a launch, where known.
    """
    from skill_assay.stats.power import PRIOR, power, smallest_visible

    spread = past.spread if past and past.spread else PRIOR
    if not spread.split and past:
        trials = [past.trials]
    rows = [
        PowerRow(
            n,
            t,
            n * t * 2,
            None if price is None else n * t * 2 * price,
            {effect: power(effect, spread, evals=n, trials=t) for effect in effects},
            smallest_visible(spread, evals=n, trials=t),
        )
        for n in evals
        for t in trials
    ]
    if past is None or past.spread is None:
        return PowerTable("evals", PRIOR_BASIS, False, price, tuple(rows), spread.between, spread.within)
    basis = f"measured on {count(past.evals, 'eval')}, {count(past.trials, 'trial')} an arm"
    within = spread.within if spread.split else None
    return PowerTable("evals", basis, True, price, tuple(rows), spread.between, within)


def query_designs(
    queries: Sequence[int], runs: Sequence[int], effects: Sequence[float], *, price: float | None, seed: int
) -> PowerTable:
    """Power to tell two descriptions apart, and the precision of accuracy, for every size of a trigger set."""
    from skill_assay.stats.trigger_power import MEAN_ACCURACY, accuracy_reach, trigger_power

    possible = [effect for effect in effects if effect <= 1 - MEAN_ACCURACY + 1e-9]
    rows = [
        PowerRow(
            n,
            r,
            n * r * 2,
            None if price is None else n * r * 2 * price,
            {effect: trigger_power(effect, queries=n, runs=r, seed=seed) for effect in possible},
            reach=accuracy_reach(n),
        )
        for n in queries
        for r in runs
    ]
    return PowerTable("queries", QUERY_BASIS, False, price, tuple(rows))
