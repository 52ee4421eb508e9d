"""Descriptive figures: what is, not what may be concluded from it.

Estimands: per arm, the mean over all trials of the trial outcome (the share of counted, decided expectations that
passed), of seconds and of tokens, each with the sample standard deviation (n - 1; 0.0 when n = 1), as in
skill-creator's files. A trial's rate enters as its file states it (rounded), so that the figures agree with theirs;
what is inferred uses the exact `Run.score`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from skill_assay.model.benchmark import (
    ArmFigures,
    Benchmark,
    DeadExpectation,
    EvalArm,
    FoundArm,
    FoundEval,
    Run,
    Spread,
)

__all__ = ["arm_figures", "dead_expectations", "delta_strings", "eval_arm", "ratio", "spread"]


def spread(values: Iterable[float]) -> Spread | None:
    """Mean, sample standard deviation, least and greatest; `None` without any value, never 0."""
    found = list(values)
    if not found:
        return None
    mean = math.fsum(found) / len(found)
    variance = math.fsum((value - mean) ** 2 for value in found) / (len(found) - 1) if len(found) > 1 else 0.0
    return Spread(mean, math.sqrt(variance), min(found), max(found), len(found))


def arm_figures(arm: FoundArm, runs: Sequence[Run], requested: int) -> ArmFigures:
    """One arm over all its trials."""
    counted = [(run, score) for run in runs if (score := run.score) is not None]
    used = [run.skill_used for run in runs if run.excluded is None and run.skill_used is not None]
    return ArmFigures(
        arm=arm,
        requested=requested,
        completed=len(counted),
        pass_rate=spread(rate for run, _ in counted if (rate := run.shown_rate) is not None),
        seconds=spread(run.seconds for run, _ in counted if run.seconds is not None),
        tokens=spread(run.tokens for run, _ in counted if run.tokens is not None),
        cost_usd=spread(run.cost_usd for run, _ in counted if run.cost_usd is not None),
        used=sum(used),
        use_known=len(used),
        suite_stddev=_suite_stddev(counted),
        capped=sum(run.failure == "trial_cap" for run, _ in counted),
        excluded=Counter(run.excluded for run in runs if run.excluded is not None),
    )


def eval_arm(runs: Sequence[Run], requested: int) -> EvalArm:
    """One eval in one arm; `runs` in order of repeat."""
    scores = tuple(run.score for run in runs)
    found = spread(score for score in scores if score is not None)
    counted = [run for run, score in zip(runs, scores, strict=True) if score is not None]
    seconds = spread(run.seconds for run in counted if run.seconds is not None)
    tokens = spread(run.tokens for run in counted if run.tokens is not None)
    used = [run.skill_used for run in runs if run.excluded is None and run.skill_used is not None]
    return EvalArm(
        scores=scores,
        requested=requested,
        mean=found.mean if found else None,
        stddev=found.stddev if found else None,
        seconds=seconds.mean if seconds else None,
        tokens=tokens.mean if tokens else None,
        used=sum(used),
        use_known=len(used),
        excluded=Counter(run.excluded for run in runs if run.excluded is not None),
    )


def _suite_stddev(counted: Sequence[tuple[Run, float]]) -> float | None:
    """Sample standard deviation of the suite's mean per repeat."""
    repeats: dict[int, list[float]] = {}
    for run, score in counted:
        repeats.setdefault(run.number, []).append(score)
    means = [math.fsum(scores) / len(scores) for scores in repeats.values()]
    found = spread(means)
    return found.stddev if found and found.n > 1 else None


def ratio(above: float | None, below: float | None) -> float | None:
    """`above / below`; `None` where either is unknown or the divisor is 0."""
    return above / below if above is not None and below else None


def delta_strings(benchmark: Benchmark) -> dict[str, str]:
    """Primary minus baseline, as skill-creator writes it: `+0.31`, `+8.0`, `+8334`; what is unknown is left out."""
    if benchmark.baseline is None:
        return {}
    pairs = {
        "pass_rate": ("%+.2f", benchmark.primary.pass_rate, benchmark.baseline.pass_rate),
        "time_seconds": ("%+.1f", benchmark.primary.seconds, benchmark.baseline.seconds),
        "tokens": ("%+.0f", benchmark.primary.tokens, benchmark.baseline.tokens),
    }
    # The means are rounded first, as the file shows them: a reader who subtracts gets the same.
    return {
        name: form % (round(one.mean, 4) - round(two.mean, 4))
        for name, (form, one, two) in pairs.items()
        if one is not None and two is not None
    }


def dead_expectations(runs: Sequence[Run], arms: Sequence[str]) -> tuple[DeadExpectation, ...]:
    """Expectations that came out the same in every trial of every arm compared, which says nothing about the skill.

    Args:
        runs: all of them; those that do not count are passed over.
        arms: the names compared; an expectation must have been decided in each of them.
    """
    if len(arms) < 2:
        return ()
    seen: dict[tuple[str, str], _Tally] = {}
    for run in runs:
        if run.excluded is not None or run.arm not in arms:
            continue
        key = run.eval.key
        for one in run.expectations:
            if one.counted and one.passed is not None:
                tally = seen.get((key, one.text))
                if tally is None:
                    tally = seen[key, one.text] = _Tally(run.eval)
                tally.add(run.arm, one.passed)
    return tuple(
        DeadExpectation(tally.eval, text, tally.passed > 0, tally.trials)
        for (_, text), tally in seen.items()
        if len(tally.arms) == len(set(arms)) and tally.passed in (0, tally.trials)
    )


class _Tally:
    """How one expectation came out, over arms."""

    __slots__ = ("arms", "eval", "passed", "trials")

    def __init__(self, one: FoundEval) -> None:
        self.eval = one
        self.arms: set[str] = set()
        self.passed = self.trials = 0

    def add(self, arm: str, passed: bool) -> None:
        self.arms.add(arm)
        self.trials += 1
        self.passed += passed
