"""What a trigger evaluation found: per run, per query, and over the whole set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from skill_assay.model.triggers import Query
from skill_assay.stats.results import Classification, Interval, Share

__all__ = [
    "CatalogueCheck",
    "ClassFigures",
    "DecidedBy",
    "Diagnosis",
    "Matrix",
    "MatrixRow",
    "QueryResult",
    "RunState",
    "SkillKind",
    "TriggerResults",
    "TriggerRun",
]

DecidedBy = Literal["use", "answer", "turns"]
"""What ended a run: the skill was used, the agent answered, or it was not used within so many turns."""
SkillKind = Literal["capability", "preference"]
"""`capability`: the agent could not do it without the skill; `preference`: it could, but not this way."""


class RunState(StrEnum):
    """What one run of a query showed."""

    TRIGGERED = "triggered"
    NOT_TRIGGERED = "not_triggered"
    TIMEOUT = "timeout"
    """Ended at its time limit before the skill was used: it shows nothing."""
    ERROR = "error"
    """Failed for a reason outside the agent's work: it shows nothing."""
    UNSEEN = "unseen"
    """The prompt itself calls the skill in a way that leaves no sign with this agent: it shows nothing."""

    @property
    def outcome(self) -> bool | None:
        """Triggered or not; `None` for a run that is in no rate."""
        return {RunState.TRIGGERED: True, RunState.NOT_TRIGGERED: False}.get(self)


@dataclass(frozen=True, slots=True)
class TriggerRun:
    """One run of a query."""

    query_id: str
    repeat: int
    state: RunState
    fired: tuple[str, ...] = ()
    """The skills that were used, each once, by the name of their folder; in order."""
    refused: tuple[str, ...] = ()
    """Names that were called and are no skill here."""
    decided_by: DecidedBy | None = None
    seconds: float | None = None
    """How long it ran."""
    decided_seconds: float | None = None
    """When it was decided and ended before the agent was done."""
    saved_seconds: float | None = None
    """By how much an early end was shorter than the median run that went to its own end; an estimate."""
    turns: int | None = None
    """As the agent counts them; unknown for a run ended early."""
    failure: str | None = None
    """The failure's kind."""
    message: str = ""
    """The failure in words."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What the runs of one query showed."""

    query: Query
    runs: tuple[TriggerRun, ...]
    planned: int
    """Runs of the full grid."""
    triggers: int
    decided: int
    """Runs that triggered or did not; the rest is in no rate."""
    rate: float | None
    interval: Interval | None
    """Wilson; `None` for a query that was stopped once it was decided."""
    passed: bool | None
    """A positive passes at the threshold and above, a negative below it; `None`: no run was decided."""
    curtailed: bool = False
    """Stopped once it was decided: the rate is the unbiased one for that."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """The runs of all queries that want one skill, or none."""

    wanted: str | None
    """`None`: no skill in particular should be used."""
    counts: tuple[int, ...]
    """Runs by the matrix's columns; a run in which two skills were used counts in both."""
    runs: int
    """Decided runs."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Which skill was wanted against which was used, in runs."""

    columns: tuple[str | None, ...]
    """The skill under test first, `None` (no skill) last."""
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class CatalogueCheck:
    """What of the catalogue the agent tells its model."""

    skills: tuple[str, ...]
    """All that are installed, the one under test among them, in the order of their names."""
    used: int
    """Characters of all names and descriptions, each description as far as the agent shows one."""
    budget: int | None = None
    """`None`: unknown for this agent."""
    per_skill: int | None = None
    cut: tuple[str, ...] = ()
    """Skills whose description is longer than the agent shows."""
    dropped: tuple[str, ...] = ()
    """Skills of which only the name is told."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why every positive is silent while every negative passes."""

    detection: Literal["works", "broken", "untested"]
    sentence: str
    causes: tuple[str, ...] = ()
    """Likely ones, with what to try."""


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The queries of one class of prompts."""

    queries: int
    undecided: int
    """Those of which no run showed anything; they are in neither share."""
    as_wanted: Share
    """Queries that pass: used where it should be, left alone where it should not. Wilson."""
    fired: Share
    """Decided runs in which the skill was used."""
    unseen: int = 0
    """Runs whose call of the skill leaves no sign with this agent."""


@dataclass(frozen=True, slots=True)
class TriggerResults:
    """A whole trigger evaluation."""

    skill_name: str
    skill: str
    """The name it is installed under; how it stands in `fired`."""
    description: str
    skill_digest: str
    agent: str
    agent_version: str
    model: str | None
    simulated: bool
    runs: int
    """Planned for each query."""
    threshold: float
    decide_after: int | None
    """Turns after which a run counts as not triggered; `None`: when the agent is done."""
    subagents: bool
    curtail: bool
    seed: int
    queries: tuple[QueryResult, ...]
    """In the order of the file."""
    scores: Classification
    by_tag: Mapping[str, Classification]
    by_context: Mapping[str, Classification]
    """`bare` queries, and those `with context`."""
    matrix: Matrix
    catalogue: CatalogueCheck
    by_class: Mapping[str, ClassFigures] = field(default_factory=dict)
    """By class of prompt, in the order of the classes; what has none last, under an empty name."""
    kind: SkillKind | None = None
    edited_description: bool = False
    """Whether another description than the skill's own was tried."""
    diagnosis: Diagnosis | None = None
    advice: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out or is odd about the set and the catalogue."""
    ending: str = ""
    """Why it ended before its end; empty when it did not."""
    launches: int = 0
    usd: float = 0.0
    assumed_usd: float = 0.0
    """How much of it no bill told: what was set aside stands for it."""
    tokens: int = 0
    unbilled: int = 0
    """Runs ended early, of which no bill came: they are counted at what was set aside for them."""
    started_at: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def every_run(self) -> tuple[TriggerRun, ...]:
        """All runs, query by query."""
        return tuple(run for query in self.queries for run in query.runs)

    @property
    def left_out(self) -> tuple[TriggerRun, ...]:
        """Runs that are in no rate."""
        return tuple(run for run in self.every_run if run.state.outcome is None)
