"""Typed looks into somebody's object: a value of the right type, or a finding that says what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from skill_assay.formats.notes import Notes, child, shown

__all__ = ["Fields"]


class Fields:
    """One object of a file. Each look notes what is wrong and then gives the default."""

    def __init__(self, raw: Mapping[str, Any], path: str, notes: Notes) -> None:
        self.raw, self.path, self.notes = raw, path, notes

    def first(self, names: tuple[str, ...]) -> str | None:
        """The first of several names for one thing that is present; a further one with another value is noted."""
        present = [name for name in names if name in self.raw]
        for name in present[1:]:
            if self.raw[name] != self.raw[present[0]]:
                message = f"{name} is not read, since {present[0]} is there as well"
                self.notes.warn("two-names", message, self.at(name), remedy=f"Keep one of them: {present[0]}.")
        return present[0] if present else None

    def at(self, name: str) -> str:
        """The JSON path of a key."""
        return child(self.path, name)

    def wrong(self, name: str, expected: str, rule: str = "wrong-type") -> None:
        """Note that a value is of the wrong type."""
        message = f"{name} can't be read"
        self.notes.error(rule, message, self.at(name), found=shown(self.raw[name]), expected=expected)

    def text(self, name: str | None) -> str | None:
        """A text that says something; null and blank are as if absent."""
        value = self.raw.get(name) if name else None
        if name is None or value is None:
            return None
        if not isinstance(value, str):
            self.wrong(name, "a text")
            return None
        return value if value.strip() else None

    def texts(self, name: str | None) -> tuple[str, ...]:
        """A list of texts; a single text is a list of one."""
        value = self.raw.get(name) if name else None
        if name is None or value is None:
            return ()
        if isinstance(value, str) and value.strip():
            self.notes.info("single-for-list", f"{name} is one text, read as a list of one", self.at(name))
            return (value,)
        if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
            return tuple(value)
        self.wrong(name, "a list of texts, none of them blank")
        return ()

    def positive(self, name: str) -> float | None:
        """A number above 0."""
        value = self.raw.get(name)
        if value is None:
            return None
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and 0 < value < 1e15 and math.isfinite(value):
            return float(value)
        self.wrong(name, "a number above 0")
        return None

    def flag(self, name: str) -> bool | None:
        """true or false, and nothing that only looks like it."""
        value = self.raw.get(name)
        if value is None or isinstance(value, bool):
            return value
        self.wrong(name, "true or false, without quotes", "not-boolean")
        return None
