"""How an attempt of Claude Code ended: the answer, or the failure and its kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import http_status, mapping, number, whole
from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import Finished, Retrying, Tokens, Usage

__all__ = ["Ending", "conclude"]

_SUBTYPES = {
    "error_max_turns": FailureKind.AGENT_LIMIT,
    "error_max_budget_usd": FailureKind.TRIAL_CAP,
    "error_max_structured_output_retries": FailureKind.AGENT_LIMIT,
    "error_during_execution": FailureKind.CRASHED,
}
_API_ERRORS = {
    "authentication_failed": FailureKind.NOT_SIGNED_IN,
    "oauth_org_not_allowed": FailureKind.NOT_SIGNED_IN,
    "billing_error": FailureKind.NO_CREDIT,
    "invalid_request": FailureKind.BAD_REQUEST,
    "max_output_tokens": FailureKind.AGENT_LIMIT,
    "model_not_found": FailureKind.UNKNOWN_MODEL,
    "overloaded": FailureKind.OVERLOADED,
    "rate_limit": FailureKind.RATE_LIMITED,
    "server_error": FailureKind.SERVER_ERROR,
}
"""The CLI's own words for an API failure, where it names no status."""

_LOST = re.compile(r"API Error: (Unable to connect|Connection)|API Error: .*\b(ECONN\w+|ETIMEDOUT|socket hang up)")
_FORMAT = "Assay reads `--output-format stream-json --verbose`; a wrapper around `claude` may have changed the format."


@dataclass(slots=True)
class Ending:
    """What is known of an attempt when its stream is over."""

    started: bool = False
    """It introduced itself, so this is the stream it was asked for."""
    result: Mapping[str, Any] | None = None
    """Its last `result` line; with several user messages there are several."""
    unasked: bool = False
    """Something ended without a question to the model."""
    api_error: str | None = None
    refused: bool = False
    """The API's safeguards stopped the answer."""
    last_text: str | None = None
    """What the main agent itself said last; never a text of the CLI's."""
    last_retry: Retrying | None = None
    unreadable: int = 0
    """Lines that are no JSON object."""


def conclude(ending: Ending, exit_code: int | None, stderr: str) -> Finished:
    """The agent's last words, by what its stream holds; a failure is never an answer."""
    result = ending.result
    if result is None:
        return Finished(None, failure=_without_result(ending, exit_code, stderr))
    usage, models = _usage(result), tuple(mapping(result.get("modelUsage")))
    if result.get("is_error") or result.get("subtype") != "success":
        failure = _failure(ending, result)
        # A turn limit or a refusal is the agent's own end: what it had said until then is graded.
        said = ending.last_text if failure.kind in (FailureKind.AGENT_LIMIT, FailureKind.TRIAL_CAP) else None
        return Finished(said, usage, failure, models=models)
    if not ending.started:
        message = "it printed a result and no events: another output format"
        return Finished(None, usage, Failure(FailureKind.UNREADABLE, message, detail=_FORMAT), models=models)
    answer, structured = result.get("result"), result.get("structured_output")
    if not isinstance(answer, str) and structured is None:
        said = "it reported success and no answer"
        return Finished(None, usage, Failure(FailureKind.UNREADABLE, said), models=models)
    return Finished(answer if isinstance(answer, str) else "", usage, structured=structured, models=models)


def _without_result(ending: Ending, exit_code: int | None, stderr: str) -> Failure:
    if ending.unreadable and not ending.started and exit_code == 0:
        return Failure(FailureKind.UNREADABLE, "it printed text and no events: another output format", detail=_FORMAT)
    if not ending.started and "not logged in" in stderr.lower():
        return Failure(FailureKind.NOT_SIGNED_IN, "not signed in", detail=_tail(stderr))
    if ending.unasked and exit_code == 0:
        return Failure(FailureKind.UNKNOWN, "it ended without asking the model anything", detail=_tail(stderr) or None)
    how = "was ended by a signal" if exit_code is None or exit_code < 0 else f"ended with status {exit_code}"
    return Failure(FailureKind.CRASHED, f"it {how} without a result", detail=_tail(stderr) or None)


def _failure(ending: Ending, result: Mapping[str, Any]) -> Failure:
    subtype = str(result.get("subtype"))
    errors = result.get("errors")
    words = str(result.get("result") or "; ".join(map(str, errors if isinstance(errors, list) else ())) or subtype)
    detail = json.dumps(
        {key: result.get(key) for key in ("subtype", "terminal_reason", "api_error_status", "result", "errors")},
        ensure_ascii=False,
    )[:2000]
    if subtype != "success":
        return Failure(_SUBTYPES.get(subtype, FailureKind.UNKNOWN), words, detail=detail)
    if ending.refused or result.get("stop_reason") == "refusal":
        return Failure(FailureKind.AGENT_LIMIT, f"refused: {words}", detail=detail)
    status = http_status(result.get("api_error_status"))
    if status is None or ending.api_error == "billing_error":
        return Failure(_by_word(ending, result, words), words, detail=detail)
    failure = failure_from_words(words, status=status)
    if failure.kind is FailureKind.NO_CREDIT:
        return replace(failure, message=words, detail=detail)
    return replace(failure, message=words, retry_after=_asked_to_wait(ending, status), detail=detail)


def _by_word(ending: Ending, result: Mapping[str, Any], words: str) -> FailureKind:
    """The kind where no status is named. The newest versions say `connection_failed`, older ones only in the text."""
    if result.get("api_error") == "connection_failed" or _LOST.match(words):
        return FailureKind.CONNECTION
    by_words = failure_from_words(words).kind
    if by_words in (FailureKind.NO_CREDIT, FailureKind.NOT_SIGNED_IN):
        # A used-up allowance of a subscription is told as a limit of rate, and lasts for hours.
        return by_words
    return _API_ERRORS.get(ending.api_error or "", by_words)


def _asked_to_wait(ending: Ending, status: int) -> float | None:
    """The wait of the CLI's own last retry after a 429: at least what the server asked for."""
    retry = ending.last_retry
    return retry.failure.retry_after if retry is not None and retry.failure.status == status else None


def _usage(result: Mapping[str, Any]) -> Usage:
    per_model = [mapping(row) for row in mapping(result.get("modelUsage")).values()]
    tokens = sum((_tokens(row) for row in per_model), Tokens()) if per_model else None
    milliseconds = number(result.get("duration_api_ms"))
    turns = number(result.get("num_turns"))
    return Usage(
        tokens=tokens,
        cost_usd=number(result.get("total_cost_usd")),
        turns=None if turns is None else int(turns),
        api_seconds=None if milliseconds is None else milliseconds / 1000,
    )


def _tokens(row: Mapping[str, Any]) -> Tokens:
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return Tokens(*(whole(row.get(name)) for name in names))


def _tail(text: str) -> str:
    return text.strip()[-500:]
