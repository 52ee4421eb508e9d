"""The resolved plan: the trials in order, and all that fixes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skill_assay.model.trial import Arm, Limits, TrialId

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What `plan.json` holds."""

    skill_name: str
    skill_path: str
    iteration: int
    arms: tuple[Arm, ...]
    order: tuple[TrialId, ...]
    """Interleaved and shuffled by the seed: no arm runs hours before another."""
    trials: int
    """Requested repeats per eval and arm."""
    seed: int
    limits: Limits
    digests: Mapping[str, str] = field(default_factory=dict)
    """`skill`, `evals`, `fixtures`, `graders`, `prompts`, and `arm:<name>` for every skill installed."""
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per arm: agent, version, model asked, sign-in source, simulated or not."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The resolved options, for the record and for `--resume`."""
    eval_ids: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    platform: str = ""
    created_at: str = ""

    @property
    def asked(self) -> tuple[str, str | None] | None:
        """Agent and model of the arm whose worth is asked; `None` for a plan without arms."""
        return (self.arms[0].agent, self.arms[0].model) if self.arms else None

    @property
    def timeouts(self) -> Literal["exclude", "fail"]:
        """Whether a trial ended by its time limit is left out or counts as failed."""
        return "fail" if self.settings.get("timeouts") == "fail" else "exclude"
