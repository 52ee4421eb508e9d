"""Reads what `copilot -p … --output-format json` prints. Bytes in, events out.

It names no tokens in its events but in a file of its own (`--usage-output-file`), written when it ends by itself. That
one, and nothing else, is read from disk, at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import Lines, http_status, mapping, mappings, number, whole, without_answer
from skill_assay.agents.pricing import list_price
from skill_assay.agents.skill_reads import Readers
from skill_assay.agents.skill_tool import SkillTool
from skill_assay.errors import Failure
from skill_assay.model.transcript import (
    Event,
    Finished,
    Other,
    Retrying,
    Started,
    Text,
    Tokens,
    ToolCall,
    ToolResult,
    Usage,
)

__all__ = ["CopilotParser"]

_READERS = Readers((".github/skills", ".agents/skills", ".claude/skills"), {"view": "path"}, ("bash",))
_SILENT = (
    *("assistant.intent", "assistant.message_delta", "assistant.message_start"),
    *("assistant.reasoning", "assistant.reasoning_delta", "assistant.tool_call_delta", "assistant.turn_end"),
    *("assistant.turn_retry", "assistant.turn_start", "assistant.usage", "model.call_finished"),
    *("model.call_start", "skill.invoked", "tool.execution_partial_result"),
    *("tool.execution_progress", "tool.shell_output", "user.message"),
)
_USAGE_BYTES = 1_000_000
_SILENT_GROUPS = ("session.", "permission.", "hook.")
"""Notices about the session itself."""


class CopilotParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
        usage_file: where it writes what it used, as we see it.
    """

    def __init__(self, *, work: str = "", home: str = "", usage_file: Path | None = None) -> None:
        self._usage_file = usage_file
        self._own_provider = False
        self._lines = Lines(self._events)
        self._skills = SkillTool("skill", "skill", work, home, _READERS)
        self._started = False
        self._names: tuple[str, ...] = ()
        self._model: str | None = None
        self._answer: str | None = None
        self._turns = 0
        self._failure: Failure | None = None
        self._result: Mapping[str, Any] | None = None
        self._aborted = False

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        return self._lines.feed(line)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The last message, or why there is none."""
        milliseconds = number(mapping(mapping(self._result).get("usage")).get("totalApiDurationMs"))
        seconds = None if milliseconds is None else milliseconds / 1000
        tokens, cost, named = self._used()
        usage = Usage(tokens, cost, self._turns or None, seconds)
        models = named or ((self._model,) if self._model and self._turns else ())
        if self._failure is not None:
            return Finished(None, usage, self._failure, models=models)
        if self._result is None or self._aborted or exit_code != 0 or self._result.get("exitCode"):
            failure = without_answer(self._lines, exit_code, stderr)
            if not self._lines.read and stderr.strip():
                failure = failure_from_words(stderr, default=failure.kind)
            return Finished(None, usage, failure, models=models)
        return Finished(self._answer or "", usage, models=models)

    def _used(self) -> tuple[Tokens | None, float | None, tuple[str, ...]]:
        """Tokens, their list price and the models. GitHub bills by another measure, so only a provider of one's own has
        a price."""
        by_model = {name: _tokens(mapping(about)) for name, about in _metrics(self._usage_file).items()}
        used = {str(name): tokens for name, tokens in by_model.items() if tokens.total}
        if not used:
            return None, None, ()
        prices = [list_price(tokens, name) for name, tokens in used.items()] if self._own_provider else [None]
        known = [price for price in prices if price is not None]
        return sum(used.values(), Tokens()), sum(known) if len(known) == len(used) else None, tuple(used)

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        kind, about = str(data["type"]), mapping(data.get("data"))
        match kind:
            case "session.skills_loaded":
                self._names = tuple(str(skill["name"]) for skill in mappings(about.get("skills")))
            case "session.tools_updated" if not self._started:
                self._started = True
                yield Started(model=str(about.get("model") or "") or None, skills=self._names)
            case "assistant.message":
                yield from self._message(about)
            case "tool.execution_start":
                yield from self._call(about)
            case "tool.execution_complete":
                yield from self._result_of(about)
            case "model.call_failure":
                yield Retrying(
                    failure_from_words(
                        str(about.get("errorMessage") or ""), status=http_status(about.get("statusCode"))
                    )
                )
            case "session.error":
                self._failure = failure_from_words(str(about["message"]), status=http_status(about.get("statusCode")))
            case "assistant.idle":
                # Told to end, it may still close with a result and code 0.
                self._aborted = about.get("aborted") is True
            case "result":
                self._result = data
            case "model.call_final_result":
                self._own_provider = about.get("isByok") is True
            case _ if kind not in _SILENT and not kind.startswith(_SILENT_GROUPS):
                yield Other(kind, known=False, raw=data)

    def _message(self, about: Mapping[str, Any]) -> Iterator[Event]:
        parent = _parent(about)
        self._model = str(about.get("model") or "") or self._model
        said, ident = str(about.get("content") or ""), str(about.get("messageId") or "") or None
        self._failure = None
        if parent is None:
            self._turns += 1
            self._answer = said
        if said:
            yield Text(said, parent, ident)

    def _call(self, about: Mapping[str, Any]) -> Iterator[Event]:
        arguments = mapping(about.get("arguments"))
        call = ToolCall(str(about["toolCallId"]), str(about["toolName"]), arguments, _parent(about))
        self._skills.called(call)
        yield call

    def _result_of(self, about: Mapping[str, Any]) -> Iterator[Event]:
        said = mapping(about.get("result")).get("content") or mapping(about.get("error")).get("message") or ""
        result = ToolResult(str(about["toolCallId"]), str(said), about.get("success") is not True, _parent(about))
        yield result
        yield from self._skills.answered(result)


def _metrics(file: Path | None) -> Mapping[str, Any]:
    """What it used, by model; empty where it wrote nothing that can be read."""
    try:
        if file is None or file.is_symlink() or not file.is_file() or file.stat().st_size > _USAGE_BYTES:
            return {}
        return mapping(mapping(json.loads(file.read_bytes())).get("modelMetrics"))
    except (OSError, ValueError, RecursionError):
        return {}


def _tokens(about: Mapping[str, Any]) -> Tokens:
    """`inputTokens` includes what went through the cache."""
    used = mapping(about.get("usage"))
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    whole_input, output, read, written = (whole(used.get(name)) for name in names)
    return Tokens(max(0, whole_input - read - written), output, read, written)


def _parent(about: Mapping[str, Any]) -> str | None:
    return str(about.get("parentToolCallId") or "") or None
