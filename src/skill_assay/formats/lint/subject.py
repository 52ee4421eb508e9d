"""What a rule is handed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from skill_assay.formats.notes import Notes
from skill_assay.model.skill import Skill

__all__ = ["Rule", "Subject"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Subject(Generic[T]):
    """One file, understood, and what lies around it."""

    content: T
    """A `Skill`, `EvalSet`, `QuerySet` or `Configuration`."""
    skill: Skill | None = None
    """The skill it belongs to, where there is one."""
    skill_root: Path | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    """For evals: id to JSON path."""


Rule = Callable[[Subject[T], Notes], None]
"""Looks at a subject and notes what is wrong; the rule's name is the finding's."""
