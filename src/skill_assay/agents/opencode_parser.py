"""Reads what `opencode run --format json` prints. Pure: bytes in, events out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import Lines, http_status, mapping, number, whole, without_answer
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

__all__ = ["OpenCodeParser"]

_READERS = Readers(
    (".opencode/skill", ".opencode/skills", ".agents/skills", ".claude/skills"), {"read": "filePath"}, ("bash",)
)
_LIMITS = {"length": "the model's answer reached its limit of length", "content-filter": "the model refused"}
_FAILED_REQUEST = re.compile(rb'message="stream error" .*? error\.error="(?:\w+: )?((?:[^"\\]|\\.)*)')


class OpenCodeParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
        model: as asked for (`provider/model`): the events name none.
    """

    def __init__(self, *, work: str = "", home: str = "", model: str | None = None) -> None:
        self._lines = Lines(self._events)
        self._skills = SkillTool("skill", "name", work, home, _READERS)
        self._model = model
        self._started = False
        self._answer: str | None = None
        self._failure: Failure | None = None
        self._tokens: Tokens | None = None
        self._cost = 0.0
        self._turns = 0
        self._stopped = False
        self._reason: Any = None
        """Why the last step was over."""
        self._silent = False
        """The last step counted no output."""

    @property
    def tokens_so_far(self) -> int:
        """Of the steps that are finished."""
        return self._tokens.total if self._tokens else 0

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line."""
        return self._lines.feed(line)

    def feed_error(self, line: bytes) -> Iterable[Event]:
        """The events of one line of its log: a request that failed and is repeated, for it tells nobody else."""
        found = _FAILED_REQUEST.search(line)
        if found is None or self._failure is not None:
            return ()
        words = found[1].decode("utf-8", "replace")
        # It repeats what it takes for a passing fault of the server, whatever the words.
        return (Retrying(failure_from_words(words, default=FailureKind.SERVER_ERROR)),)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The last text, or why there is none."""
        cost = self._cost or list_price(self._tokens, self._model)
        usage = Usage(tokens=self._tokens, cost_usd=cost, turns=self._turns or None)
        models = (self._model,) if self._model and self._tokens else ()
        if self._failure is not None or not self._stopped:
            failure = self._failure or without_answer(self._lines, exit_code, stderr)
            if not self._lines.read and exit_code and stderr.strip():
                failure = failure_from_words(stderr, default=failure.kind)
            return Finished(None, usage, failure, models=models)
        if self._reason in _LIMITS:
            return Finished(self._answer, usage, Failure(FailureKind.AGENT_LIMIT, _LIMITS[self._reason]), models=models)
        if self._reason == "error" or (self._reason in ("unknown", "other") and self._silent):
            broke_off = Failure(FailureKind.CONNECTION, "the model's answer broke off before its end")
            return Finished(None, usage, broke_off, models=models)
        return Finished(self._answer or "", usage, models=models)

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        part = mapping(data.get("part"))
        if not self._started:
            self._started = True
            yield Started(model=self._model)
        match data["type"]:
            case "text":
                self._answer = str(part["text"])
                yield Text(self._answer, message=str(part.get("messageID") or "") or None)
            case "tool_use":
                yield from self._tool(part)
            case "step_finish":
                self._count(part)
            case "error":
                self._failure = _failure(mapping(data["error"]))
            case "step_start" | "reasoning":
                pass
            case kind:
                yield Other(str(kind), known=False, raw=data)

    def _tool(self, part: Mapping[str, Any]) -> Iterator[Event]:
        """A call and its result in one line, once both are there."""
        state, ident = mapping(part["state"]), str(part["callID"])
        message = str(part.get("messageID") or "") or None
        call = ToolCall(ident, str(part["tool"]), mapping(state.get("input")), message=message)
        self._skills.called(call)
        yield call
        text = str(state.get("output") or state.get("error") or "")
        result = ToolResult(ident, text, state.get("status") != "completed")
        yield result
        yield from self._skills.answered(result)

    def _count(self, part: Mapping[str, Any]) -> None:
        self._turns += 1
        self._reason = part.get("reason") if isinstance(part.get("reason"), str) else None
        self._stopped = self._reason != "tool-calls"
        used, cache = mapping(part.get("tokens")), mapping(mapping(part.get("tokens")).get("cache"))
        output = whole(used.get("output")) + whole(used.get("reasoning"))
        tokens = Tokens(whole(used.get("input")), output, whole(cache.get("read")), whole(cache.get("write")))
        self._silent = not output
        self._tokens = (self._tokens or Tokens()) + tokens
        self._cost += number(part.get("cost")) or 0.0


def _failure(error: Mapping[str, Any]) -> Failure:
    about = mapping(error.get("data"))
    words = str(about.get("message") or error.get("name") or "the agent reported an error")
    return failure_from_words(words, status=http_status(about.get("statusCode")))
