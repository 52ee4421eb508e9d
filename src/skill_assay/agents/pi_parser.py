"""Reads what `pi -p --mode json` prints. Pure: bytes in, events out.

pi exits 0 whatever happens: a failure of the API is a last message that stopped with `error`, and no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import Lines, mapping, mappings, number, text_in, whole, without_answer
from skill_assay.agents.pricing import list_price
from skill_assay.agents.skill_reads import Readers, SkillReads
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

__all__ = ["PiParser"]

_READERS = Readers((".pi/skills", ".agents/skills"), {"read": "path"}, ("bash",))
_SILENT = frozenset(
    (
        *("agent_start", "auto_retry_end", "compaction_start", "compaction_end", "message_start", "queue_update"),
        *("tool_execution_update", "turn_end", "turn_start"),
    )
)


class PiParser:
    """A parser for one attempt.

    Args:
        work: the working directory as the agent sees it.
        home: its HOME.
    """

    def __init__(self, *, work: str = "", home: str = "") -> None:
        self._lines = Lines(self._events)
        self._reads = SkillReads(work, home, _READERS)
        self._tokens: Tokens | None = None
        self._cost: float | None = None
        self._turns = 0
        self._model: str | None = None
        self._provider: str | None = None
        self._answer: str | None = None
        self._failure: Failure | None = None
        self._over = False

    @property
    def tokens_so_far(self) -> int:
        """Of the messages that are complete."""
        return self._tokens.total if self._tokens else 0

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line; pieces repeat the whole message under way and are skipped unread."""
        if line.startswith(b'{"type":"message_update"'):
            return ()
        return self._lines.feed(line)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The last message's text, or the failure it stopped with."""
        cost = self._cost or list_price(self._tokens, self._model, self._provider)
        usage = Usage(tokens=self._tokens, cost_usd=cost, turns=self._turns or None)
        models = (self._model,) if self._model and self._tokens else ()
        if self._failure is not None:
            said = self._answer if self._failure.kind is FailureKind.AGENT_LIMIT else None
            return Finished(said, usage, self._failure, models=models)
        if not self._over or exit_code != 0:
            failure = without_answer(self._lines, exit_code, stderr)
            if not self._lines.read:
                failure = failure_from_words(stderr, default=failure.kind) if stderr.strip() else failure
            return Finished(None, usage, failure, models=models)
        return Finished(self._answer or "", usage, models=models)

    def _events(self, data: Mapping[str, Any]) -> Iterator[Event]:
        match data["type"]:
            case "session":
                yield Started()
            case "message_end" if data["message"]["role"] == "assistant":
                yield from self._message(data["message"])
            case "tool_execution_start":
                call = ToolCall(str(data["toolCallId"]), str(data["toolName"]), mapping(data.get("args")))
                self._reads.called(call)
                yield call
            case "tool_execution_end":
                text = text_in(mapping(data.get("result")).get("content"))
                result = ToolResult(str(data["toolCallId"]), text, bool(data.get("isError")))
                yield result
                yield from self._reads.answered(result)
            case "auto_retry_start":
                wait = number(data.get("delayMs"))
                failure = failure_from_words(str(data.get("errorMessage") or ""))
                yield Retrying(failure, None if wait is None else wait / 1000)
            case "agent_end":
                self._over = True
            case kind if kind not in _SILENT and kind != "message_end":
                yield Other(str(kind), known=False, raw=data)

    def _message(self, message: Mapping[str, Any]) -> Iterator[Event]:
        self._model = str(message.get("model") or "") or self._model
        self._provider = str(message.get("provider") or "") or self._provider
        stop, ident = message.get("stopReason"), str(message.get("responseId") or "") or None
        said = text_in([block for block in mappings(message.get("content")) if block.get("type") == "text"])
        self._answer = said
        self._failure = _failure(stop, str(message.get("errorMessage") or ""))
        if stop != "error":
            self._turns += 1
        self._count(mapping(message.get("usage")))
        if said:
            yield Text(said, message=ident)

    def _count(self, usage: Mapping[str, Any]) -> None:
        used = Tokens(*(whole(usage.get(name)) for name in ("input", "output", "cacheRead", "cacheWrite")))
        if not used.total:
            return
        self._tokens = (self._tokens or Tokens()) + used
        cost = number(mapping(usage.get("cost")).get("total"))
        if cost:
            self._cost = (self._cost or 0.0) + cost


def _failure(stop: Any, words: str) -> Failure | None:
    match stop:
        case "error":
            return failure_from_words(words or "the model's answer failed")
        case "length":
            return Failure(FailureKind.AGENT_LIMIT, "the model's answer reached its limit of length")
        case "aborted":
            return Failure(FailureKind.CRASHED, words or "it was ended while it worked")
        case _:
            return None
