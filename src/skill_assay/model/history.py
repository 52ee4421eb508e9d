"""All iterations of a skill, a row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["History", "HistoryRow"]

Result = Literal["baseline", "won", "lost", "tie"]


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
    """Of the pass rate since the iteration before, over the evals both have."""
    gate: str | None
    partial: bool = False
    simulated: bool = False
    noise: bool = False
    """The skill against itself."""
    agent: str | None = None
    model: str | None = None

    @property
    def subject(self) -> str:
        """`codex/gpt-5.5`; empty where nothing says who was asked."""
        return "/".join(filter(None, (self.agent, self.model)))

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
        before = self.rows[:at][::-1]
        rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()}
        return {
            "version": f"iteration-{row.number}",
            "parent": next((f"iteration-{one.number}" for one in before if one.subject == row.subject), None),
            "expectation_pass_rate": rounded["pass_rate"],
            "grading_result": row.result,
            "is_current_best": self.best is not None and self.best.number == row.number,
            **{name: value for name, value in rounded.items() if value is not None},
        }
