"""One iteration against an earlier one: what changed, what got worse or better, and whether fresh trials confirm it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Change", "Comparison", "Fresh", "Listed", "Tally"]

Listed = Literal["regression", "improvement"]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often every counted expectation passed, of the completed trials."""

    passed: int
    completed: int

    def __str__(self) -> str:
        return f"{self.passed}/{self.completed}"

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.passed + other.passed, self.completed + other.completed)

    @property
    def majority(self) -> bool | None:
        """Whether more than half passed; `None` without a completed trial."""
        return self.passed * 2 > self.completed if self.completed else None


@dataclass(frozen=True, slots=True)
class Fresh:
    """New trials of one eval in both versions, run side by side for the question alone."""

    before: Tally
    now: Tally
    p: float | None
    """One-sided Fisher p in the listed direction; `None` with fewer than six completed trials on a side."""

    @property
    def confirmed(self) -> bool | None:
        """Whether they confirm the change; `None`: too few to say."""
        return None if self.p is None else self.p <= 0.05


@dataclass(frozen=True, slots=True)
class Change:
    """An eval whose majority of trials all passed in one of the two iterations, and not in the other."""

    eval_id: str
    name: str
    kind: Listed
    before: Tally
    now: Tally
    known_issue: str | None = None
    fresh: Fresh | None = None

    @property
    def confirmed(self) -> bool | None:
        """`None`: nobody ran fresh trials, or too few."""
        return self.fresh.confirmed if self.fresh else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed since an earlier iteration, in the arm whose worth is asked."""

    previous: str
    """The earlier iteration: `iteration-2`, or its path where it lies elsewhere."""
    number: int
    """Its number; 0 for a folder of another name."""
    refused: tuple[str, ...] = ()
    """Why the two do not compare, in words; then there are no figures."""
    common: bool = False
    """Only the evals both have unchanged were compared."""
    remarks: tuple[str, ...] = ()
    """What differs without forbidding the comparison."""
    evals: tuple[str, ...] = ()
    """The ids compared."""
    figures: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """`pass_rate`, `tokens`, `time_seconds`: (before, now), means over the trials of the evals compared."""
    changes: tuple[Change, ...] = ()
    """Listed regressions first, then improvements."""
    undecided: tuple[str, ...] = ()
    """Evals (names) without a completed trial in one of the two."""
    launches_to_confirm: int = 0
    """What `assay run --confirm` would launch."""
    price_to_confirm: float | None = None
    """USD, at the mean price of this iteration's launches."""

    @property
    def since(self) -> int | None:
        """The number of the earlier iteration where the two compare; `None` also where it lies in another folder."""
        beside = self.previous == f"iteration-{self.number}"
        return self.number if beside and not self.refused else None

    @property
    def regressions(self) -> tuple[Change, ...]:
        """Listed regressions."""
        return tuple(one for one in self.changes if one.kind == "regression")

    @property
    def improvements(self) -> tuple[Change, ...]:
        """Listed improvements."""
        return tuple(one for one in self.changes if one.kind == "improvement")
