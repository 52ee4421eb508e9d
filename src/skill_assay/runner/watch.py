"""Sums up an attempt's events as they come."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from skill_assay.model.transcript import (
    Event,
    Finished,
    Other,
    Retrying,
    SkillUse,
    Started,
    Text,
    ToolCall,
    ToolResult,
)

__all__ = ["Watch", "own_skill_used"]


@dataclass(slots=True)
class Watch:
    """What a record needs of the events, without keeping them all."""

    started: Started | None = None
    uses: list[SkillUse] = field(default_factory=list)
    tools: Counter[str] = field(default_factory=Counter)
    tool_errors: int = 0
    unknown: int = 0
    waited: float = 0.0
    last_text: str | None = None
    finished: Finished | None = None

    def see(self, event: Event) -> None:
        """Take note of one event."""
        match event:
            case Started():
                self.started = self.started or event
            case ToolCall():
                self.tools[event.name] += 1
            case ToolResult(is_error=True):
                self.tool_errors += 1
            case SkillUse():
                self.uses.append(event)
            case Retrying():
                self.waited += event.wait_seconds or 0.0
            case Text(parent=None):
                self.last_text = event.text
            case Finished():
                self.finished = event
            case Other(known=False):
                self.unknown += 1
            case _:
                pass


def own_skill_used(uses: list[SkillUse] | tuple[SkillUse, ...], names: frozenset[str], subagents: bool = True) -> bool:
    """Whether one of `names` (the folder and the declared name, exactly) was in fact used."""
    return any(use.confirmed and use.name in names and (subagents or use.parent is None) for use in uses)
