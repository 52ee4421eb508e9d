"""JSON as people write it: parsed strictly, and every value's line found again by its JSON path."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from functools import cached_property
from typing import Any, NoReturn

from skill_assay.errors import InputError
from skill_assay.formats.notes import child

__all__ = ["MAX_DEPTH", "JsonText", "parse_json"]

MAX_DEPTH = 100
"""Deeper nesting means nothing to anybody and would only exhaust the stack."""

_TOKEN = re.compile(r'[ \t\r\n]*(?:"((?:[^"\\]|\\.)*)"|([{}\[\],:])|([^\s{}\[\],:"]+))')

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_COMMA_AT_END = re.compile(r",\s*[\]}]")


class JsonText:
    """A JSON text with its value."""

    def __init__(self, text: str, value: Any) -> None:
        self.text, self.value = text, value

    def line(self, path: str) -> int | None:
        """The line on which the value at `path` begins, or its nearest parent's; `None` when there is none."""
        offset = self._places.get(path)
        while offset is None and path.startswith("$") and len(path) > 1:
            path = path[: max(path.rfind("."), path.rfind("["), 1)]
            offset = self._places.get(path)
        return None if offset is None else bisect_right(self._line_starts, offset)

    @cached_property
    def duplicates(self) -> tuple[str, ...]:
        """Paths of keys that stand twice in one object; the last one won."""
        self._places  # noqa: B018 (the scan fills both)
        return tuple(self._twice)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _places(self) -> dict[str, int]:
        self._twice: list[str] = []
        places: dict[str, int] = {}
        _Scan(self.text, places, self._twice).value("$")
        return places


class _Scan:
    """Walks a text that is known to parse, and notes where each value begins (for a key's value: the key)."""

    def __init__(self, text: str, places: dict[str, int], twice: list[str]) -> None:
        self._tokens = _TOKEN.finditer(text)
        self._places, self._twice = places, twice

    def value(self, path: str, token: re.Match[str] | None = None, at: int | None = None) -> None:
        token = token or next(self._tokens)
        self._places[path] = token.start(token.lastindex or 0) if at is None else at
        if token[2] == "{":
            self._object(path)
        elif token[2] == "[":
            self._array(path)

    def _object(self, path: str) -> None:
        for token in self._tokens:
            if token[2] == "}":
                return
            if token[1] is None:
                continue
            below = child(path, json.loads(f'"{token[1]}"'))
            if below in self._places:
                self._twice.append(below)
            next(self._tokens)
            self.value(below, at=token.start(1) - 1)

    def _array(self, path: str) -> None:
        index = 0
        for token in self._tokens:
            if token[2] == "]":
                return
            if token[2] != ",":
                self.value(f"{path}[{index}]", token)
                index += 1


def parse_json(text: str, file: str) -> JsonText:
    """The value of a JSON text.

    Raises:
        InputError: with the line, and what is likely wrong there.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _broken(text, file, error) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"can't be read as JSON: {_reason(error)}", file=file) from error
    if _HALF_PAIR.search(text) and not _encodable(value):
        raise InputError("can't be read as JSON: half a surrogate pair stands in a string", file=file)
    if _too_deep(value):
        raise InputError("can't be read as JSON: nested too deeply", file=file, expected=f"at most {MAX_DEPTH} levels")
    return JsonText(text, value)


def _broken(text: str, file: str, error: json.JSONDecodeError) -> InputError:
    comma = _COMMA_AT_END.search(text, len(text[: error.pos].rstrip(" \t\r\n,")))
    if comma is not None and comma.start() <= error.pos:
        # Python 3.13 points to the comma, earlier ones to what follows, in other words each.
        error = json.JSONDecodeError("a comma too many", text, comma.start())
        advice: str | None = "Remove the comma before the closing bracket."
    else:
        advice = _advice(text, error.pos)
    said = f"is not JSON: {error.msg[0].lower()}{error.msg[1:]}, column {error.colno}"
    return InputError(said, file=file, line=error.lineno, hint=advice)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "a number has too many digits" if "digits" in str(error) else str(error)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for holder in level
            if isinstance(holder, (dict, list))
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return False
    return True


def _advice(text: str, position: int) -> str | None:
    before, here = text[:position].rstrip(), text[position : position + 2]
    if not text.strip():
        return "The file is empty."
    if here == "//" or here == "/*" or here[:1] == "#":
        return 'JSON has no comments; use a "_comment" key.'
    if here[:1] == "'":
        return "JSON strings stand in double quotes."
    if here[:1] == '"' and before and before[-1] in '"]}0123456789el':
        return "A comma is missing before this."
    if here[:1] in "\n\r\t":
        return r"Inside a string, write \n for a line end and \t for a tab."
    return None
