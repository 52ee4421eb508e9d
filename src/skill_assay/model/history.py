"""All iterations of a skill, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["History", "HistoryRow", "TrendRow", "subject_of"]

Result = Literal["baseline", "won", "lost", "tie"]


def subject_of(agent: str | None, model: str | None) -> str:
    """Who was asked: `codex/gpt-5.5`; empty where nothing says."""
    return "/".join(filter(None, (agent, model)))


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One iteration in a row of them, as its own record tells it."""

    name: str
    """Its folder's."""
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    """95 % interval of the effect."""
    verdict: str | None = None
    rates: Mapping[str, float] = field(default_factory=dict)
    """Arm → mean pass rate."""
    since: int | None = None
    """The number of the iteration beside it that it was compared with; `None` where nothing compares."""
    subject: str = ""
    """Who was asked, as `subject_of` says."""
    shown: bool = False
    """Whether it is the one that is looked at."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One iteration."""

    number: int
    created_at: str
    skill_digest: str
    evals: int
    trials: int
    pass_rate: float | None
    stddev: float | None
    baseline: str
    """The arm compared with; empty where there was none."""
    baseline_rate: float | None
    effect: float | None
    low: float | None
    high: float | None
    """95 % interval of the effect, of the scope shown."""
    verdict: str | None
    scope: str | None
    tokens: float | None
    seconds: float | None
    cost_usd: float | None
    """Mean of a trial of the primary arm."""
    regressions: int | None
    """Listed since the iteration before; `None` where the two do not compare."""
    confirmed: int | None
    """Of them, confirmed by fresh trials."""
    improvements: int | None
    change: float | None
    """Of the pass rate since the iteration it is compared with, over the evals both have."""
    gate: str | None
    partial: bool = False
    simulated: bool = False
    noise: bool = False
    """The skill against itself."""
    agent: str | None = None
    model: str | None = None
    since: int | None = None
    """The number of the iteration beside it that it was compared with; `None` where nothing compares."""

    @property
    def subject(self) -> str:
        """Who was asked, as `subject_of` says."""
        return subject_of(self.agent, self.model)

    @property
    def result(self) -> Result:
        """skill-creator's word for the step: by the pass rate alone, so not a conclusion."""
        if self.change is None:
            return "baseline"
        return "won" if self.change > 1e-9 else "lost" if self.change < -1e-9 else "tie"


@dataclass(frozen=True, slots=True)
class History:
    """All iterations, oldest first."""

    skill_name: str
    rows: tuple[HistoryRow, ...]

    @property
    def best(self) -> HistoryRow | None:
        """The highest pass rate of a whole iteration, ties to the earliest; not a conclusion either.

        Of the agent and model of the newest iteration: another agent's rate says nothing about the skill's version.
        """
        subject = self.rows[-1].subject if self.rows else ""
        kept = [row for row in self.rows if row.pass_rate is not None and not row.partial and not row.noise]
        kept = [row for row in kept if row.subject == subject]
        return max(kept, key=lambda row: (row.pass_rate or 0.0, -row.number), default=None)

    def to_dict(self) -> dict[str, Any]:
        """`trend.json`: skill-creator's keys, ours beside them."""
        best = self.best
        return {
            "schema_version": 1,
            "started_at": self.rows[0].created_at if self.rows else "",
            "skill_name": self.skill_name,
            "current_best": f"iteration-{best.number}" if best else "",
            "iterations": [self._row(at, row) for at, row in enumerate(self.rows)],
        }

    def _row(self, at: int, row: HistoryRow) -> dict[str, Any]:
        names = [name for name in HistoryRow.__slots__ if name != "number"]
        facts = {name: getattr(row, name) for name in names}
        alike = [one.number for one in self.rows[:at] if one.subject == row.subject]
        parent = row.since or (alike[-1] if alike else None)
        rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()}
        return {
            "version": f"iteration-{row.number}",
            "parent": f"iteration-{parent}" if parent else None,
            "expectation_pass_rate": rounded["pass_rate"],
            "grading_result": row.result,
            "is_current_best": self.best is not None and self.best.number == row.number,
            **{name: value for name, value in rounded.items() if value is not None},
        }
