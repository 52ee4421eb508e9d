"""Looking while trials come in, for question 1 only, without paying for it in false positives.

A round is one trial an arm and eval. Under the null hypothesis the two labels of a pair are exchangeable, so each
pair's difference may flip its sign. A spending function fixed in advance (Lan & DeMets 1983) says how much of the 5 %
may be used up by each look. At look k the boundary is the smallest effect that, among the relabellings that crossed no
earlier boundary, stays within the amount; only those are alive at the next look. Boundaries depend on the data seen so
far through its absolute values alone, so the test is exact whatever the data. A pair with an excluded trial is left
out. Interval: the effects that the same boundary would not reject at this look (repeated confidence interval, Jennison
& Turnbull 2000); it holds at every look at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skill_assay.stats.intervals import normal_quantile
from skill_assay.stats.results import Interval, Spending

__all__ = ["Look", "look", "spent", "stop_at"]

_TIE = 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look says."""

    number: int
    """Rounds seen."""
    planned: int
    """Rounds fixed in advance."""
    effect: float
    boundary: float | None
    """The effect that stops; `None` where no effect could stop at this look."""
    crossed: bool
    spent: float
    """False positives allowed so far."""
    interval: Interval | None = None
    """Repeated confidence interval; `None` where the boundary is."""


def spent(share: float, kind: Spending = "pocock", level: float = 0.05) -> float:
    """How much of the level may be used when a share of the rounds is done; all of it at 1."""
    if kind == "pocock":
        return level * math.log(1 + (math.e - 1) * share)
    from scipy import special

    return 2 * (1 - float(special.ndtr(normal_quantile(1 - level / 2) / math.sqrt(share))))


def look(
    differences: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    planned: int,
    kind: Spending = "pocock",
    seed: int,
    resamples: int = 4000,
    interval: bool = True,
) -> Look:
    """The latest look at the rounds seen so far. Earlier looks are recomputed from the data: it needs no memory.

    Args:
        differences: shape (evals, rounds seen): primary minus baseline of a pair, NaN where the pair is left out.
        weights: one an eval, positive, or `None`.
        planned: rounds fixed in advance, at least the rounds seen.
        kind: spending function, fixed in advance.
        seed: of the relabellings; those of a round stay the same at every later look.
        resamples: relabellings drawn.
        interval: whether to compute the repeated confidence interval, the costly part.
    """
    d = np.asarray(differences, float)
    w = np.ones(len(d)) if weights is None else np.asarray(weights, float)
    design = _Design(d, w, planned, kind, seed, resamples)
    effect, boundaries = design.effect(0.0), design.boundaries(0.0)
    boundary = boundaries[-1]
    crossed = boundary is not None and abs(effect) >= boundary - _TIE
    found = design.interval(effect, crossed) if interval and boundary is not None else None
    seen = d.shape[1]
    return Look(seen, planned, effect, boundary, crossed, spent(seen / planned, kind), found)


def stop_at(
    differences: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    planned: int,
    kind: Spending = "pocock",
    seed: int,
    resamples: int = 4000,
) -> int | None:
    """The first round whose look crosses, or `None`: what a run that looked after each round would have done."""
    d = np.asarray(differences, float)
    w = np.ones(len(d)) if weights is None else np.asarray(weights, float)
    design = _Design(d, w, planned, kind, seed, resamples)
    pairs = zip(design.effects(0.0), design.boundaries(0.0), strict=True)
    return next((k for k, (e, c) in enumerate(pairs, 1) if c is not None and abs(e) >= c - _TIE), None)


class _Design:
    """The relabellings of one set of data."""

    def __init__(self, d: Floats, w: Floats, planned: int, kind: Spending, seed: int, resamples: int) -> None:
        self.d, self.planned, self.kind = d, planned, kind
        self.counts = np.cumsum(~np.isnan(d), axis=1)
        seen = self.counts > 0
        share = w[:, None] * seen
        total = np.maximum(share.sum(axis=0), 1e-300)
        self.coefficients = share / total / np.maximum(self.counts, 1)
        self.signs = [
            np.random.default_rng([seed, r]).integers(0, 2, (resamples, len(d)), dtype=np.int8) * 2.0 - 1.0
            for r in range(d.shape[1])
        ]

    def effects(self, shift: float) -> list[float]:
        """The weighted effect after each round, under the hypothesis that it is `shift`."""
        sums = np.cumsum(np.nan_to_num(self.d - shift), axis=1)
        return [float(sums[:, k] @ self.coefficients[:, k]) for k in range(self.d.shape[1])]

    def effect(self, shift: float) -> float:
        return self.effects(shift)[-1]

    def boundaries(self, shift: float) -> list[float | None]:
        """The boundary at each look, the data itself being one of the relabellings."""
        d, rounds = np.nan_to_num(self.d - shift), self.d.shape[1]
        everyone = len(self.signs[0]) + 1
        alive, used, found = np.ones(everyone, bool), 0, list[float | None]()
        sums = np.zeros((everyone, len(d)))
        for k in range(rounds):
            sums[0] += d[:, k]
            sums[1:] += self.signs[k] * d[:, k]
            sizes = np.abs(sums @ self.coefficients[:, k])
            allowed = math.floor(everyone * spent((k + 1) / self.planned, self.kind) + 1e-9) - used
            boundary = _boundary(sizes[alive], allowed)
            if boundary is not None:
                crossing = alive & (sizes >= boundary - _TIE)
                used += int(crossing.sum())
                alive &= ~crossing
            found.append(boundary)
        return found

    def interval(self, effect: float, crossed: bool) -> Interval:
        """Effects not rejected at this look; 0 is outside exactly when the boundary was crossed."""
        low, high = (self._edge(effect, side, crossed) for side in (-1.0, 1.0))
        return Interval(max(-1.0, low), min(1.0, high), 0.95)

    def _edge(self, effect: float, side: float, crossed: bool) -> float:
        """Bisection from the estimate towards one side, to 0.0003."""
        inside, outside = 0.0, 2.0
        if side * effect < 0:
            inside, outside = (0.0, abs(effect)) if crossed else (abs(effect), 2.0)
        for _ in range(12):
            middle = (inside + outside) / 2
            boundary = self.boundaries(effect + side * middle)[-1]
            rejected = boundary is not None and abs(self.effect(effect + side * middle)) >= boundary - _TIE
            inside, outside = (inside, middle) if rejected else (middle, outside)
        return effect + side * (inside + outside) / 2


def _boundary(sizes: Floats, allowed: int) -> float | None:
    """The smallest size that no more than `allowed` reach; `None` where even the largest is reached by more."""
    if allowed < 1:
        return None
    ordered = np.sort(sizes)[::-1]
    if len(ordered) <= allowed:
        return float(ordered[-1])
    rank = allowed
    while rank and ordered[rank - 1] - ordered[rank] < _TIE:
        rank -= 1
    return float(ordered[rank - 1]) if rank else None
