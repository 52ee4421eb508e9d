"""How long the full inference takes: 200 evals, two arms, five trials, 10,000 sign flips."""

from __future__ import annotations

from benches.figures import Figure, median, timed

NAME = "inference"
EVALS, TRIALS, FLIPS = 200, 5, 10_000


def measure() -> list[Figure]:
    from skill_assay.benchmark.inference import infer
    from skill_assay.model.benchmark_inputs import TrialOutcome
    from skill_assay.model.inference import InferenceSettings
    from skill_assay.stats.simulate import simulate, world_of

    drawn = simulate(world_of(0.05), evals=EVALS, trials=TRIALS, samples=1, seed=1)
    outcomes = [
        TrialOutcome(f"eval-{e}", arm, t + 1, float(scores[0, e, t]), tokens=9000.0 + 10 * e, seconds=30.0 + t)
        for arm, scores in (("with_skill", drawn.primary), ("without_skill", drawn.baseline))
        for e in range(EVALS)
        for t in range(TRIALS)
    ]
    settings = InferenceSettings(resamples=FLIPS)
    seconds = median(lambda: timed(lambda: infer(outcomes, "with_skill", "without_skill", settings)), 5)
    note = f"{EVALS} evals × 2 arms × {TRIALS} trials, {FLIPS:,} sign flips"
    return [Figure("full inference", seconds, "s", 2, note=note)]
