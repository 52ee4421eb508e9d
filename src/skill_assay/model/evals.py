"""Evals: tasks given to an agent, and what should hold afterwards."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from skill_assay.model.findings import Finding

__all__ = ["Check", "Environment", "Eval", "EvalSet", "Expectation", "Requirement", "eval_folder", "slug"]

Requirement = Literal["required", "info"]
"""`info` expectations are reported and never enter the pass rate."""


def slug(text: str, limit: int = 48) -> str:
    """A portable folder name for any text; empty text gives `x`."""
    cleaned = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return cleaned[:limit].strip("-") or "x"


def eval_folder(eval_id: str) -> str:
    """An eval's folder in an iteration: `eval-<id>` for a number, else `eval-<slug>`.

    An id that a slug keeps too little of (another script, very long) is told apart by a few digits of its hash.
    """
    if re.fullmatch(r"[0-9]{1,9}", eval_id):
        return f"eval-{eval_id}"
    mark = "" if eval_id.isascii() and len(eval_id) <= 48 else "-" + hashlib.sha256(eval_id.encode()).hexdigest()[:6]
    return f"eval-{slug(eval_id, 40 if mark else 48)}{mark}"


@dataclass(frozen=True, slots=True)
class Check:
    """The part of an expectation that a machine can decide, as data: `{kind: arguments}`."""

    kind: str
    arguments: Mapping[str, Any]
    """Always the long form; `graders.checks` expands the short one and validates it at load."""
    negated: bool = False
    """Whether it stood inside `{"not": …}`."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One statement that should hold after the task; every check must pass for it to pass."""

    text: str
    checks: tuple[Check, ...] = ()
    severity: Requirement = "required"
    id: str | None = None
    """An id of the author's own, by which `evals/checks.py` may name its function."""
    about: Literal["outcome", "process"] | None = None
    """Whether a judge may read the transcript for it; `None`: the judge classifies it."""
    place: str = ""
    """Its JSON path in the file, for messages."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What both arms are told about where they work, and the variables they may see."""

    note: str = ""
    vars: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Eval:
    """One task."""

    id: str
    prompt: str
    expectations: tuple[Expectation, ...] = ()
    name: str | None = None
    expected_output: str | None = None
    files: tuple[str, ...] = ()
    """Fixtures, as written: relative to the skill's root, else to `evals/`. Resolved by `formats.fixtures`."""
    tags: tuple[str, ...] = ()
    environment: Environment = Environment()
    setup: str | None = None
    """A shell command run in the working directory before the agent starts."""
    timeout_seconds: float | None = None
    weight: float = 1.0
    known_issue: str | None = None
    turns: tuple[str, ...] = ()
    """Earlier user messages, oldest first."""
    reference: str | None = None
    """A file or folder with the right outcome; plays in the ceiling agent, never enters a sandbox."""
    original_id: int | str | None = None
    """The id as the author wrote it, so that what we write says the same type."""
    should_trigger: bool | None = None
    expected_skill: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys, kept."""

    @property
    def title(self) -> str:
        """The name, else the id."""
        return self.name or self.id

    @property
    def folder(self) -> str:
        """The name of its folder in an iteration."""
        return eval_folder(self.id)


@dataclass(frozen=True, slots=True)
class EvalSet:
    """The evals of one skill, as read from one or several files."""

    skill_name: str | None
    evals: tuple[Eval, ...]
    source: Path
    digest: str
    """SHA-256 of the file as read."""
    findings: tuple[Finding, ...] = ()
    """What was repaired or noticed while reading; errors are raised instead."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys beside the list of evals, kept."""
    folder: Path | None = None
    """The folder of the whole set, where `source` does not lie directly in it."""
    read: tuple[Path, ...] = ()
    """Every file that was read, where there are several."""

    @property
    def root(self) -> Path:
        """The folder of the evals (`evals/` as a rule)."""
        return self.folder or self.source.parent
