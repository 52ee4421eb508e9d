"""What the parsers of JSON lines share: tolerant reading, typed access, ends without an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import Event, Other

__all__ = [
    "Lines",
    "http_status",
    "mapping",
    "mappings",
    "number",
    "optional",
    "text_in",
    "whole",
    "without_answer",
    "word",
]

Line = Mapping[str, Any]
_MOST = 1e15
"""What is more is no count, price or time of anything; sums of what is less stay finite."""


class Lines:
    """Reads lines one by one. What is no object, or not of the form its type has, passes through as `Other`.

    Args:
        events: the events of one object.
    """

    def __init__(self, events: Callable[[Line], Iterator[Event]]) -> None:
        self._events = events
        self.read = 0
        """Objects so far."""
        self.unreadable = 0

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line. Never raises."""
        if not line.strip():
            return ()
        try:
            data = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            self.unreadable += 1
            return (Other("unreadable", known=False),)
        self.read += 1
        try:
            return list(self._events(data))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            return (Other(str(data.get("type")), known=False, raw=data),)


def without_answer(lines: Lines, exit_code: int | None, stderr: str) -> Failure:
    """Why there is no answer where the stream names no reason."""
    tail = stderr.strip()[-500:]
    if not lines.read and lines.unreadable and exit_code == 0:
        said = "it printed text and no events: another output format"
        return Failure(FailureKind.UNREADABLE, said, detail=tail or None)
    if exit_code == 0:
        return Failure(FailureKind.UNREADABLE, "its events ended without an answer", detail=tail or None)
    how = "was ended by a signal" if exit_code is None or exit_code < 0 else f"ended with status {exit_code}"
    last = next((line.strip() for line in reversed(tail.splitlines()) if line.strip()), "")
    said = f"it {how} without a result" + (f": {last[:300]}" if last else "")
    return Failure(FailureKind.CRASHED, said, detail=tail or None)


def mapping(value: Any) -> Line:
    """The value, if it is an object; an empty one otherwise."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Line]:
    """The objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def number(value: Any) -> float | None:
    """A number of something, not negative and not beyond all measure, or `None`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if 0 <= found <= _MOST else None


def whole(value: Any) -> int:
    """A count; 0 where there is none."""
    return int(number(value) or 0)


def http_status(value: Any) -> int | None:
    """A status of HTTP, or `None`."""
    return value if isinstance(value, int) and 100 <= value <= 599 else None


def word(value: Any) -> str | None:
    """A text, or `None` where there is another thing: for what is only shown."""
    return value if isinstance(value, str) else None


def optional(value: Any) -> str | None:
    """A text or nothing. Another thing is not understood, and the line passes through as `Other`.

    Raises:
        TypeError: it is another thing.
    """
    if value is not None and not isinstance(value, str):
        raise TypeError(f"no text: {type(value).__name__}")
    return value


def text_in(content: Any) -> str:
    """A message's text: a string, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in mappings(content) if isinstance(block.get("text"), str))
