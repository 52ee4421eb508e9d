"""What every wire protocol of the scripted model server offers, and the few things they share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from skill_assay.modelserver.script import Error, Hang, Received, Text, ToolUse, Turn, Wait

__all__ = ["Wire", "as_list", "blocks", "catalogue_in", "event", "kind_of", "pieces", "said_text"]

_PIECE = 24
"""Characters in a delta: small, so that clients see texts and inputs come in pieces."""
_CATALOGUE = re.compile(
    r"The following skills are available for use with the Skill tool|^### Available skills|^<available_skills>", re.M
)
_ENTRY = re.compile(r"^- ([^\s:]+(?::[^\s:]+)*)(?:: (.*))?$")
_TAGGED = re.compile(r"<name>\s*([\w:.-]+)\s*</name>\s*<description>\s*(.*?)\s*</description>", re.S)


class Wire(Protocol):
    """One wire protocol. Each is a module with these functions."""

    def speaks(self, path: str) -> bool:
        """Whether a request to this path asks the model something in this protocol."""
        ...

    def received(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any], text: str) -> Received:
        """What scripts ask about a request."""
        ...

    def wants_stream(self, request: Received) -> bool:
        """Whether the answer is to come as server-sent events."""
        ...

    def stream(self, turn: Turn, request: Received, ident: str) -> Iterator[bytes | Wait | Hang]:
        """The answer's server-sent events, with the pauses between them."""
        ...

    def whole(self, turn: Turn, request: Received, ident: str) -> dict[str, Any]:
        """The answer in one piece."""
        ...

    def failure(self, error: Error) -> dict[str, Any]:
        """The body of an HTTP error."""
        ...


def as_list(value: Any) -> list[Any]:
    """The value, if it is a list; strange requests are no reason to fail."""
    return value if isinstance(value, list) else []


def kind_of(block: Any) -> str:
    """The `type` of a block of content."""
    return str(block.get("type", "")) if isinstance(block, dict) else ""


def said_text(content: Any, kinds: tuple[str, ...] = ("text",)) -> str:
    """The text of a message's content: a string, or blocks of certain kinds."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in as_list(content) if kind_of(block) in kinds)


def catalogue_in(text: str) -> dict[str, str]:
    """The skills a model is shown, by the ways in which known CLIs list them."""
    found: dict[str, str] = {}
    for begin in _CATALOGUE.finditer(text):
        part = text[begin.end() :]
        if begin.group().startswith("<"):
            found.update(_TAGGED.findall(part.split("</available_skills>", 1)[0]))
        else:
            found.update(_listed(part))
    return found


def _listed(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines()[1:]:
        entry = _ENTRY.match(line.strip())
        if entry:
            found[entry.group(1)] = entry.group(2) or ""
        elif line.strip() and found:
            break
    return found


def blocks(turn: Turn) -> list[Text | ToolUse]:
    """What the turn says, without its pauses."""
    return [item for item in turn.items if isinstance(item, Text | ToolUse)]


def pieces(text: str) -> Iterator[str]:
    """A text as deltas bring it."""
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
