"""What the search for a better description found: round by round, and what may be said of the chosen one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from skill_assay.model.triggers import Query, Split

__all__ = ["Accept", "Cell", "Evidence", "Exit", "Optimisation", "Round", "Score", "score_of"]

Accept = Literal["best", "significant"]
"""What makes a description the chosen one: the most test queries, or these and evidence at 5 %."""
Exit = Literal["all_passed", "max_iterations", "plateau", "budget", "interrupted", "failure", "no_proposal"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One query under one description."""

    query: Query
    split: Split
    fired: int
    decided: int
    """Runs that triggered or did not."""
    failed: int
    """Runs that count for nothing."""
    planned: int
    passed: bool | None
    """`None`: no run counted, or none was launched."""
    sure: bool
    """Whether the runs left over could change nothing."""


@dataclass(frozen=True, slots=True)
class Score:
    """Queries that pass, of those with a result."""

    passed: int
    total: int
    unknown: int = 0
    """Queries without a result."""
    unsure: int = 0
    """Of `total`, those whose result further runs could change."""

    @property
    def share(self) -> float | None:
        """`None` without a result."""
        return self.passed / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Round:
    """One description, measured; or a round in which none was proposed."""

    number: int
    """From 1, the original."""
    description: str
    cells: tuple[Cell, ...] = ()
    launches: int = 0
    left_train: bool = False
    """Train was left: it would hardly have led there."""
    left_test: bool = False
    """Test was left: it would hardly have won there."""
    ending: str = ""
    """Why its measurement ended before its end."""
    skipped: str = ""
    """Why there is no description."""
    refused: tuple[str, ...] = ()
    """Why replies of the proposer were refused."""

    def of(self, split: Split) -> tuple[Cell, ...]:
        """The cells of one side, in the split's order."""
        return tuple(cell for cell in self.cells if cell.split == split)

    def score(self, split: Split) -> Score:
        """The score on one side."""
        return score_of(self.of(split))

    @property
    def measured(self) -> bool:
        """Whether it was measured to the end that was intended."""
        return bool(self.cells) and not self.ending


def score_of(cells: Iterable[Cell]) -> Score:
    """Passes over the queries with a result."""
    cells = tuple(cells)
    known = [cell for cell in cells if cell.passed is not None]
    unsure = sum(not cell.sure for cell in known)
    return Score(sum(cell.passed is True for cell in known), len(known), len(cells) - len(known), unsure)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The chosen description against the original, query by query."""

    split: Split
    gained: int
    """Queries that pass only with the chosen one."""
    lost: int
    """Queries that pass only with the original."""
    tied: int
    p: float
    candidates: int
    """Among which it was chosen; 1 where the queries had no part in the choice."""
    exact: bool
    enough: int | None
    """Queries at which the same shares of gains and losses would be significant; `None`: hardly any number."""

    @property
    def strong(self) -> bool:
        """Whether more is gained than lost, at 5 %."""
        return self.gained > self.lost and self.p <= 0.05


@dataclass(frozen=True, slots=True)
class Optimisation:
    """A whole search."""

    skill_name: str
    original: str
    rounds: tuple[Round, ...]
    leader: int
    """The number of the round that is best by test, ties to the earliest."""
    chosen: int
    """The number of the round whose description is chosen: the leader's, or the original's where evidence decides."""
    exit: Exit | None
    """`None` while it goes on."""
    reason: str
    """The exit in words."""
    accept: Accept
    evidence: tuple[Evidence, ...]
    """On test, then on fresh; empty where the leader is the original."""
    runs: int
    threshold: float
    holdout: float
    seed: int
    sizes: tuple[int, int, int]
    """Queries of train, test and fresh."""
    fresh: tuple[tuple[int, tuple[Cell, ...]], ...] = ()
    """Round → cells on fresh queries: the original's and the leader's."""
    launches: int = 0
    proposals: int = 0
    """Times the proposer was asked."""
    usd: float = 0.0
    assumed_usd: float = 0.0
    """How much of it no bill told: what was set aside stands for it."""
    tokens: int = 0
    agent: str = ""
    proposer: str = ""
    simulated: bool = False
    started_at: str = ""
    notes: tuple[str, ...] = ()
    over: bool = False
    """Whether nothing more will come."""

    @property
    def full_grid(self) -> int:
        """Launches that every query × run of every measured round would have taken."""
        measured = sum(bool(one.cells) for one in self.rounds)
        queries = measured * (self.sizes[0] + self.sizes[1]) + len(self.fresh) * self.sizes[2]
        return queries * self.runs

    def round(self, number: int) -> Round:
        """The round of that number."""
        return next(one for one in self.rounds if one.number == number)

    @property
    def failed_share(self) -> float:
        """Share of the launched runs that count for nothing."""
        cells = [cell for one in self.rounds for cell in one.cells] + [cell for _, some in self.fresh for cell in some]
        failed, done = sum(cell.failed for cell in cells), sum(cell.decided + cell.failed for cell in cells)
        return failed / done if done else 0.0
