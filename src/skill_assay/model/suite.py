"""Several agents or models measured with one skill: an iteration each, and what they say beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skill_assay.model.benchmark import Benchmark
from skill_assay.model.gate import Gate
from skill_assay.model.inference import Inference
from skill_assay.model.library import standing
from skill_assay.stats.results import Verdict

__all__ = ["Member", "MemberRow", "Rival", "Suite", "SuiteTable"]


@dataclass(frozen=True, slots=True)
class Member:
    """One agent with one model."""

    agent: str
    """Its specification, without the model."""
    model: str | None = None
    version: str | None = None
    """Of the agent, once it was found."""
    iteration: int | None = None
    """`None` until it was begun."""
    reason: str = ""
    """Why it is not whole; empty where nothing stopped it."""

    @property
    def label(self) -> str:
        """`codex/gpt-5.5`, as the option spells it."""
        return f"{self.agent}/{self.model}" if self.model else self.agent

    @property
    def key(self) -> tuple[str, str | None]:
        """What makes it itself."""
        return self.agent, self.model


@dataclass(frozen=True, slots=True)
class Suite:
    """Iterations that belong together, in the order in which they run."""

    members: tuple[Member, ...]
    seed: int
    created_at: str
    after: int = 0
    """The newest iteration there was when it began."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """`skill` and `evals`, which every member shares."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The options as the members' plans record them; their budget is the one of the whole suite."""

    @property
    def iterations(self) -> tuple[int, ...]:
        """Those begun, in the order of members."""
        return tuple(member.iteration for member in self.members if member.iteration is not None)


@dataclass(frozen=True, slots=True)
class MemberRow:
    """What one member says."""

    member: Member
    benchmark: Benchmark | None = None
    inference: Inference | None = None
    gate: Gate | None = None
    adjusted_p: float | None = None
    """Benjamini-Hochberg over the members with a p value."""
    error: str | None = None
    """Why it was not measured."""

    @property
    def verdict(self) -> Verdict | None:
        """Its own verdict where it stands among so many members."""
        return standing(self.inference, self.adjusted_p)

    @property
    def taken_back(self) -> bool:
        """Whether the verdict fell to the correction."""
        return self.inference is not None and self.verdict != self.inference.verdict


@dataclass(frozen=True, slots=True)
class Rival:
    """A cheaper member with the skill against a dearer one without it, paired by eval."""

    cheaper: str
    dearer: str
    cheaper_usd: float | None
    """Mean of a trial with the skill; `None` where only list prices say which is cheaper."""
    dearer_usd: float | None
    """Mean of a trial without it."""
    decided_by: Literal["measured cost", "list prices"]
    inference: Inference | None = None
    """Cheaper minus dearer, by the rules that arms are compared by; `None` where the two do not compare."""
    refused: tuple[str, ...] = ()
    """Why they do not compare."""
    adjusted_p: float | None = None
    """Benjamini-Hochberg over the pairs with a p value."""

    @property
    def verdict(self) -> Verdict | None:
        """Better or worse where it stands among so many pairs, `equivalent`, or `inconclusive`."""
        return standing(self.inference, self.adjusted_p)


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """The members beside each other."""

    skill_name: str
    rows: tuple[MemberRow, ...]
    rivals: tuple[Rival, ...] = ()
    margin: float = 0.05
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""
