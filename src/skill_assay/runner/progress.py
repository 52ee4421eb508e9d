"""What a running plan tells whoever shows it. `cli.progress` has the displays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from skill_assay.model.trial import Trial

__all__ = ["Display", "Progress", "Silent"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    done: int
    total: int
    running: int
    workers: int
    """How many may run at once just now; below the limit while the API asks for it."""
    worker_limit: int
    retried: int
    excluded: int
    usd: float
    assumed_usd: float
    """How much of it no bill told."""
    tokens: int
    seconds: float
    """Since the run began."""

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; `None` before anything is done."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


class Display(Protocol):
    """Shows a run."""

    def begin(self, lines: Sequence[str], total: int) -> None:
        """What is about to be run."""
        ...

    def update(self, progress: Progress) -> None:
        """Something changed."""
        ...

    def settled(self, trial: Trial) -> None:
        """A trial ended."""
        ...

    def say(self, text: str) -> None:
        """A line for the reader that must not be lost."""
        ...

    def end(self) -> None:
        """Nothing more will come."""
        ...


class Silent:
    """Shows nothing."""

    def begin(self, lines: Sequence[str], total: int) -> None:
        """Nothing."""

    def update(self, progress: Progress) -> None:
        """Nothing."""

    def settled(self, trial: Trial) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""
