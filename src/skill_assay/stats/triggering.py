"""Triggering as classification of queries, and runs stopped once their query is decided.

Estimands: the shares of a population of queries of which these are a sample (the query is the unit, not the run); and
the probability that one query's run triggers. The curtailed design stops a query when the runs left over can't change
whether its rate reaches the threshold. Its naive rate is biased (a true 0.8 reads 0.83), so the rate is the unbiased
one for a stopped sequence (Girshick, Mosteller & Savage 1946): of all ways to the stopping point, the share that begins
with a trigger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skill_assay.stats.results import Classification, Share

__all__ = ["classify", "curtailed_rate", "decided_fires", "reaches", "stopping_point"]

_TINY = 1e-9


def reaches(fired: int, decided: int, threshold: float) -> bool:
    """Whether the rate is at or above the threshold. `decided` must be above 0."""
    return fired >= threshold * decided - _TINY


def decided_fires(fired: int, silent: int, left: int, threshold: float) -> bool | None:
    """Whether the rate will reach the threshold whatever the runs left over bring; `None` while that is open.

    Args:
        fired: runs that triggered.
        silent: runs that did not.
        left: runs still to come, each of which may trigger, not trigger, or fail and count for nothing.
        threshold: a rate, above 0.
    """
    done = fired + silent
    if not done:
        return None
    if reaches(fired, done + left, threshold):
        return True
    return None if reaches(fired + left, done + left, threshold) else False


def stopping_point(outcomes: Sequence[bool | None], planned: int, threshold: float) -> int | None:
    """After how many of these outcomes, in order, the query is decided; `None`: not yet.

    Args:
        outcomes: triggered or not, `None` for a run that failed.
        planned: runs of the full grid.
        threshold: a rate, above 0.
    """
    fired = silent = 0
    for number, outcome in enumerate(outcomes, 1):
        fired += outcome is True
        silent += outcome is False
        if decided_fires(fired, silent, planned - number, threshold) is not None:
            return number
    return None


def curtailed_rate(outcomes: Sequence[bool | None], planned: int, threshold: float) -> float | None:
    """The unbiased rate of a query whose runs stop once it is decided; later outcomes are left out.

    Args:
        outcomes: in the order of the repeats; `None` for a run that failed. What fails is taken as given.
        planned: runs of the full grid.
        threshold: a rate, above 0.
    """
    stop = stopping_point(outcomes, planned, threshold) or len(outcomes)
    end = (outcomes[:stop].count(True), outcomes[:stop].count(False))
    if end == (0, 0):
        return None
    failed = [outcome is None for outcome in outcomes[:stop]]
    ways, first = _ways(failed, planned, threshold)
    return first[end] / ways[end]


def _ways(failed: Sequence[bool], planned: int, threshold: float) -> tuple[Counter[tuple[int, int]], ...]:
    """How many sequences end at each (fired, silent) unstopped till then, and how many of them begin with a trigger."""
    ways, first = Counter({(0, 0): 1}), Counter[tuple[int, int]]()
    for number, skip in enumerate(failed, 1):
        if not skip:
            first = Counter({(1, 0): 1}) if (0, 0) in ways else _step(first)
            ways = _step(ways)
        if number < len(failed):
            left = planned - number
            going_on = {point for point in ways if decided_fires(*point, left, threshold) is None}
            ways = Counter({point: count for point, count in ways.items() if point in going_on})
            first = Counter({point: count for point, count in first.items() if point in going_on})
    return ways, first


def _step(ways: Counter[tuple[int, int]]) -> Counter[tuple[int, int]]:
    after: Counter[tuple[int, int]] = Counter()
    for (fired, silent), count in ways.items():
        after[fired + 1, silent] += count
        after[fired, silent + 1] += count
    return after


def classify(
    true_positive: int, false_positive: int, false_negative: int, true_negative: int, *, seed: int
) -> Classification:
    """The figures of four counts of queries. Deterministic by `seed`.

    Args:
        true_positive: should trigger and does.
        false_positive: should not and does.
        false_negative: should and does not.
        true_negative: should not and does not.
        seed: for the interval of F1.
    """
    from skill_assay.stats.intervals import dirichlet_f1

    tp, fp, fn, tn = true_positive, false_positive, false_negative, true_negative
    any_positive = tp + fp + fn > 0
    return Classification(
        *(tp, fp, fn, tn),
        accuracy=_share(tp + tn, tp + fp + fn + tn),
        precision=_share(tp, tp + fp),
        recall=_share(tp, tp + fn),
        specificity=_share(tn, tn + fp),
        f1=2 * tp / (2 * tp + fp + fn) if any_positive else None,
        f1_interval=dirichlet_f1(tp, fp, fn, tn, seed=seed) if any_positive else None,
    )


def _share(count: int, n: int) -> Share:
    from skill_assay.stats.intervals import wilson

    return Share(count, n, wilson(count, n))
