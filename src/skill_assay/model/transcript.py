"""The typed events of one attempt, the same for every agent.

An adapter turns each line an agent prints into these; unknown lines pass through as `Other` and are counted.
`parent` names the tool call of the sub-agent that an event happened in; `None` is the main agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skill_assay.errors import Failure

__all__ = [
    "Event",
    "Finished",
    "Other",
    "Retrying",
    "SkillUse",
    "Started",
    "Text",
    "Tokens",
    "ToolCall",
    "ToolResult",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by kind; their sum is the meter called `tokens`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Input, output, cache reads and cache writes, sub-agents included."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """What an attempt used. Unknown is `None`, never 0."""

    tokens: Tokens | None = None
    cost_usd: float | None = None
    turns: int | None = None
    api_seconds: float | None = None
    seconds: float | None = None
    """A simulated agent's scripted duration, which stands for its wall time; `None` for every real agent."""


@dataclass(frozen=True, slots=True)
class Started:
    """The agent's own first words about itself."""

    model: str | None = None
    version: str | None = None
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    permission_mode: str | None = None
    skill_signs: bool | None = None
    """Whether this attempt's events show a skill's use; `None`: as the agent's capabilities say."""


@dataclass(frozen=True, slots=True)
class Text:
    """Something the agent said, whole."""

    text: str
    parent: str | None = None
    message: str | None = field(default=None, compare=False, repr=False)
    """The answer of the model that it is part of, where the agent tells: by these, turns are counted."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call with its whole input."""

    id: str
    name: str
    input: Mapping[str, Any]
    parent: str | None = None
    message: str | None = field(default=None, compare=False, repr=False)
    """As of `Text`."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave back."""

    call_id: str
    text: str
    is_error: bool = False
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class SkillUse:
    """A skill was asked for. Only a confirmed one is a use; an unknown skill is reported and refused."""

    name: str
    """As the agent named it, a leading `/` removed; `plugin:skill` stays whole."""
    how: Literal["tool", "read", "slash"]
    confirmed: bool
    """Whether the skill's text really reached the agent."""
    call_id: str | None = None
    path: str | None = None
    """The SKILL.md that was read, for `how="read"`."""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """The agent itself waits for the API; not the attempt's end."""

    failure: Failure
    wait_seconds: float | None = None
    attempt: int | None = None
    """How often this very request has failed so far; `None` where the agent does not tell requests apart."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The agent's last words."""

    answer: str | None
    usage: Usage = Usage()
    failure: Failure | None = None
    structured: Any = None
    """The reply constrained by a schema, where one was asked for."""
    models: tuple[str, ...] = ()
    """The models that answered, as billed."""


@dataclass(frozen=True, slots=True)
class Other:
    """A line that stands for none of these; kept for the count of unknown events."""

    type: str
    known: bool = True
    """False for a type the adapter has never heard of."""
    raw: Mapping[str, Any] = field(default_factory=dict)


Event = Started | Text | ToolCall | ToolResult | SkillUse | Retrying | Finished | Other
