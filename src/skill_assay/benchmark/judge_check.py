"""A judge held against people: how far they agree, where not, and what the judge's errors mean for the effect.

The effect is corrected (Rogan and Gladen) only where the labels can carry it: sampled at random, the whole sample
decided, and at least 20 true passes and 20 true fails in each arm.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_assay.stats.results import Agreement

__all__ = ["LEAST", "Check", "Judged", "check_judge", "draw_sample"]

LEAST = 20
"""True passes, and true fails, that must be labelled in each arm."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation of one run that the judge decided."""

    run_id: str
    index: int
    arm: str
    text: str
    judge: bool
    evidence: str = ""
    person: bool | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What makes it this one."""
        return self.run_id, self.index


@dataclass(frozen=True, slots=True)
class Check:
    """What came of it."""

    overall: Agreement
    by_arm: Mapping[str, Agreement]
    disagreements: tuple[Judged, ...]
    corrected: Mapping[str, float] = field(default_factory=dict)
    """Arm → the pass rate among judged expectations, corrected."""
    reported: Mapping[str, float] = field(default_factory=dict)
    """Arm → the same as the judge says."""
    effect: float | None = None
    """Corrected, primary minus baseline."""
    why_not: str | None = None
    """Why nothing is corrected."""


def check_judge(
    judged: Sequence[Judged], arms: tuple[str, str] | None, sample: Sequence[tuple[str, int]] = ()
) -> Check:
    """Hold the judge against the labels there are.

    Args:
        judged: everything the judge decided, with a person's verdict where there is one.
        arms: primary and baseline.
        sample: what was drawn at random to be labelled.
    """
    from skill_assay.stats.agreement import agreement, rogan_gladen

    labelled = [one for one in judged if one.person is not None]
    by_arm = {
        arm: agreement([one.judge for one in rows], [bool(one.person) for one in rows])
        for arm in sorted({one.arm for one in judged})
        if (rows := [one for one in labelled if one.arm == arm])
    }
    found = Check(
        overall=agreement([one.judge for one in labelled], [bool(one.person) for one in labelled]),
        by_arm=by_arm,
        disagreements=tuple(one for one in labelled if one.judge != one.person),
    )
    if arms is None:
        return _without(found, "there are no two arms to compare")
    corrected, reported = {}, {}
    for arm in arms:
        drawn = [one for one in judged if one.arm == arm and one.key in set(sample)]
        reason = _unfit(arm, drawn)
        if reason:
            return _without(found, reason)
        seen = agreement([one.judge for one in drawn], [bool(one.person) for one in drawn])
        of_arm = [one.judge for one in judged if one.arm == arm]
        reported[arm] = sum(of_arm) / len(of_arm)
        rate = rogan_gladen(reported[arm], seen.sensitivity or 0.0, seen.specificity or 0.0)
        if rate is None:
            return _without(found, f"in {arm} the judge tells passes from fails no better than chance")
        corrected[arm] = rate
    effect = corrected[arms[0]] - corrected[arms[1]]
    return Check(found.overall, by_arm, found.disagreements, corrected, reported, effect)


def _without(found: Check, reason: str) -> Check:
    return Check(found.overall, found.by_arm, found.disagreements, why_not=reason)


def _unfit(arm: str, drawn: Sequence[Judged]) -> str | None:
    if not drawn:
        return f"no random sample was drawn in {arm} (--sample N draws one)"
    open_ = sum(one.person is None for one in drawn)
    if open_:
        return f"{open_} of {len(drawn)} sampled expectations of {arm} are not labelled yet"
    passes = sum(one.person is True for one in drawn)
    fails = len(drawn) - passes
    if passes < LEAST or fails < LEAST:
        return f"{arm} has {passes} true passes and {fails} true fails labelled, at least {LEAST} of each are needed"
    return None


def draw_sample(judged: Sequence[Judged], count: int, seed: int) -> dict[str, Any]:
    """`label-sample.json`: so many expectations of each arm, drawn at random whatever the judge said about them."""
    rows: list[dict[str, Any]] = []
    for arm in sorted({one.arm for one in judged}):
        of_arm = sorted((one for one in judged if one.arm == arm), key=lambda one: one.key)
        drawn = random.Random(f"{seed}/{arm}").sample(of_arm, min(count, len(of_arm)))
        rows += [{"run_id": one.run_id, "index": one.index, "text": one.text} for one in drawn]
    # In one shuffled order, without the judge's verdict: a person should not be led by either.
    random.Random(seed).shuffle(rows)
    return {"schema_version": 1, "seed": seed, "per_arm": count, "items": rows}
