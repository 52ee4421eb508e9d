"""From the words in which a CLI reports a failure of its API to the kind it is. A status wins over words."""

from __future__ import annotations

import re

from skill_assay.errors import Failure, FailureKind, failure_from_status

__all__ = ["failure_from_words"]

_STATUS = re.compile(
    r"""(?: \bstatus(?:\s+code)?[:\s"]+ | \bHTTP[\s/:]+(?:1\.1\s+)? | \bAPI\ Error:\s+ | "code":\s* | ^ )
    ([45]\d\d)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_KINDS = {
    FailureKind.NO_CREDIT: r"insufficient[_ ]quota|billing|credit balance|exceeded your current quota",
    FailureKind.NOT_SIGNED_IN: r"invalid[_ ]api[_ ]key|incorrect api key|unauthenticated|unauthorized|not logged in"
    r"|authentication|api[_ ]key[_ ]invalid|api key not valid|permission_denied",
    FailureKind.RATE_LIMITED: r"rate[_ ]limit|resource_exhausted|too many requests",
    FailureKind.OVERLOADED: r"overloaded",
    FailureKind.SERVER_ERROR: r"high demand|server[_ ]error|internal error|\bunavailable\b",
    FailureKind.UNKNOWN_MODEL: r"model[_ ]not[_ ]found|not_found"
    r"|model .{0,80} (?:does not exist|not found|is not supported)",
    FailureKind.CONNECTION: r"stream disconnected|error sending request|ECONN\w+|ETIMEDOUT|EPIPE|socket hang up"
    r"|fetch failed|connection (?:error|lost|closed|reset|refused)|network error|unable to connect|terminated"
    r"|premature close",
    FailureKind.AGENT_LIMIT: r"max(?:imum)?[_ ](?:session )?turns|turn limit|content[_ ]filter|max_output_tokens",
    FailureKind.BAD_REQUEST: r"invalid_request_error|invalid_argument|bad request|context[_ ]length"
    r"|prompt is too long",
}
"""Tried in this order."""
_WORDS = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _KINDS.items())


def failure_from_words(words: str, *, status: int | None = None, default: FailureKind = FailureKind.UNKNOWN) -> Failure:
    """The failure that some words of a CLI stand for.

    Args:
        words: what it said.
        status: the HTTP status, where the CLI names it apart.
        default: the kind where neither a status nor a word is known.
    """
    found = _STATUS.search(words)
    seen = status if status is not None else int(found[1]) if found else None
    kind = next((kind for kind, pattern in _WORDS if pattern.search(words)), None)
    message, detail = words.strip()[:500] or "the agent reported a failure", words[:2000]
    # An account without credit is told by words alone: providers send it as 400, 403 or 429.
    if seen is not None and kind is not FailureKind.NO_CREDIT:
        return failure_from_status(seen, message, detail=detail)
    return Failure(kind or default, message, status=seen, detail=detail)
