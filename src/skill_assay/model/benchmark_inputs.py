"""What the numbers are made from: one neutral record a trial, wherever it was read."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TrialOutcome"]


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """What one trial contributes. Unknown is `None`, never 0."""

    eval_id: str
    arm: str
    repeat: int
    """From 1; with `--stop early` the round."""
    score: float | None
    """Share of counted expectations that passed, in [0, 1]; `None`: excluded or nothing could be graded."""
    timed_out: bool = False
    """Whether the time limit ended it (`score` is then `None`)."""
    tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    skill_used: bool | None = None
    """`None` where the agent leaves no sign of it."""
    weight: float = 1.0
    """Of its eval."""
