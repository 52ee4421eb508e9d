"""Trigger queries: what should, and what should not, make an agent pick the skill up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skill_assay.model.findings import Finding

__all__ = ["Query", "QuerySet", "Split"]

Split = Literal["train", "test", "fresh"]


@dataclass(frozen=True, slots=True)
class Query:
    """One trigger case."""

    id: str
    text: str
    should_trigger: bool
    split: Split | None = None
    expected_skill: str | None = None
    """Which skill should fire instead, for a catalogue's matrix."""
    files: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    """Earlier user messages, oldest first."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuerySet:
    """The trigger queries of one skill."""

    queries: tuple[Query, ...]
    source: Path
    digest: str
    findings: tuple[Finding, ...] = ()
