"""What a person may choose about a trigger evaluation, besides what every run shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.model.trigger_results import SkillKind

__all__ = ["TriggerChoice"]


@dataclass(frozen=True, slots=True)
class TriggerChoice:
    """Which queries, and how a run of one is decided."""

    queries: Path | None = None
    """The file; the skill's own where not given."""
    query_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    threshold: float = 0.5
    """A positive passes at this rate and above, a negative below it."""
    decide_after: int | None = 4
    """Turns of the main agent; `None`: when it is done."""
    subagents: bool = True
    """Whether a use by a sub-agent counts."""
    curtail: bool = False
    """Stop a query once the runs left over can't change whether it passes."""
    description: str | None = None
    """Tried in place of the skill's own, which is not touched."""
    catalog: tuple[str, ...] = ()
    """Folders of neighbours, or `installed`."""
    kind: SkillKind | None = None
    allow_outside_files: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise InputError("--threshold must lie above 0 and at most at 1", found=f"{self.threshold:g}")
        if self.decide_after is not None and self.decide_after < 1:
            raise InputError("--decide-after must be at least 1, or end", found=str(self.decide_after))
