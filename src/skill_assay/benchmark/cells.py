"""From trial outcomes to the arrays of the statistics: evals in a fixed order, a cell of outcomes an eval and arm."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from skill_assay.errors import FailureKind
from skill_assay.model.benchmark import Run
from skill_assay.model.benchmark_inputs import TrialOutcome

__all__ = ["Cells", "cells", "counted_timeouts", "outcome_of"]

Cell = tuple[TrialOutcome, ...]


@dataclass(frozen=True, slots=True)
class Cells:
    """The evals with a graded trial in both arms, sorted by id, and what was left out."""

    eval_ids: tuple[str, ...]
    primary: tuple[Cell, ...]
    """Graded trials of the primary arm, an eval each."""
    baseline: tuple[Cell, ...]
    weights: tuple[float, ...]
    left_out: tuple[str, ...]
    every: tuple[TrialOutcome, ...]
    """All trials of both arms, graded or not."""

    def scores(self) -> tuple[list[list[float]], list[list[float]]]:
        """Outcomes of both arms, an eval each."""
        return self.values(lambda trial: trial.score)

    def values(self, meter: Callable[[TrialOutcome], float | None]) -> tuple[list[list[float]], list[list[float]]]:
        """A meter's known values of both arms, an eval each; a list is empty where nothing is known."""
        primary, baseline = ([_known(map(meter, cell)) for cell in side] for side in (self.primary, self.baseline))
        return primary, baseline

    def differences(self) -> list[float]:
        """Mean outcome of primary minus that of baseline, an eval each."""
        return [_mean(a) - _mean(b) for a, b in zip(*self.scores(), strict=True)]

    def pairs(self, rounds: int) -> list[list[float]]:
        """Differences of the trials of one round, an eval each; NaN where either is missing."""
        sides = [[{t.repeat: t.score for t in cell} for cell in side] for side in (self.primary, self.baseline)]
        return [
            [_difference(first.get(k), second.get(k)) for k in range(1, rounds + 1)]
            for first, second in zip(*sides, strict=True)
        ]

    def settled_rounds(self) -> int:
        """Rounds from the first on in which every eval has a record of both arms, graded or excluded."""
        seen = {(trial.eval_id, trial.arm, trial.repeat) for trial in self.every}
        sides = {(eval_id, arm) for eval_id, _, _ in seen for _, arm, _ in seen}
        rounds = itertools.takewhile(lambda k: all((*side, k) in seen for side in sides), itertools.count(1))
        return sum(1 for _ in rounds) if sides else 0


def _known(values: Iterable[float | None]) -> list[float]:
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _difference(first: float | None, second: float | None) -> float:
    return math.nan if first is None or second is None else first - second


def cells(outcomes: Iterable[TrialOutcome], primary: str, baseline: str) -> Cells:
    """Group the trials of two arms by eval. The order in which they are given changes nothing."""
    of_arm: dict[tuple[str, str], list[TrialOutcome]] = defaultdict(list)
    every = sorted((o for o in outcomes if o.arm in (primary, baseline)), key=lambda o: (o.eval_id, o.arm, o.repeat))
    for outcome in every:
        of_arm[outcome.eval_id, outcome.arm].append(outcome)
    ids, kept, left_out = sorted({o.eval_id for o in every}), [], []
    for eval_id in ids:
        first, second = (_graded(of_arm[eval_id, arm]) for arm in (primary, baseline))
        weight = max((o.weight for o in (*first, *second)), default=0.0)
        if first and second and weight > 0:
            kept.append((eval_id, first, second, weight))
        else:
            left_out.append(eval_id)
    ids_kept, firsts, seconds, weights = tuple(zip(*kept, strict=True)) if kept else ((), (), (), ())
    return Cells(ids_kept, firsts, seconds, weights, tuple(left_out), tuple(every))


def _graded(trials: Iterable[TrialOutcome]) -> Cell:
    return tuple(t for t in trials if t.score is not None and math.isfinite(t.score))


def counted_timeouts(outcomes: Iterable[TrialOutcome], policy: Literal["exclude", "fail"]) -> tuple[TrialOutcome, ...]:
    """The outcomes with trials ended by the time limit left out, or counted as failed."""
    score = 0.0 if policy == "fail" else None
    return tuple(replace(o, score=score) if o.timed_out else o for o in outcomes)


def outcome_of(run: Run) -> TrialOutcome:
    """What a run, wherever it was found, contributes."""
    return TrialOutcome(
        eval_id=run.eval.key,
        arm=run.arm,
        repeat=run.number,
        score=run.score,
        timed_out=run.failure == FailureKind.TIME_LIMIT,
        tokens=run.tokens,
        seconds=run.seconds,
        cost_usd=run.cost_usd,
        skill_used=run.skill_used,
        weight=run.eval.weight,
    )
