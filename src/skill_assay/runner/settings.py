"""The options of a run, resolved: what `assay run` and its relatives work from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skill_assay.errors import InputError
from skill_assay.model.inference import EarlyStop
from skill_assay.model.money import Spend
from skill_assay.model.trial import Invoke, Limits

__all__ = ["Budget", "Retrying", "RunSettings"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps; `None` is no cap."""

    usd: float | None = None
    tokens: int | None = None
    trials: int | None = None

    @property
    def given(self) -> bool:
        """Whether any cap was set."""
        return (self.usd, self.tokens, self.trials) != (None, None, None)

    def allows(self, spend: Spend) -> bool:
        """Whether `spend` lies within every cap; reaching one exactly is within."""
        return (
            (self.usd is None or spend.usd <= self.usd + 1e-9)
            and (self.tokens is None or spend.tokens <= self.tokens)
            and (self.trials is None or spend.launches <= self.trials)
        )


@dataclass(frozen=True, slots=True)
class Retrying:
    """How failures outside the agent's work are repeated."""

    attempts: int = 3
    """Retries after the first attempt, for failures with backoff."""
    total_seconds: float = 600.0
    base_seconds: float = 2.0
    cap_seconds: float = 60.0
    timeouts: int = 0
    """`--retry-timeouts N`."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything a person may choose about a run."""

    agent: str = ""
    """Empty: the one found on this machine."""
    model: str | None = None
    baselines: tuple[str, ...] = ("none",)
    invoke: Invoke = "told"
    trials: int = 3
    workers: int = 10
    seed: int = 42
    limits: Limits = Limits()
    allow: tuple[str, ...] = ()
    mcp_config: Path | None = None
    pass_env: tuple[str, ...] = ()
    sandbox: str = "none"
    budget: Budget = Budget()
    retrying: Retrying = Retrying()
    timeouts: Literal["exclude", "fail"] = "exclude"
    margin: float = 0.05
    grader: str | None = None
    """A grader program, with `{outputs}`, `{transcript}` and `{eval}`."""
    judge: str = "none"
    judge_votes: int = 1
    """How often the judge is asked; odd, the majority decides."""
    judge_mode: Literal["inline", "agent"] = "inline"
    """Whether the work stands in the question, or the judge reads the files itself."""
    judge_again: bool = False
    """Ask although a reply to the same question is stored."""
    judge_note: str = ""
    """What a person should know about the judge, found when it was chosen."""
    notes: bool = False
    """Ask the agent, in every arm alike, to leave its doubts in `user_notes.md`."""
    evals_file: Path | None = None
    """Evals from another file than the skill's own; absolute."""
    eval_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    allow_outside_files: bool = False
    allow_unequal: bool = False
    ungraded: bool = False
    keep_secrets: bool = False
    keep_sandboxes: bool = False
    thresholds: Mapping[str, Any] | None = None
    previous_benchmark: Path | None = None
    baseline_path: Path | None = None
    """Where `old_skill` of the configuration points (`baseline` key)."""
    stop_early: EarlyStop | None = None
    """`--stop early`, fixed before the first trial."""

    def __post_init__(self) -> None:
        for word, value in (("--trials", self.trials), ("--workers", self.workers)):
            if value < 1:
                raise InputError(f"{word} must be at least 1", found=str(value), expected="a whole number from 1")
        if self.judge_votes < 1 or self.judge_votes % 2 == 0:
            raise InputError("--judge-votes must be odd", found=str(self.judge_votes), expected="1, 3, 5, …")
        if self.limits.seconds <= 0:
            raise InputError("--timeout must be above 0 seconds", found=str(self.limits.seconds))
