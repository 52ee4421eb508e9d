"""Do the statistics keep their promises? The verdict rule and the intervals, run on benchmarks with a known truth."""

from __future__ import annotations

from collections import Counter

import numpy as np

from skill_assay.stats.fixed_evals import fixed_evals
from skill_assay.stats.results import Calibration, EarlyCalibration, Spending
from skill_assay.stats.sampled_evals import sampled_evals
from skill_assay.stats.sequential import stop_at
from skill_assay.stats.simulate import World, simulate, true_effect
from skill_assay.stats.verdict import EVALS_TO_DECIDE, decide, decide_on_tasks

__all__ = ["calibrate", "calibrate_early"]


def calibrate(
    world: World, *, evals: int, trials: int, samples: int, seed: int, margin: float = 0.05, resamples: int = 2000
) -> Calibration:
    """Run the verdict rule on simulated benchmarks. Deterministic by seed.

    Args:
        world: the truth.
        evals: of each benchmark; below six the verdict is question 1's.
        trials: an arm and eval.
        samples: benchmarks.
        seed: of the benchmarks and of the tests' resampling.
        margin: what does not matter.
        resamples: random rearrangements where not all are counted.
    """
    drawn, truth = simulate(world, evals=evals, trials=trials, samples=samples, seed=seed), true_effect(world)
    verdicts, covered, intervals, naive = Counter[str](), 0, 0, 0
    for primary, baseline in zip(drawn.primary, drawn.baseline, strict=True):
        sampled = sampled_evals(primary.mean(axis=1) - baseline.mean(axis=1), seed=seed, resamples=resamples)
        if evals < EVALS_TO_DECIDE:
            fixed = fixed_evals(list(primary), list(baseline), seed=seed, resamples=resamples)
            verdicts[decide(sampled, fixed, margin=margin).verdict] += 1
        else:
            verdicts[decide_on_tasks(sampled, margin=margin).verdict] += 1
        naive += sampled.effect > 0
        if sampled.interval:
            intervals += 1
            covered += sampled.interval.low <= truth <= sampled.interval.high
    share = {word: verdicts[word] / samples for word in ("better", "worse", "equivalent", "inconclusive")}
    return Calibration(
        evals, trials, truth, samples, **share, naive_better=naive / samples, coverage=covered / max(1, intervals)
    )


def calibrate_early(
    world: World, *, evals: int, rounds: int, samples: int, seed: int, kind: Spending = "pocock", resamples: int = 1000
) -> EarlyCalibration:
    """Run `--stop early` on simulated benchmarks, a look after each round. Deterministic by seed."""
    drawn = simulate(world, evals=evals, trials=rounds, samples=samples, seed=seed)
    stops = [
        stop_at(differences, planned=rounds, kind=kind, seed=seed + number, resamples=resamples)
        for number, differences in enumerate(drawn.primary - drawn.baseline)
    ]
    run = float(np.mean([stop or rounds for stop in stops])) / rounds
    decided = sum(stop is not None for stop in stops) / samples
    return EarlyCalibration(evals, rounds, true_effect(world), samples, decided, 1 - run)
