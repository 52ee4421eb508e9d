"""What a grader is handed: everything stored about one trial, and nothing about the runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skill_assay.model.evals import Eval
from skill_assay.model.transcript import Event, Usage
from skill_assay.model.trial import TrialId

if TYPE_CHECKING:
    from skill_assay.model.protocols import CodeRunner

__all__ = ["CodeResult", "Work"]


@dataclass(frozen=True, slots=True)
class CodeResult:
    """How a command that belongs to the skill (setup, check, grader program) ended."""

    exit_code: int | None
    """`None` when it was ended by the time limit."""
    stdout: str
    stderr: str
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """One trial's stored (redacted) results, as graders read them."""

    id: TrialId
    eval: Eval
    run_folder: Path
    """The trial's folder; places in evidence are relative to it."""
    outputs: Path
    """`run_folder/outputs`; may be absent when the agent made no file."""
    files: tuple[str, ...]
    """Every file below `outputs`, `/`-separated, sorted."""
    answer: str
    """The agent's final message, empty when it said nothing."""
    events: Sequence[Event]
    usage: Usage
    seconds: float | None
    skill_name: str | None
    """The skill under test, in every arm alike (`skill_used` asks for it)."""
    skill_used: bool | None
    evals_root: Path | None
    """The skill's `evals/` folder, where reference files, schemas and `checks.py` lie."""
    code: CodeRunner
    """Runs a command in the trial's sandbox, in a copy of the outputs, without credentials."""
    omitted: Mapping[str, int] = field(default_factory=dict)
    """Files the agent left that are not kept, with their bytes."""
