"""Reads what `codex exec --json` prints. Pure: bytes in, events out.

There is no event for a skill: its use shows as a command that reads its SKILL.md. What `$name` in a prompt injects
leaves no sign at all. Failures come as words only.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import Lines, mapping, text_in, whole, without_answer
from skill_assay.agents.pricing import list_price
from skill_assay.agents.skill_reads import Readers, SkillReads
from skill_assay.agents.strict_schema import restored
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

__all__ = ["CodexParser"]

_READERS = Readers((".agents/skills", ".codex/skills"), {}, ("command_execution",))
_SILENT = ("reasoning", "todo_list", "error")
"""Items that are known and say nothing we record; an `error` among them is a warning."""
_SILENT_TYPES = ("item.updated", "turn.started")


class CodexParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
        model: the model asked for, by which tokens are priced: Codex names none.
        signs: whether a use of the skill can be seen (not when `$name` in the prompt calls it).
        schema: what the answer was asked to satisfy.
    """

    def __init__(
        self,
        *,
        work: str = "",
        home: str = "",
        model: str | None = None,
        signs: bool = True,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._lines = Lines(self._events)
        self._reads = SkillReads(work, home, _READERS)
        self._model, self._signs, self._schema = model, signs, schema
        self._called: set[str] = set()
        self._answer: str | None = None
        self._failure: Failure | None = None
        self._tokens: Tokens | None = None
        self._finished = False

    @property
    def tokens_so_far(self) -> int:
        """Known only at the end of the turn."""
        return self._tokens.total if self._tokens else 0

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        return self._lines.feed(line)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The last message, or why there is none."""
        usage = Usage(tokens=self._tokens, cost_usd=list_price(self._tokens, self._model, "openai"))
        models = (self._model,) if self._model and self._tokens else ()
        if self._failure is not None or not self._finished:
            failure = self._failure or _unsaid(self._lines, exit_code, stderr)
            return Finished(None, usage, failure, models=models)
        answer = self._answer or ""
        data = None if self._schema is None else restored(_object(answer), self._schema)
        return Finished(answer, usage, structured=data, models=models)

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        match data["type"]:
            case "thread.started":
                yield Started(model=self._model, skill_signs=None if self._signs else False)
            case "item.started" | "item.completed" as kind:
                yield from self._item(data["item"], done=kind == "item.completed", raw=data)
            case "turn.completed":
                self._finished = True
                self._tokens = _tokens(mapping(data["usage"]))
            case "turn.failed":
                self._failure = failure_from_words(_words(str(data["error"]["message"])))
            case "error":
                yield from self._error(str(data["message"]))
            case kind if kind not in _SILENT_TYPES:
                yield Other(str(kind), known=False, raw=data)

    def _error(self, words: str) -> Iterator[Event]:
        if words.startswith("Reconnecting"):
            yield Retrying(failure_from_words(_words(words)))
        else:
            self._failure = failure_from_words(_words(words))

    def _item(self, item: Mapping[str, Any], *, done: bool, raw: Mapping[str, Any]) -> Iterator[Event]:
        match item["type"]:
            case "agent_message":
                if done:
                    self._answer = str(item["text"])
                    yield Text(self._answer)
            case "command_execution":
                call = {"command": _unwrapped(str(item["command"]))}
                failed = item.get("status") in ("failed", "declined") or bool(item.get("exit_code"))
                yield from self._tool(item, "command_execution", call, str(item["aggregated_output"]), failed, done)
            case "file_change":
                changed = {"changes": item["changes"]}
                yield from self._tool(item, "file_change", changed, "", item.get("status") == "failed", done)
            case "mcp_tool_call":
                name = f"mcp__{item['server']}__{item['tool']}"
                text = text_in(mapping(item.get("result")).get("content"))
                error = str(mapping(item.get("error")).get("message") or "")
                yield from self._tool(item, name, mapping(item.get("arguments")), text or error, bool(error), done)
            case "web_search":
                yield from self._tool(item, "web_search", {"query": item.get("query")}, "", False, done)
            case kind if kind not in _SILENT:
                yield Other(str(kind), known=False, raw=raw)

    def _tool(
        self, item: Mapping[str, Any], name: str, arguments: Mapping[str, Any], text: str, failed: bool, done: bool
    ) -> Iterator[Event]:
        ident = str(item["id"])
        if ident not in self._called:
            self._called.add(ident)
            call = ToolCall(ident, name, arguments)
            self._reads.called(call)
            yield call
        if done:
            result = ToolResult(ident, text, failed)
            yield result
            yield from self._reads.answered(result)


def _unsaid(lines: Lines, exit_code: int | None, stderr: str) -> Failure:
    if exit_code and exit_code > 0 and not lines.read:
        return failure_from_words(stderr, default=without_answer(lines, exit_code, stderr).kind)
    return without_answer(lines, exit_code, stderr)


def _words(said: str) -> str:
    """What a failure says; the body of an HTTP error is unwrapped, so that its own message is read."""
    error = mapping(mapping(_object(said)).get("error"))
    parts = [str(error[key]) for key in ("type", "code", "message") if error.get(key)]
    return ": ".join(parts) or said


def _unwrapped(command: str) -> str:
    """The command line itself, without the shell that Codex puts before it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    shell = len(words) == 3 and words[1] in ("-lc", "-c") and PurePosixPath(words[0]).name in ("bash", "sh", "zsh")
    return words[2] if shell else command


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """`input_tokens` includes what was read from and written to the cache; `output_tokens` includes reasoning."""
    read, written = whole(usage.get("cached_input_tokens")), whole(usage.get("cache_write_input_tokens"))
    fresh = max(0, whole(usage.get("input_tokens")) - read - written)
    return Tokens(fresh, whole(usage.get("output_tokens")), read, written)


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
