"""Reads what `qwen -o stream-json` prints, which is nearly what Claude Code prints. Pure: bytes in, events out.

A failure of the API is also printed as a text of the assistant, `[API Error: …]`: it is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import (
    Lines,
    mapping,
    mappings,
    number,
    optional,
    text_in,
    whole,
    without_answer,
    word,
)
from skill_assay.agents.pricing import list_price
from skill_assay.agents.skill_reads import Readers
from skill_assay.agents.skill_tool import SkillTool
from skill_assay.errors import Failure, FailureKind
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

__all__ = ["QwenParser"]

_READERS = Readers((".qwen/skills", ".agents/skills"), {"read_file": "file_path"}, ("run_shell_command",))
_API_ERROR = "[API Error:"


class QwenParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
    """

    def __init__(self, *, work: str = "", home: str = "") -> None:
        self._lines = Lines(self._events)
        self._skills = SkillTool("skill", "skill", work, home, _READERS)
        self._model: str | None = None
        self._said: str | None = None
        self._api_error: str | None = None
        self._result: Mapping[str, Any] | None = None
        self.tokens_so_far = 0
        """Of the messages that are complete."""

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line; pieces of messages are skipped unread."""
        return () if line.startswith(b'{"type":"stream_event"') else self._lines.feed(line)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The answer, or why there is none."""
        result = self._result
        if result is None:
            failure = without_answer(self._lines, exit_code, stderr)
            words = self._api_error or (stderr if not self._lines.read else "")
            return Finished(None, failure=failure_from_words(words, default=failure.kind) if words.strip() else failure)
        tokens = _tokens(mapping(result.get("usage")))
        turns, milliseconds = number(result.get("num_turns")), number(result.get("duration_api_ms"))
        usage = Usage(
            tokens=tokens if tokens.total else None,
            cost_usd=list_price(tokens if tokens.total else None, self._model),
            turns=None if turns is None else int(turns),
            api_seconds=None if milliseconds is None else milliseconds / 1000,
        )
        models = (self._model,) if self._model and tokens.total else ()
        if result.get("is_error") or result.get("subtype") != "success" or self._api_error:
            failed = self._failure(result)
            said = self._said if failed.kind is FailureKind.AGENT_LIMIT else None
            return Finished(said, usage, failed, models=models)
        answer, structured = word(result.get("result")), result.get("structured_result")
        if answer is None and structured is None:
            said = "it reported success and no answer"
            return Finished(None, usage, Failure(FailureKind.UNREADABLE, said), models=models)
        return Finished(answer or "", usage, structured=structured, models=models)

    def _failure(self, result: Mapping[str, Any]) -> Failure:
        words = str(mapping(result.get("error")).get("message") or self._api_error or result.get("subtype"))
        if result.get("subtype") == "error_max_turns":
            return Failure(FailureKind.AGENT_LIMIT, words)
        return failure_from_words(words)

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        parent = optional(data.get("parent_tool_use_id"))
        match data["type"]:
            case "system" if data.get("subtype") == "init":
                self._model = str(data.get("model") or "") or None
                tools = data.get("tools")
                names = tuple(str(tool) for tool in tools) if isinstance(tools, list) else ()
                yield Started(model=self._model, version=word(data.get("qwen_code_version")), tools=names)
            case "assistant":
                yield from self._assistant(data["message"], parent)
            case "user":
                yield from self._user(data["message"], parent)
            case "result":
                self._result = data
            case "system" if data.get("subtype") == "retry":
                yield _retrying(mapping(data.get("data")))
            case "system":
                yield Other(str(data.get("subtype")), known=False, raw=data)
            case kind:
                yield Other(str(kind), known=False, raw=data)

    def _assistant(self, message: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        ident = str(message.get("id") or "") or None
        self.tokens_so_far += _tokens(mapping(message.get("usage"))).total
        for block in mappings(message.get("content")):
            match block.get("type"):
                case "text" if str(block["text"]).startswith(_API_ERROR):
                    self._api_error = str(block["text"])
                case "text":
                    self._api_error = None
                    self._said = str(block["text"]) if parent is None else self._said
                    yield Text(str(block["text"]), parent, ident)
                case "tool_use":
                    self._api_error = None
                    call = ToolCall(str(block["id"]), str(block["name"]), mapping(block.get("input")), parent, ident)
                    self._skills.called(call)
                    yield call

    def _user(self, message: Mapping[str, Any], parent: str | None) -> Iterator[Event]:
        for block in mappings(message.get("content")):
            if block.get("type") == "tool_result":
                text, failed = text_in(block.get("content")), bool(block.get("is_error"))
                result = ToolResult(str(block["tool_use_id"]), text, failed, parent)
                yield result
                yield from self._skills.answered(result)


def _retrying(data: Mapping[str, Any]) -> Retrying:
    wait = number(data.get("delayMs"))
    failure = failure_from_words(str(data.get("message") or ""), default=FailureKind.SERVER_ERROR)
    return Retrying(failure, None if wait is None else wait / 1000)


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """`input_tokens` includes what was read from the cache."""
    read = whole(usage.get("cache_read_input_tokens"))
    return Tokens(max(0, whole(usage.get("input_tokens")) - read), whole(usage.get("output_tokens")), read)
