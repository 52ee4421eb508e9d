"""What the scripted model answers, as data.

A `Script` is a list of rules. The first rule that fits a request gives its turns; which turn is said follows from the
tool rounds the request already holds, so a client that repeats a request gets the same answer again. Requests of a
sub-agent are conversations of their own: give them a rule that matches their prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_assay.model.transcript import Tokens

__all__ = ["Cut", "Error", "Hang", "Item", "Received", "Router", "Rule", "Script", "Text", "ToolUse", "Turn", "Wait"]


@dataclass(frozen=True, slots=True)
class Text:
    """The model says something."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model calls a tool."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause in mid-answer."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing more comes; the connection stays open until the server stops."""


Item = Text | ToolUse | Wait | Hang


@dataclass(frozen=True, slots=True)
class Error:
    """An HTTP error instead of an answer."""

    status: int
    message: str = ""
    retry_after: float | None = None
    """Seconds, sent as the header `retry-after`."""
    count: int | None = None
    """Only the first so many requests that reach this turn are refused; `None`: all."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is dropped in mid-answer."""

    after: int
    """Events sent before it drops; 0 drops it before the status line."""
    count: int | None = None
    """Only for the first so many requests that reach this turn; `None`: all."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model."""

    items: tuple[Item, ...] = ()
    error: Error | None = None
    cut: Cut | None = None
    stop_reason: str | None = None
    """In Anthropic's words; `None`: `tool_use` when a tool is called, else `end_turn`."""
    usage: Tokens = Tokens(input=1200, output=42)


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came, and what scripts ask about it."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]
    model: str = ""
    prompt: str = ""
    """Everything said in the user's role, tool results left out."""
    last: str = ""
    """The user's last message, tool results left out."""
    system: str = ""
    rounds: int = 0
    """Answers with tool calls so far."""
    tools: tuple[str, ...] = ()
    catalogue: Mapping[str, str] = field(default_factory=dict)
    """The skills the model is shown: name → description."""
    text: str = field(default="", repr=False)
    """The body as sent, for searches of the whole request."""


Router = Callable[[Received], Sequence[Turn] | None]
"""Turns for a request, chosen by code (a model that reads the catalogue, say); `None` leaves it to the next rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Turns, and which requests they are for. Every condition given must hold."""

    turns: tuple[Turn, ...] = ()
    prompt: str | None = None
    """Occurs in what the user said."""
    last: str | None = None
    """Occurs in the user's last message."""
    skill: str | None = None
    """Is in the catalogue."""
    without: str | None = None
    """Is not in the catalogue."""
    tool: str | None = None
    """Is among the tools."""
    router: Router | None = None

    def answers(self, request: Received) -> Sequence[Turn] | None:
        """The turns for this request, or `None` when the rule is not for it."""
        fits = (
            (self.prompt is None or self.prompt in request.prompt)
            and (self.last is None or self.last in request.last)
            and (self.skill is None or self.skill in request.catalogue)
            and (self.without is None or self.without not in request.catalogue)
            and (self.tool is None or self.tool in request.tools)
        )
        if not fits:
            return None
        return self.router(request) if self.router else self.turns


@dataclass(frozen=True, slots=True)
class Script:
    """The whole behaviour of the scripted model."""

    rules: tuple[Rule, ...]
    models: tuple[str, ...] = ("claude-opus-5-5",)
    """What `/v1/models` lists."""

    def turn(self, request: Received) -> Turn:
        """The answer to a request. After the last turn the last one is repeated; no rule: a short text."""
        for rule in self.rules:
            turns = rule.answers(request)
            if turns:
                return turns[min(request.rounds, len(turns) - 1)]
        return Turn((Text("The script has no answer to this."),))
