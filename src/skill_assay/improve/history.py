"""`history.json`: the versions of a skill, who descends from whom, and which is best. skill-creator's field names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

__all__ = ["Outcome", "add_version", "begin_history"]

Outcome = Literal["baseline", "won", "lost", "tie"]


def begin_history(skill_name: str, started_at: str) -> dict[str, Any]:
    """A history without versions."""
    return {
        "schema_version": 1,
        "started_at": started_at,
        "skill_name": skill_name,
        "current_best": None,
        "iterations": [],
    }


def add_version(
    history: Mapping[str, Any], digest: str, rate: float | None, outcome: Outcome, *, kept: bool, **facts: Any
) -> dict[str, Any]:
    """The history with one more version, or with a known one measured anew.

    Args:
        history: as it is.
        digest: of the skill's folder: what makes a version this one.
        rate: share of expectations that passed; `None`: not measured.
        outcome: against its parent, the best version until then.
        kept: whether it is the best now.
        facts: further facts (`iteration`, `verdict`, `at`).
    """
    rows = [dict(row) for row in history.get("iterations", ()) if isinstance(row, Mapping)]
    known = next((row for row in rows if row.get("digest") == digest), None)
    best = history.get("current_best")
    row = known if known is not None else {"version": f"v{len(rows)}", "parent": best}
    row |= {"expectation_pass_rate": rate, "grading_result": outcome, "digest": digest, **facts}
    if known is None:
        rows.append(row)
    best = row["version"] if kept else best
    for one in rows:
        one["is_current_best"] = one["version"] == best
    return {**history, "current_best": best, "iterations": rows}
