"""What a trial came to, as one word, a shape and a place in the order of what to look at first."""

from __future__ import annotations

from typing import Literal

from skill_assay.model.benchmark import NOTHING_GRADED, Run

__all__ = ["MARKS", "STATES", "State", "state_of", "worst_first"]

State = Literal["passed", "partly", "failed", "ungraded", "excluded", "missing"]
STATES: tuple[State, ...] = ("failed", "partly", "passed", "ungraded", "excluded", "missing")
MARKS: dict[str, str] = {
    "passed": "●",
    "partly": "◐",
    "failed": "○",
    "ungraded": "?",
    "excluded": "×",
    "missing": "–",
}


def state_of(run: Run) -> State:
    """All counted expectations passed, some, none; nothing decided; or in no rate."""
    if run.excluded == NOTHING_GRADED:
        return "ungraded"
    score = run.score
    if run.excluded is not None or score is None:
        return "excluded"
    return "passed" if score == 1 else "partly" if score > 0 else "failed"


def worst_first(runs: list[Run]) -> list[Run]:
    """Lowest score first, what has none last; equal ones in their order."""
    return sorted(runs, key=lambda run: 2.0 if run.score is None else run.score)
