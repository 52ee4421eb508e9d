"""Reads what the built-in agent prints: our event lines, in which the use of a skill and the price are found here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from skill_assay.agents.api_model import family
from skill_assay.agents.event_lines import ProgramParser
from skill_assay.agents.pricing import list_price
from skill_assay.agents.skill_reads import Readers
from skill_assay.agents.skill_tool import SkillTool
from skill_assay.errors import FailureKind
from skill_assay.model.transcript import Event, Finished, Started, Text, ToolCall, ToolResult

__all__ = ["ApiParser"]

_READERS = Readers((".agents/skills",), {"read": "path"}, ("bash",))


class ApiParser(ProgramParser):
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
    """

    def __init__(self, *, work: str = "", home: str = "") -> None:
        super().__init__()
        self._skills = SkillTool("skill", "name", work, home, _READERS)
        self._model: str | None = None
        self._said: str | None = None
        self._untold = False
        """One answer came without its usage, so the sum of the others is no bill."""

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        events: list[Event] = []
        for event in super().feed(line):
            events.append(event)
            match event:
                case Started(model=model):
                    self._model = model
                case Text(text=text):
                    self._said = text
                case ToolCall():
                    self._skills.called(event)
                case ToolResult():
                    events += self._skills.answered(event)
        return events

    def _event(self, data: Mapping[str, Any]) -> Iterable[Event]:
        self._untold = self._untold or (data.get("type") == "usage" and data.get("tokens") is None)
        return super()._event(data)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The answer or the failure, with the list price; what was said up to its own limit is an answer."""
        finished = super().end(exit_code, stderr)
        provider, _, name = (self._model or "").partition(":")
        tokens = None if self._untold else finished.usage.tokens
        price = 0.0 if tokens and not tokens.total else list_price(tokens, name, family(provider) or None)
        limited = finished.failure is not None and finished.failure.kind is FailureKind.AGENT_LIMIT
        return replace(
            finished,
            answer=self._said if limited else finished.answer,
            usage=replace(finished.usage, tokens=tokens, cost_usd=price),
            models=finished.models or ((name,) if tokens and tokens.total else ()),
        )
