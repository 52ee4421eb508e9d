"""Decides a run while it goes on. Only a confirmed use of the skill, or the allowed turns, end it early."""

from __future__ import annotations

from dataclasses import dataclass

from skill_assay.model.transcript import Event, SkillUse, Text, ToolCall, ToolResult

__all__ = ["NOT_WITHIN", "USED", "Decider", "TurnCounter", "counts_as_use"]

USED = "the skill was used"
NOT_WITHIN = "not used within"
"""How the text begins that ends a run at its allowed turns."""


def counts_as_use(use: SkillUse, names: frozenset[str], subagents: bool) -> bool:
    """Whether this is a confirmed use of the skill under test, by its exact name."""
    return use.confirmed and use.name in names and (subagents or use.parent is None)


@dataclass(slots=True)
class TurnCounter:
    """Counts the main agent's answers: each is one turn, however many texts and tool calls it holds."""

    turns: int = 0
    _message: str | None = None
    _answered: bool = True
    """Whether a tool's result, or nothing at all, came last: what follows is a new answer."""

    def see(self, event: Event) -> int:
        """The turns so far, the one under way among them."""
        match event:
            case Text(parent=None) | ToolCall(parent=None):
                if self._is_new(event.message):
                    self.turns += 1
                    self._message = event.message
                self._message = self._message or event.message
                self._answered = False
            case ToolResult(parent=None):
                self._answered = True
            case _:
                pass
        return self.turns

    def _is_new(self, message: str | None) -> bool:
        """By the message's own id where the agent tells it: results may come between the calls of one answer."""
        if message is not None and self._message is not None:
            return message != self._message
        return self._answered


@dataclass(slots=True)
class Decider:
    """A `StopWhen` for one run of a query."""

    names: frozenset[str]
    """Those of the skill under test."""
    decide_after: int | None
    subagents: bool = True
    _counter: TurnCounter | None = None

    def __call__(self, event: Event) -> str | None:
        """A text as soon as the run is decided."""
        if isinstance(event, SkillUse) and counts_as_use(event, self.names, self.subagents):
            return USED
        self._counter = self._counter or TurnCounter()
        turns = self._counter.see(event)
        if self.decide_after is not None and turns > self.decide_after:
            return f"{NOT_WITHIN} {self.decide_after} turns"
        return None
