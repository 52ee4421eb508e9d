"""Arms, trials and attempts: the units of work and the record of what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from skill_assay.errors import Failure, policy
from skill_assay.model.evals import Eval
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.transcript import SkillUse, Started, Usage

__all__ = [
    "Arm",
    "Attempt",
    "Invoke",
    "Limits",
    "Outcome",
    "Role",
    "State",
    "Trial",
    "TrialId",
    "TrialSpec",
]

Invoke = Literal["told", "auto", "slash"]
"""How the arm that has the skill is brought to it: told in one line, left alone, or by its slash command."""
Role = Literal["primary", "baseline"]


@dataclass(frozen=True, slots=True)
class Arm:
    """A condition compared. The role is explicit; the name is its folder."""

    name: str
    role: Role
    agent: str
    """The agent's name or, for `command`, its whole specification."""
    model: str | None = None
    skill: Path | None = None
    """The folder installed, `None` for an arm without one."""
    skill_name: str | None = None
    skill_digest: str | None = None
    invoke: Invoke = "told"
    environment_note: bool = True
    """False only for `bare`: the prompt alone."""
    origin: str = "none"
    """Where it came from, in the user's words: `skill`, `none`, `bare`, a path, `git:REV`, `iteration-N`."""


@dataclass(frozen=True, slots=True, order=True)
class TrialId:
    """What makes a trial this one and no other."""

    eval_id: str
    arm: str
    repeat: int
    """From 1."""

    def __str__(self) -> str:
        return f"{self.eval_id}/{self.arm}/{self.repeat}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one attempt may use."""

    seconds: float = 600.0
    turns: int | None = 50
    cost_usd: float | None = None
    tokens: int | None = None
    output_bytes: int = 50_000_000
    """Cap on collected outputs; what is left out is noted."""


@dataclass(frozen=True, slots=True)
class TrialSpec:
    """All that fixes a trial before it is run."""

    id: TrialId
    eval: Eval
    arm: Arm
    limits: Limits
    seed: int
    allow: tuple[str, ...] = ()
    """Tools granted beyond the usual (read, write, edit, shell, skill)."""
    mcp_config: Path | None = None
    notes: bool = False
    """Whether the agent is asked to leave its doubts in `user_notes.md`."""
    pass_env: tuple[str, ...] = ()
    fixtures: tuple[tuple[Path, str], ...] = ()
    """Files to place: (source, path below the working directory)."""
    neighbours: tuple[Path, ...] = ()
    """Further skills installed beside it (a catalogue)."""
    plan_digest: str = ""


class State(StrEnum):
    """Where a trial stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    """Ended by the agent; graded (or gradable)."""
    EXCLUDED = "excluded"
    """Failed for a reason outside the agent's work; in no rate, always counted."""
    INTERRUPTED = "interrupted"
    """Not finished; `--resume` goes on."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One launch of the agent for a trial."""

    number: int
    """From 1, going on across resumes."""
    failure: Failure | None = None
    answer: str | None = None
    usage: Usage = Usage()
    started: Started | None = None
    skill_uses: tuple[SkillUse, ...] = ()
    models: tuple[str, ...] = ()
    launched_at: str = ""
    """UTC, ISO 8601."""
    ended_at: str = ""
    wall_seconds: float = 0.0
    waited_seconds: float = 0.0
    """Seconds in which the agent itself waited for rate limits."""
    first_event_seconds: float | None = None
    exit_code: int | None = None
    decided_seconds: float | None = None
    """When that was, seconds after the launch."""
    ended_early: str | None = None
    """What decided it before the agent was done (`stop_when`), else `None`."""
    reserved_usd: float | None = None
    """What an attempt ended early is settled at, marked, since no final bill came."""
    unknown_events: int = 0
    stderr_tail: str = ""
    structured: Any = None
    tools_called: Mapping[str, int] = field(default_factory=dict)
    tool_errors: int = 0
    pid: int | None = None
    pid_started: float | None = None
    """The launcher's start time, seconds since the epoch: with the pid it names one process only."""
    pgid: int | None = None

    @property
    def seconds(self) -> float:
        """The meter: wall time without the waits for rate limits; a simulated agent's is its scripted duration."""
        if self.usage.seconds is not None:
            return self.usage.seconds
        return max(0.0, self.wall_seconds - self.waited_seconds)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one attempt left behind, before it is graded."""

    attempt: Attempt
    outputs: tuple[str, ...] = ()
    """Collected files, relative to `outputs/`."""
    notes: tuple[str, ...] = ()
    """What was left out and why, changes to the installed skill, …"""
    omitted: Mapping[str, int] = field(default_factory=dict)
    """Files the agent left that could not be kept (too large, above all), with their bytes."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The record of a trial (`trial.json`)."""

    id: TrialId
    state: State
    attempts: tuple[Attempt, ...] = ()
    grades: tuple[Grade, ...] = ()
    outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skill_used: bool | None = None
    """Whether the arm's own skill was in fact used; `None` where the agent leaves no sign of it."""
    arm_agent: str = ""
    arm_model: str | None = None
    plan_digest: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, Any] = field(default_factory=dict)
    """What a judge had to say beside its grades: `claims`, `eval_feedback`, `user_notes_summary`."""
    omitted: Mapping[str, int] = field(default_factory=dict)
    """Files the agent left that are not among the outputs, with their bytes: no check may say they are not there."""

    @property
    def last(self) -> Attempt | None:
        """The attempt that decided the trial."""
        return self.attempts[-1] if self.attempts else None

    @property
    def failure(self) -> Failure | None:
        """Why it failed, if it did."""
        return self.last.failure if self.last else None

    @property
    def counts(self) -> bool:
        """Whether it enters the rates, by the failure table."""
        return self.state is State.COMPLETED and policy(self.failure).counts

    @property
    def score(self) -> float | None:
        """Share of counted, required, decided expectations that passed, in [0, 1]; `None`: nothing was measured."""
        if not self.counts:
            return None
        decided = [grade for grade in self.grades if grade.counted and grade.passed is not None]
        return sum(grade.decision is Decision.PASSED for grade in decided) / len(decided) if decided else None
