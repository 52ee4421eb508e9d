"""Reads what `gemini -o stream-json` prints. Pure: bytes in, events out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import Lines, mapping, number, whole, without_answer
from skill_assay.agents.pricing import list_price
from skill_assay.agents.skill_reads import Readers
from skill_assay.agents.skill_tool import SkillTool
from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import Event, Finished, Other, Started, Text, Tokens, ToolCall, ToolResult, Usage

__all__ = ["GeminiParser"]

_READERS = Readers(
    (".gemini/skills", ".agents/skills"), {"read_file": "file_path"}, ("run_shell_command",), frozenset({"read_file"})
)


class GeminiParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
    """

    def __init__(self, *, work: str = "", home: str = "") -> None:
        self._lines = Lines(self._events)
        self._skills = SkillTool("activate_skill", "name", work, home, _READERS)
        self._pieces: list[str] = []
        self._answer = ""
        self._warning: str | None = None
        self._result: Mapping[str, Any] | None = None

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line. A text comes in pieces and is told when something else follows."""
        return self._lines.feed(line)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """What was said since the last tool call, or why there is nothing."""
        self._answer = "".join(self._pieces) or self._answer
        result = self._result
        if result is None:
            failure = self._without_result(exit_code, stderr)
            return Finished(None, failure=failure)
        stats = mapping(result.get("stats"))
        usage, models = _usage(stats), tuple(name for name, row in mapping(stats.get("models")).items() if _used(row))
        if result.get("status") != "success":
            words = str(mapping(result.get("error")).get("message") or "the agent reported an error")
            return Finished(None, usage, failure_from_words(words), models=models)
        if self._warning and _GAVE_UP.search(self._warning):
            return Finished(self._answer, usage, Failure(FailureKind.AGENT_LIMIT, self._warning), models=models)
        return Finished(self._answer, usage, models=models)

    def _without_result(self, exit_code: int | None, stderr: str) -> Failure:
        failure = without_answer(self._lines, exit_code, stderr)
        if exit_code == _TURN_LIMIT:
            return Failure(FailureKind.AGENT_LIMIT, "it reached its own limit of turns", detail=failure.detail)
        words = self._warning or (stderr if exit_code and exit_code > 0 else "")
        return failure_from_words(words[-2000:], default=failure.kind) if words.strip() else failure

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        kind = data["type"]
        if kind == "message" and data["role"] == "assistant" and data.get("delta"):
            self._pieces.append(str(data["content"]))
            return
        if self._pieces:
            self._answer = "".join(self._pieces)
            self._pieces = []
            yield Text(self._answer)
        match kind:
            case "init":
                yield Started(model=str(data.get("model") or "") or None)
            case "message":
                if data["role"] == "assistant":
                    self._answer = str(data["content"])
                    yield Text(self._answer)
            case "tool_use":
                call = ToolCall(str(data["tool_id"]), str(data["tool_name"]), mapping(data.get("parameters")))
                self._skills.called(call)
                yield call
            case "tool_result":
                text = str(data.get("output") or mapping(data.get("error")).get("message") or "")
                result = ToolResult(str(data["tool_id"]), text, data.get("status") != "success")
                yield result
                yield from self._skills.answered(result)
            case "error":
                self._warning = str(data.get("message") or "")
            case "result":
                self._result = data
            case _:
                yield Other(str(kind), known=False, raw=data)


_GAVE_UP = re.compile(r"loop detected|maximum session turns", re.IGNORECASE)
_TURN_LIMIT = 53
"""Its exit status then."""


def _used(row: Any) -> bool:
    return bool(number(mapping(row).get("total_tokens")))


def _tokens(row: Mapping[str, Any]) -> Tokens:
    """`input_tokens` includes what was cached; thoughts are in the total alone and billed as output."""
    cached, asked, total = whole(row.get("cached")), whole(row.get("input_tokens")), whole(row.get("total_tokens"))
    return Tokens(max(0, asked - cached), max(whole(row.get("output_tokens")), total - asked), cached)


def _usage(stats: Mapping[str, Any]) -> Usage:
    models = {str(name): _tokens(mapping(row)) for name, row in mapping(stats.get("models")).items() if _used(row)}
    tokens = sum(models.values(), Tokens()) if models else None
    prices = [list_price(used, name, "google") for name, used in models.items()]
    known = [price for price in prices if price is not None]
    cost = sum(known) if known and len(known) == len(prices) else None
    return Usage(tokens=tokens, cost_usd=cost)
