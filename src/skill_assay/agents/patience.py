"""Bounds how often an agent repeats a failed request by itself: then the failure table decides, which asks all workers
to slow down and counts the tries. An agent that shows its retries on standard error has a parser that reads them there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from skill_assay.errors import Failure
from skill_assay.model.protocols import Parser
from skill_assay.model.transcript import Event, Retrying, SkillUse, Text, ToolCall, ToolResult

__all__ = ["MOST", "Patience", "error_reader"]

MOST = 3
"""Retries in a row that are borne; with the next one the attempt is ended."""


class Patience:
    """Watches one attempt's events."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self.waiting_for: Failure | None = None
        """What the agent waits to be over just now."""
        self.lost: Failure | None = None
        """The failure for which the attempt was ended."""

    def see(self, event: Event) -> str | None:
        """A text once it is enough."""
        match event:
            case Retrying():
                # Sub-agents ask at the same time: what each repeats once or twice is not one request repeated often.
                self._in_a_row = self._in_a_row + 1 if event.attempt is None else event.attempt
                self.waiting_for = event.failure
                if self._in_a_row > MOST:
                    self.lost = event.failure
                    return "it repeats a failed request"
            case Text() | ToolCall() | ToolResult() | SkillUse():
                self._in_a_row, self.waiting_for = 0, None
            case _:
                pass
        return None


Take = Callable[[bytes], str | None]


def error_reader(parser: Parser, see: Callable[[Iterable[Event]], str | None]) -> Take | None:
    """What takes the lines of standard error, for a parser that reads them (`feed_error`); `None` for the others.

    Args:
        parser: of this attempt.
        see: takes the events of one line.
    """
    feed: Callable[[bytes], Iterable[Event]] | None = getattr(parser, "feed_error", None)
    if feed is None:
        return None
    return lambda line: see(feed(line))
