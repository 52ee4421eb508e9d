"""What an earlier session left of a trial."""

from __future__ import annotations

from dataclasses import dataclass

from skill_assay.model.trial import Attempt, Trial

__all__ = ["NOTHING", "Earlier"]


@dataclass(frozen=True, slots=True)
class Earlier:
    """Attempts already made, and how they count."""

    attempts: tuple[Attempt, ...] = ()
    """Ended attempts, oldest first. One that was cut off by our own end is launched again under its number."""
    settled: int = 0
    """How many of them belong to a trial that had settled (excluded): those use up no retries of the new one."""
    collected: Trial | None = None
    """The agent was done and its outputs kept, but nothing was graded yet: no launch is needed."""


NOTHING = Earlier()
