"""A run's transcript for the page: typed events with the line each came from, or the stored Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skill_assay.agents.registry import create_agent, stored_parser
from skill_assay.errors import AssayError
from skill_assay.model.protocols import Parser
from skill_assay.model.transcript import (
    Event,
    Finished,
    Other,
    Retrying,
    SkillUse,
    Started,
    Text,
    ToolCall,
    ToolResult,
)
from skill_assay.viewer.files import Refused, inside, read_bytes, read_text
from skill_assay.workspace.run_folder import RunFolder

__all__ = ["Line", "Transcript", "read_transcript"]

_MOST_BYTES = 20_000_000
_MOST_EVENTS = 2_000


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened."""

    kind: str
    """`started`, `said`, `call`, `result`, `error`, `skill`, `waiting`, `failed`, `answer`."""
    title: str
    text: str
    line: int
    """Of the stored output that it came from, from 1."""
    sub_agent: bool = False
    left: int = 0
    """Characters that were cut off."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What is known of how a run went."""

    lines: tuple[Line, ...] = ()
    markdown: str | None = None
    """The stored page, where the agent's own output can't be read."""
    source: str | None = None
    """The file, relative to the run folder."""
    cut: bool = False


def read_transcript(folder: Path, agent: str | None, step_chars: int = 20_000) -> Transcript:
    """The transcript of a run's last attempt.

    Args:
        folder: the run's.
        agent: its specification; `None` where nobody knows it.
        step_chars: how much of one step is kept.
    """
    numbers = RunFolder(folder).attempt_numbers()
    if agent and numbers:
        source = f"attempt-{numbers[-1]}.jsonl"
        parser = _parser(agent)
        if parser is not None:
            try:
                data, more = read_bytes(folder, source, _MOST_BYTES)
            except Refused:
                data, more = b"", False
            lines = tuple(_some(_events(parser, data), step_chars))
            if lines:
                return Transcript(lines[:_MOST_EVENTS], None, source, more or len(lines) > _MOST_EVENTS)
    for name in ("transcript.md", "outputs/transcript.md"):
        text = read_text(folder, name)
        if text is not None:
            return Transcript((), text[: 10 * step_chars], name, cut=len(text) > 10 * step_chars)
    return Transcript(source=_any_stream(folder))


def _any_stream(folder: Path) -> str | None:
    for name in ("attempt-1.jsonl", "transcript.jsonl"):
        try:
            inside(folder, name)
        except Refused:
            continue
        return name
    return None


def _parser(spec: str) -> Parser | None:
    """The adapter's own parser; what follows the name's colon (a script, a command) is not needed to read."""
    for name in (spec, spec.partition(":")[0]):
        try:
            return stored_parser(create_agent(name))
        except (AssayError, OSError, ValueError):
            continue
    return None


def _events(parser: Parser, data: bytes) -> Iterator[tuple[int, Event]]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line:
            for event in parser.feed(line):
                yield number, event


def _some(events: Iterator[tuple[int, Event]], step_chars: int) -> Iterator[Line]:
    kept = 0
    for number, event in events:
        if kept > _MOST_EVENTS:
            return
        line = _line(number, event)
        if line is not None:
            kept += 1
            left = max(0, len(line.text) - step_chars)
            yield replace(line, text=line.text[:step_chars], left=left) if left else line


def _line(number: int, event: Event) -> Line | None:
    match event:
        case Started(model=model, version=version):
            return _made("started", "Started", ", ".join(filter(None, (model, version))), number)
        case Text(text=text, parent=parent):
            return _made("said", "Agent", text, number, parent)
        case ToolCall(name=name, input=given, parent=parent):
            text = json.dumps(given, ensure_ascii=False, indent=2, default=str)
            return _made("call", f"{name} {_gist(given)}".strip(), text, number, parent)
        case ToolResult(text=text, is_error=bad, parent=parent):
            return _made("error" if bad else "result", "Error" if bad else "Result", text, number, parent)
        case SkillUse(name=name, confirmed=confirmed, how=how, parent=parent):
            title = f"Skill used: {name}" if confirmed else f"Skill asked for, not given: {name}"
            return _made("skill", f"{title} (by {how})", "", number, parent)
        case Retrying(failure=failure):
            return _made("waiting", "Waiting for the API", failure.message, number)
        case Finished(failure=failure) if failure is not None:
            return _made("failed", f"Failed: {failure.kind}", failure.message, number)
        case Finished(answer=answer):
            return _made("answer", "Answer", answer or "", number)
        case Other():
            return None


def _made(kind: str, title: str, text: str, number: int, parent: str | None = None) -> Line:
    return Line(kind, title[:300], text, number, parent is not None)


def _gist(given: object) -> str:
    """The one argument of a tool call that says most."""
    if not isinstance(given, Mapping):
        return ""
    for key in ("command", "file_path", "path", "pattern", "skill", "query", "url", "description"):
        value = given.get(key)
        if isinstance(value, str):
            return " ".join(value.split())[:120]
    return ""
