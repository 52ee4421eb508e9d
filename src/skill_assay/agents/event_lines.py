"""Reads what a program prints: our event lines where its first line says so, else plain text that is the answer.

The event lines are described in docs/how-to/other-programs.md. The first line must be
`{"assay": 1, "type": "started"}`: a program whose plain answer happens to be JSON is not mistaken for one that
speaks them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from skill_assay.agents.json_lines import http_status, number
from skill_assay.errors import Failure, FailureKind, failure_from_status
from skill_assay.model.transcript import (
    Event,
    Finished,
    Other,
    Retrying,
    SkillUse,
    Started,
    Text,
    Tokens,
    ToolCall,
    ToolResult,
    Usage,
)

__all__ = ["MAX_PLAIN_BYTES", "REPORTABLE", "VERSION", "ProgramParser"]

VERSION = 1
"""The version of the event lines."""

MAX_PLAIN_BYTES = 4_000_000
"""Plain output beyond this is left out, with a note at the end of the answer."""

REPORTABLE = frozenset(FailureKind) - {
    FailureKind.TRIAL_CAP,
    FailureKind.TIME_LIMIT,
    FailureKind.SETUP,
    FailureKind.BUDGET,
    FailureKind.INTERRUPTED,
    FailureKind.GRADER,
}
"""The failures a program may name; the others are ours to find."""

_T = TypeVar("_T")
_Line = Mapping[str, Any]


class ProgramParser:
    """A parser for one attempt of a program that is not known to us.

    Args:
        own_clock: whether `seconds` in its usage lines stands for the wall time (a simulated agent's do).
    """

    def __init__(self, *, own_clock: bool = False) -> None:
        self._own_clock = own_clock
        self._plain: bytearray | None = None
        self._left_out = 0
        self._version: Any = None
        self._usage = Usage()
        self._failure: Failure | None = None
        self._last: _Line | None = None
        self._text: str | None = None

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        if self._plain is not None:
            self._keep(line)
            return ()
        data = _json_object(line)
        if self._version is None:
            if not line.strip():
                return ()
            if data is None or type(data.get("assay")) is not int or data.get("type") != "started":
                self._plain = bytearray()
                self._keep(line)
                return ()
            self._version = data["assay"]
        if data is None:
            return (Other("unreadable", known=False),) if line.strip() else ()
        try:
            return self._event(data)
        except _MalformedError:
            return (Other(str(data.get("type")), known=False, raw=data),)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The answer or the failure; the documentation's table "how it ends" says which."""
        if self._plain is not None or self._version is None:
            return self._end_plain(exit_code, stderr)
        finished = Finished(None, self._usage)
        if self._version != VERSION:
            said = f"it speaks version {self._version} of the event lines; this Assay reads version {VERSION}"
            return replace(finished, failure=Failure(FailureKind.UNREADABLE, said))
        if self._failure is not None:
            return replace(finished, failure=self._failure)
        if self._last is not None:
            answer = _get(self._last, "answer", str, None)
            return replace(
                finished,
                answer=answer if answer is not None else self._text or "",
                structured=self._last.get("structured"),
                models=_strings(self._last, "models"),
            )
        if exit_code == 0:
            said = "its event lines ended without a `finished` or `error` line"
            return replace(finished, failure=Failure(FailureKind.UNREADABLE, said, detail=_tail(stderr)))
        return replace(finished, failure=_crash(exit_code, stderr))

    def _end_plain(self, exit_code: int | None, stderr: str) -> Finished:
        answer = bytes(self._plain or b"").decode("utf-8", "replace").strip()
        if exit_code != 0:
            return Finished(None, failure=_crash(exit_code, stderr or answer))
        if not answer:
            said = "it printed nothing: its standard output is the answer"
            return Finished(None, failure=Failure(FailureKind.UNREADABLE, said, detail=_tail(stderr)))
        note = f"\n[{self._left_out} further bytes of output left out]" if self._left_out else ""
        return Finished(answer + note)

    def _keep(self, line: bytes) -> None:
        assert self._plain is not None
        room = MAX_PLAIN_BYTES - len(self._plain)
        self._plain += (line + b"\n")[: max(0, room)]
        self._left_out += max(0, len(line) + 1 - max(0, room))

    def _event(self, data: _Line) -> Iterable[Event]:
        match data.get("type"):
            case "usage":
                self._usage = _added(self._usage, _usage(data, self._own_clock))
            case "error":
                self._failure = _failure(data)
            case "finished":
                _get(data, "answer", str, None), _strings(data, "models")
                self._last = data
            case str(kind) if kind in _EVENTS:
                event = _EVENTS[kind](data)
                if isinstance(event, Text) and event.parent is None:
                    self._text = event.text
                return (event,)
            case kind:
                return (Other(str(kind), known=False, raw=data),)
        return ()


class _MalformedError(ValueError):
    """A line of a known type with a missing or mistyped field."""


_REQUIRED: Any = object()


def _get(data: _Line, key: str, kind: type[_T], default: Any = _REQUIRED) -> Any:
    value = data.get(key)
    if value is None and default is not _REQUIRED:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _MalformedError(key)
    return value


def _number(data: _Line, key: str) -> float | None:
    value = data.get(key)
    if value is None:
        return None
    found = number(value)
    if found is None:
        raise _MalformedError(key)
    return found


def _count(data: _Line, key: str) -> int | None:
    value = _number(data, key)
    return None if value is None else int(value)


def _strings(data: _Line, key: str) -> tuple[str, ...]:
    value = _get(data, key, list, [])
    if not all(isinstance(item, str) for item in value):
        raise _MalformedError(key)
    return tuple(value)


def _started(data: _Line) -> Started:
    return Started(
        model=_get(data, "model", str, None),
        version=_get(data, "version", str, None),
        tools=_strings(data, "tools"),
        skills=_strings(data, "skills"),
        mcp_servers=_strings(data, "mcp_servers"),
        skill_signs=_get(data, "skill_signs", bool, None),
    )


def _text(data: _Line) -> Text:
    return Text(_get(data, "text", str), _get(data, "parent", str, None))


def _tool_call(data: _Line) -> ToolCall:
    parent = _get(data, "parent", str, None)
    return ToolCall(_get(data, "id", str), _get(data, "name", str), _get(data, "input", dict, {}), parent)


def _tool_result(data: _Line) -> ToolResult:
    parent = _get(data, "parent", str, None)
    is_error = _get(data, "is_error", bool, False)
    return ToolResult(_get(data, "call_id", str), _get(data, "text", str, ""), is_error, parent)


def _skill_use(data: _Line) -> SkillUse:
    how = _get(data, "how", str, "tool")
    if how not in ("tool", "read", "slash"):
        raise _MalformedError("how")
    return SkillUse(
        name=_get(data, "name", str).removeprefix("/"),
        how=how,
        confirmed=_get(data, "confirmed", bool),
        call_id=_get(data, "call_id", str, None),
        path=_get(data, "path", str, None),
        parent=_get(data, "parent", str, None),
    )


def _retrying(data: _Line) -> Retrying:
    return Retrying(_failure(data), _number(data, "wait_seconds"))


_EVENTS: Mapping[str, Callable[[_Line], Event]] = {
    "started": _started,
    "text": _text,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "skill_use": _skill_use,
    "retrying": _retrying,
}


def _failure(data: _Line) -> Failure:
    message = _get(data, "message", str, None) or "the program reported an error"
    status, retry_after = http_status(_get(data, "status", int, None)), _number(data, "retry_after")
    kind = _get(data, "kind", str, None)
    if kind is None and status is not None:
        return failure_from_status(status, message, retry_after=retry_after)
    known = FailureKind(kind) if kind in REPORTABLE else FailureKind.UNKNOWN
    detail = None if kind is None or kind in REPORTABLE else f"it reported the kind {kind!r}"
    return Failure(known, message, status=status, retry_after=retry_after, detail=detail)


def _usage(data: _Line, own_clock: bool) -> Usage:
    raw = _get(data, "tokens", dict, None)
    tokens = None
    if raw is not None:
        tokens = Tokens(*(_count(raw, kind) or 0 for kind in ("input", "output", "cache_read", "cache_write")))
    seconds = _number(data, "seconds")
    return Usage(
        tokens=tokens,
        cost_usd=_number(data, "cost_usd"),
        turns=_count(data, "turns"),
        api_seconds=_number(data, "api_seconds"),
        seconds=seconds if own_clock else None,
    )


def _added(one: Usage, other: Usage) -> Usage:
    """The sum, in which unknown stays unknown."""

    def add(a: Any, b: Any) -> Any:
        return b if a is None else a if b is None else a + b

    return Usage(
        tokens=add(one.tokens, other.tokens),
        cost_usd=add(one.cost_usd, other.cost_usd),
        turns=add(one.turns, other.turns),
        api_seconds=add(one.api_seconds, other.api_seconds),
        seconds=add(one.seconds, other.seconds),
    )


def _crash(exit_code: int | None, stderr: str) -> Failure:
    if exit_code is None or exit_code < 0:
        ended = "it was killed" + (f" by signal {-exit_code}" if exit_code else "")
    else:
        ended = f"it ended with exit code {exit_code} and no answer"
    last = next((line.strip() for line in reversed(stderr.splitlines()) if line.strip()), "")
    said = f"{ended}: {last[:300]}" if last else ended
    return Failure(FailureKind.CRASHED, said, detail=_tail(stderr))


def _tail(text: str) -> str | None:
    return text[-2000:].strip() or None


def _json_object(line: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
