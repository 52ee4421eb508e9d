"""Reads what Claude Code prints with `--output-format stream-json`. Pure: bytes in, events out.

What is trusted and what is not:

- A skill was used when its tool call succeeded or its text arrived ("Base directory for this skill"), or when its
  SKILL.md was read; a call alone proves nothing. A slash command leaves no sign but that the command exists.
- An API failure ends with `subtype: "success"`, `is_error: true` and a text that reads like an answer: it is none.
- Partial messages are skipped by a look at their first bytes, but for the two that matter: a call of the Skill tool,
  known from them before its whole message is printed, and the tokens counted so far.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_assay.agents.claude_code_end import Ending, conclude
from skill_assay.agents.claude_code_skills import BODY, SkillCalls
from skill_assay.agents.json_lines import http_status, number, optional, whole, word
from skill_assay.errors import Failure, FailureKind, failure_from_status
from skill_assay.model.transcript import Event, Finished, Other, Retrying, SkillUse, Started, Text, ToolCall, ToolResult

__all__ = ["ClaudeCodeParser"]

_PARTIAL = b'{"type":"stream_event","event":{"type":"'
_DELTA = _PARTIAL + b'content_block_delta"'
_SKIP = len(_PARTIAL)
_SYSTEM = b'{"type":"system","subtype":"'
_SYSTEM_SKIP = len(_SYSTEM)
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MESSAGE = re.compile(rb'"id":"([^"]+)"')
_OUTPUT = re.compile(rb'"output_tokens":(\d+)')
_Partial = tuple[int, str, list[str]]
"""A Skill call under way: its index in the message, its id, the pieces of its input."""
_SILENT = frozenset(
    (
        *("api_error_recovered", "auth_status", "compact_boundary", "control_request", "control_response"),
        *("hook_progress", "hook_response", "hook_started", "informational", "keep_alive", "model_refusal_fallback"),
        *("model_refusal_no_fallback", "permission_denied", "prompt_suggestion", "rate_limit_event", "status"),
        *("task_notification", "task_progress", "task_started", "task_updated", "tool_progress", "tool_use_summary"),
    )
)
"""Lines that are known and say nothing we record."""
_SILENT_BYTES = frozenset(kind.encode() for kind in _SILENT)


class ClaudeCodeParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it, from which relative paths are resolved.
        home: its HOME, for `~`.
        slash: the skill called by its slash command in the prompt, if one was.
    """

    def __init__(self, *, work: str = "", home: str = "", slash: str | None = None) -> None:
        # Four times as fast as the standard library's, which is kept for what it refuses: bytes that are no UTF-8,
        # halves of surrogate pairs.
        from pydantic_core import from_json

        self._load = from_json
        self.tokens_so_far = 0
        """Tokens known to be used by now: never more than the bill, often less while a message is under way."""
        self._skills = SkillCalls(work, home)
        self._slash = slash
        self._ending = Ending()
        self._seen: set[str] = set()
        self._counted: set[str] = set()
        self._partial: _Partial | None = None
        self._message: str | None = None
        """The main agent's message that is being streamed."""

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line. Strange lines pass through as `Other`."""
        if line.startswith(_DELTA):
            if self._partial is None:
                return ()
        elif line.startswith(_PARTIAL):
            if not self._matters(line):
                return ()
        elif line.startswith(_SYSTEM) and line[_SYSTEM_SKIP : line.find(b'"', _SYSTEM_SKIP)] in _SILENT_BYTES:
            return ()
        data = self._object(line)
        if data is None:
            return self._unreadable(line)
        try:
            return list(self._events(data))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            return (Other(str(data.get("type")), known=False, raw=data),)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The answer, or why there is none."""
        return conclude(self._ending, exit_code, stderr)

    def _matters(self, line: bytes) -> bool:
        if line.startswith(b"message_delta", _SKIP):
            self._count_output(line)
        elif line.startswith(b"message_start", _SKIP) and b'"parent_tool_use_id":null' in line:
            found = _MESSAGE.search(line)
            self._message = found[1].decode("utf-8", "replace") if found else None
        return line.startswith(b"content_block_start", _SKIP) and b'"name":"Skill"' in line

    def _object(self, line: bytes) -> dict[str, Any] | None:
        try:
            data = self._load(line)
        except ValueError:
            try:
                data = json.loads(line.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                return None
        return data if isinstance(data, dict) else None

    def _unreadable(self, line: bytes) -> tuple[Event, ...]:
        if not line.strip():
            return ()
        self._ending.unreadable += 1
        return (Other("unreadable", known=False),)

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        kind = data.get("type")
        if kind == "system":
            yield from self._system(data)
            return
        match kind:
            case "stream_event":
                yield from self._stream(data)
            case "assistant":
                yield from self._assistant(data)
            case "user":
                yield from self._user(data)
            case "result" if data.get("num_turns") == 0 and not data.get("is_error"):
                # An earlier user message, or a command of the CLI's own: the model was not asked, nothing was answered.
                self._ending.unasked = True
            case "result":
                self._ending.result = data
            case _:
                yield from _other(str(kind), data)

    def _system(self, data: Mapping[str, Any]) -> Iterator[Event]:
        match data.get("subtype"):
            case "init":
                yield from self._init(data)
            case "api_retry":
                retrying = _retrying(data)
                self._ending.last_retry = retrying
                yield retrying
            case subtype:
                yield from _other(str(subtype), data)

    def _init(self, data: Mapping[str, Any]) -> Iterator[Event]:
        if self._ending.started:
            return
        self._ending.started = True
        yield Started(
            model=word(data.get("model")),
            version=word(data.get("claude_code_version")),
            tools=_names(data.get("tools")),
            skills=_names(data.get("skills")),
            mcp_servers=tuple(str(server["name"]) for server in data.get("mcp_servers") or ()),
            permission_mode=word(data.get("permissionMode")),
        )
        if self._slash is not None:
            known = {*_names(data.get("slash_commands")), *_names(data.get("skills"))}
            yield SkillUse(self._slash, "slash", confirmed=self._slash in known)

    def _stream(self, data: Mapping[str, Any]) -> Iterator[Event]:
        event, parent = data["event"], optional(data.get("parent_tool_use_id"))
        match event.get("type"):
            case "content_block_start" if event["content_block"].get("name") == "Skill":
                self._partial = (event["index"], event["content_block"]["id"], [])
            case "content_block_delta" if self._partial is not None and event["index"] == self._partial[0]:
                yield from self._delta(event["delta"], self._partial, parent)

    def _delta(
        self, delta: Mapping[str, Any], partial: tuple[int, str, list[str]], parent: str | None
    ) -> Iterator[Event]:
        _, ident, pieces = partial
        pieces.append(str(delta.get("partial_json", "")))
        if not pieces[-1].rstrip().endswith("}"):
            return
        try:
            arguments = json.loads("".join(pieces))
        except ValueError:
            return
        message = self._message if parent is None else None
        yield from self._call({"id": ident, "name": "Skill", "input": arguments}, parent, message)

    def _assistant(self, data: Mapping[str, Any]) -> Iterator[Event]:
        message, parent = data["message"], optional(data.get("parent_tool_use_id"))
        if message.get("model") == "<synthetic>":
            if data.get("error"):
                self._ending.api_error = str(data["error"])
            if message.get("stop_reason") == "refusal":
                self._ending.refused = True
            return
        self._count(message, parent)
        for block in _blocks(message):
            match block.get("type"):
                case "text":
                    yield from self._said(str(block["text"]), parent, word(message.get("id")))
                case "tool_use":
                    yield from self._call(block, parent, word(message.get("id")))

    def _said(self, text: str, parent: str | None, message: str | None) -> Iterator[Event]:
        if parent is None:
            self._ending.last_text = text
        yield Text(text, parent, message)

    def _count_output(self, line: bytes) -> None:
        found = _OUTPUT.search(line)
        self.tokens_so_far += int(found[1]) if found else 0

    def _count(self, message: Mapping[str, Any], parent: str | None) -> None:
        """Add a message's tokens once. The output of the main agent's own messages is counted as it streams."""
        usage, ident = message.get("usage") or {}, str(message.get("id"))
        if ident in self._counted:
            return
        self._counted.add(ident)
        for name in _INPUT if parent is None else (*_INPUT, "output_tokens"):
            self.tokens_so_far += whole(usage.get(name))

    def _call(self, block: Mapping[str, Any], parent: str | None, message: str | None = None) -> Iterator[Event]:
        ident, name = str(block["id"]), str(block["name"])
        if ident in self._seen:
            return
        self._seen.add(ident)
        if self._partial is not None and self._partial[1] == ident:
            self._partial = None
        arguments = block.get("input")
        call = ToolCall(ident, name, arguments if isinstance(arguments, Mapping) else {}, parent, message)
        self._skills.called(call)
        yield call

    def _user(self, data: Mapping[str, Any]) -> Iterator[Event]:
        parent, outcome = optional(data.get("parent_tool_use_id")), data.get("tool_use_result")
        for block in _blocks(data["message"]):
            match block.get("type"):
                case "tool_result":
                    yield from self._result(block, outcome, parent)
                case "text" if str(block.get("text")).startswith(BODY):
                    yield from self._skills.text_came(str(block["text"]), parent)

    def _result(self, block: Mapping[str, Any], outcome: Any, parent: str | None) -> Iterator[Event]:
        ident = str(block["tool_use_id"])
        result = ToolResult(ident, _flat(block.get("content")), bool(block.get("is_error")), parent)
        yield result
        if isinstance(outcome, Mapping):
            succeeded = outcome.get("success") is True
        else:
            # Older versions print no outcome for what a sub-agent does, and this line only when the call succeeded.
            succeeded = parent is not None and result.text.startswith("Launching skill: ")
        yield from self._skills.answered(result, succeeded)


def _other(kind: str, data: Mapping[str, Any]) -> Iterator[Event]:
    if kind not in _SILENT:
        yield Other(kind, known=False, raw=data)


def _retrying(data: Mapping[str, Any]) -> Retrying:
    status, delay, attempt = (
        http_status(data.get("error_status")),
        number(data.get("retry_delay_ms")),
        data.get("attempt"),
    )
    wait = None if delay is None else delay / 1000
    words = f"the API failed ({data.get('error')}); attempt {attempt} of {data.get('max_retries')}"
    if status is not None:
        failure = failure_from_status(status, words, retry_after=wait if status == 429 else None)
    else:
        failure = Failure(FailureKind.CONNECTION, words)
    return Retrying(failure, wait, None if number(attempt) is None else whole(attempt))


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or () if isinstance(block, Mapping)]


def _flat(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, Mapping))
    return "" if content is None else str(content)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list) else ()
