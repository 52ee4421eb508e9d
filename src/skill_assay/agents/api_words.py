"""From the words in which a CLI reports a failure of its API to the kind it is.

A status wins over words, but for what providers send with a status that stands for another thing as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from skill_assay.errors import Failure, FailureKind, failure_from_status

__all__ = ["failure_from_words"]

_STATUS = re.compile(
    r"""(?: \bstatus(?:\s+code)?[:\s"]+ | \bHTTP[\s/:]+(?:1\.1\s+)? | \bAPI\ Error:\s+ | "code":\s* | ^ )
    ([45]\d\d)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ALLOWANCE = r"(?:usage|spend(?:ing)?|credit|session|daily|weekly|monthly|\d+-hour)"
_KINDS: Mapping[FailureKind, str] = {
    FailureKind.NO_CREDIT: r"insufficient[_ ](?:quota|balance|credits?|funds)|credit balance"
    r"|exceeded your current quota|usage_limit_reached|usage_not_included|billing[_ ](?:error|hard|not|details|account)"
    rf"|check your .{{0,20}}billing|requires billing|{_ALLOWANCE} limits? (?:has been |is )?(?:reached|hit|exceeded)"
    r"|(?:hit|reached) your (?!.{0,20}(?:rate|token|turn|request))(?:\w+ ){0,3}limits?\b"
    r"|exhausted your (?:daily quota|capacity)|\b(?:no|out of) (?:quota|credits?|extra usage)\b|requires more credits"
    r"|premium request|payment required|arrearage",
    FailureKind.NOT_SIGNED_IN: r"(?:invalid|incorrect|missing|no)[_ ](?:x-)?api[_ -]?key|unauthenticated|unauthorized"
    r"|not logged in|api[_ ]?key (?:is )?(?:not (?:valid|set)|invalid|expired|missing)|api_key_invalid"
    r"|authentication[_ ](?:error|fail|required|info)|missing .{0,30}authentication|permission_denied"
    r"|missing environment variable: \W?\w*KEY\b|auth method|no auth type|run /login|sign in again"
    r"|token (?:has |is )?expired|organization has been disabled|load credentials|no credentials"
    r"|territory not supported",
    FailureKind.RATE_LIMITED: r"rate[_ ]limit|resource_exhausted|resource has been exhausted|quota exceeded"
    r"|too many (?:\w+ )?requests|throttl",
    FailureKind.OVERLOADED: r"overloaded|at capacity|capacity[_ ]exceeded|capacity_exhausted",
    FailureKind.SERVER_ERROR: r"high demand|server[_ ]error|internal error|temporarily unavailable|bad gateway"
    r"|(?:service|server|model) (?:is )?(?:currently )?unavailable|(?-i:\bUNAVAILABLE\b)|gateway time-?out"
    r"|error occurred while processing your request|had an error while processing|upstream connect error",
    FailureKind.UNKNOWN_MODEL: r"model[_ ]?not[_ ]?found|\bnot_found(?:_error)?\b|requested entity was not found"
    r"|\bmodels?(?:[/:=] ?| (?=[\"'`]|\S{0,100}[\d/]))\W?[^\s\"'`]{1,100}\W?"
    r" (?:does not exist|(?:is |was )?not found|is not supported)"
    r"|\bmodel (?:does not exist|not exist|not found|is not supported|identifier is invalid)"
    r"|\b(?:unknown|invalid) model\b(?! (?:output|response))|not a valid model|no models match",
    FailureKind.CONNECTION: r"stream disconnected|error sending request|ECONN\w+|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN"
    r"|ENETUNREACH|EHOSTUNREACH|socket hang up|fetch failed|network (?:error|timeout)|unable to connect"
    r"|connection (?:error|lost|closed|reset|refused)|premature close|other side closed|request time(?:d )?-?out"
    r"|aborted due to timeout|dns error|tls handshake|in certificate chain|(?m:^(?:\w+: )?terminated\W*$)",
    FailureKind.AGENT_LIMIT: r"max(?:imum)?[_ ](?:session )?turns|turn limit|max_output_tokens"
    r"|content[_ ](?:filter|management policy)|usage policy|flagged (?:as|for) potentially|prohibited_content"
    r"|blocked(?: due to|:) (?:safety|recitation)|inappropriate content",
    FailureKind.BAD_REQUEST: r"invalid_request_error|invalid_argument|bad request|request_too_large|request too large"
    r"|context[_ ](?:length|window|size|limit)|(?:prompt|input) (?:is )?too long|input token count"
    r"|maximum prompt length|range of input length|too many (?:total )?(?:tokens|text bytes)|token limit"
    r"|reduce the length of the messages|string too long",
}
"""Tried in this order. What a skill, a file or a tool may be called is no sign: standard error is read for them
too, and to stop a run because of a skill about billing would be a mistake."""
_WORDS = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _KINDS.items())
_READ = 10_000
"""Characters read of the beginning and of the end: a stranger's message may have any length."""
_TELLING = {FailureKind.NOT_SIGNED_IN, FailureKind.UNKNOWN_MODEL, FailureKind.AGENT_LIMIT}
"""Providers send these as a bad request too, and only the words tell."""
_SOON = re.compile(
    r"(?:retry|try again|reset) (?:in|after) (?:(\d{1,2})m ?)?(\d+(?:\.\d+)?) ?(ms|s(?:ec)?)", re.IGNORECASE
)
"""A limit that is over in minutes is one of rate, even where the words speak of a quota and of billing."""


def failure_from_words(words: str, *, status: int | None = None, default: FailureKind = FailureKind.UNKNOWN) -> Failure:
    """The failure that some words of a CLI stand for.

    Args:
        words: what it said.
        status: the HTTP status, where the CLI names it apart.
        default: the kind where neither a status nor a word is known.
    """
    words = words if len(words) <= 2 * _READ else f"{words[:_READ]}\n{words[-_READ:]}"
    found = _STATUS.search(words)
    seen = status if status is not None else int(found[1]) if found else None
    kind = next((kind for kind, pattern in _WORDS if pattern.search(words)), None)
    soon = _soon(words)
    if kind is FailureKind.NO_CREDIT and soon is not None:
        kind = FailureKind.RATE_LIMITED
    message, detail = words.strip()[:500] or "the agent reported a failure", words[:2000]
    if seen is not None and not _wins(kind, seen):
        failure = failure_from_status(seen, message, detail=detail)
    else:
        failure = Failure(kind or default, message, status=seen, detail=detail)
    crowded = failure.kind in (FailureKind.RATE_LIMITED, FailureKind.OVERLOADED)
    return replace(failure, retry_after=soon) if crowded else failure


def _wins(kind: FailureKind | None, status: int) -> bool:
    """Whether words say more than the status. An account without credit is told as 400, 403 or 429."""
    return kind is FailureKind.NO_CREDIT or (status in (400, 422) and kind in _TELLING)


def _soon(words: str) -> float | None:
    """The seconds after which it may be tried again, where they are few."""
    found = _SOON.search(words)
    if found is None:
        return None
    unit = 0.001 if found[3].lower() == "ms" else 1.0
    return 60.0 * int(found[1] or 0) + float(found[2]) * unit
