"""Grades: what was decided about an expectation, by whom, and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from skill_assay.model.evals import Requirement

__all__ = ["Decision", "Evidence", "Grade", "GraderName"]

GraderName = Literal["check", "script", "judge", "person", "none"]


class Decision(StrEnum):
    """What a grader decided."""

    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"
    """Nothing could decide it; it is counted and in no rate."""
    ERROR = "error"
    """The grader itself failed; it is counted and in no rate."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in the run folder that shows why."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """One expectation of one trial, decided or not."""

    text: str
    decision: Decision
    evidence: str
    """What was looked at and seen; never empty. Begins `Ungraded:` when nothing decided it."""
    grader: GraderName
    severity: Requirement = "required"
    counted: bool = True
    """Whether it enters the pass rate: false for info, activation checks and what was not decided."""
    places: tuple[Evidence, ...] = ()
    verified: bool | None = None
    """Whether a judge's quote was found where it says; `None` where nothing is quoted."""
    seconds: float | None = None

    @property
    def passed(self) -> bool | None:
        """`grading.json`'s word: `None` unless passed or failed."""
        return {Decision.PASSED: True, Decision.FAILED: False}.get(self.decision)
