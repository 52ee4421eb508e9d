"""Short, plain evidence: values and lists shown within bounds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

__all__ = ["counted", "listed", "quoted", "shortened", "shown"]

LISTED = 10
"""So many of a list are shown; the rest is counted."""


def shortened(text: str, limit: int = 120) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(text: str, limit: int = 80) -> str:
    """The text on one line, in quotation marks."""
    return f'"{shortened(text, limit)}"'


def shown(value: Any, limit: int = 80) -> str:
    """A value as JSON, cut with an ellipsis; what JSON can't say, by its type."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False), limit)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"


def listed(names: Iterable[str], limit: int = LISTED) -> str:
    """`a, b, c … and 4 more`."""
    every = list(names)
    more = f" … and {len(every) - limit:,} more" if len(every) > limit else ""
    return ", ".join(every[:limit]) + more


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
