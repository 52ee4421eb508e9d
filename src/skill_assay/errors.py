"""Everything that can go wrong, in one place: the exception tree and the failure table.

Exceptions stop a command and tell a person what to do:

    AssayError                  something a person can mend; carries an exit code
    ├── InputError              a file, an option or a folder is wrong                      exit 2
    │   ├── NotFoundError       a place that should hold something holds nothing            exit 2
    │   └── ConfirmationError   a costly run was not confirmed                              exit 2
    ├── GateError               a gate was asked and failed                                 exit 1
    ├── IncompleteError         a cap or an outside failure stopped the work                exit 3
    └── StoppedError            the user pressed Ctrl-C                                     exit 130

Failures are data: they describe why an attempt ended otherwise than with an answer. What follows
from a failure (is it retried, is it graded, does it count) is read from `POLICIES` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "POLICIES",
    "AssayError",
    "ConfirmationError",
    "Failure",
    "FailureKind",
    "GateError",
    "IncompleteError",
    "InputError",
    "NotFoundError",
    "Policy",
    "Retry",
    "StoppedError",
    "failure_from_status",
    "policy",
]


class AssayError(Exception):
    """Something a person can mend. Shown as one message without a traceback."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        """What to do about it, as one sentence or a command."""

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class InputError(AssayError):
    """A file, an option or a folder is wrong; nothing was launched."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        file: str | None = None,
        json_path: str | None = None,
        line: int | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.file, self.json_path, self.line = file, json_path, line
        self.found, self.expected = found, expected
        super().__init__(message, hint=hint)

    def __str__(self) -> str:
        """`file:line, $.json.path: message (found …, expected …)`, then the hint on a line of its own."""
        place = (self.file or "") + (f":{self.line}" if self.file and self.line else "")
        where = ", ".join(part for part in (place, self.json_path) if part)
        pairs = (("found", self.found), ("expected", self.expected))
        detail = ", ".join(f"{word} {value}" for word, value in pairs if value)
        text = (f"{where}: " if where else "") + self.message + (f" ({detail})" if detail else "")
        return f"{text}\n  {self.hint}" if self.hint else text


class NotFoundError(InputError):
    """A place that should hold something holds nothing: never an empty benchmark."""


class ConfirmationError(InputError):
    """A run above the confirmation threshold, with neither a terminal nor `--yes`."""


class GateError(AssayError):
    """A gate was asked and not met."""

    exit_code = 1


class IncompleteError(AssayError):
    """A cap or a failure outside the agent's work stopped it; what was measured is kept."""

    exit_code = 3


class StoppedError(AssayError):
    """The user interrupted; finished trials are kept."""

    exit_code = 130


class FailureKind(StrEnum):
    """Why an attempt ended otherwise than with an answer. The rows of the failure table."""

    AGENT_LIMIT = "agent_limit"
    """The agent gave up, refused, or reached its own turn or output limit."""
    TRIAL_CAP = "trial_cap"
    """Our cap of money or tokens for one trial."""
    TIME_LIMIT = "time_limit"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    BAD_REQUEST = "bad_request"
    NOT_SIGNED_IN = "not_signed_in"
    UNKNOWN_MODEL = "unknown_model"
    NO_CREDIT = "no_credit"
    CRASHED = "crashed"
    """The process died, was killed, or ended non-zero without an answer."""
    UNREADABLE = "unreadable"
    """The output could not be understood."""
    SETUP = "setup"
    """The eval's own setup command failed, in whatever arm: nothing was measured."""
    UNKNOWN = "unknown"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    GRADER = "grader"


class Retry(StrEnum):
    """When a failed attempt is repeated."""

    NEVER = "never"
    ONCE = "once"
    BACKOFF = "backoff"
    """With exponential, jittered waits, bounded in number and total time."""
    ON_REQUEST = "on_request"
    """Only with `--retry-timeouts N`."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What follows from a failure."""

    retry: Retry
    graded: bool
    """Whether the outputs are graded."""
    counts: bool
    """Whether the trial enters the rates."""
    stops_run: bool = False
    """The same failure awaits every other trial, so launching on would only cost."""
    shared: bool = False
    """The API asks all workers to slow down."""


_TRANSIENT = Policy(Retry.BACKOFF, graded=False, counts=False)
_CROWDED = Policy(Retry.BACKOFF, graded=False, counts=False, shared=True)
_FINAL = Policy(Retry.NEVER, graded=False, counts=False)
_HOPELESS = Policy(Retry.NEVER, graded=False, counts=False, stops_run=True)
_ODD = Policy(Retry.ONCE, graded=False, counts=False)
_ANSWERED = Policy(Retry.NEVER, graded=True, counts=True)

POLICIES: Mapping[FailureKind, Policy] = {
    FailureKind.AGENT_LIMIT: _ANSWERED,
    FailureKind.TRIAL_CAP: _ANSWERED,
    FailureKind.TIME_LIMIT: Policy(Retry.ON_REQUEST, graded=False, counts=False),
    FailureKind.RATE_LIMITED: _CROWDED,
    FailureKind.OVERLOADED: _CROWDED,
    FailureKind.SERVER_ERROR: _TRANSIENT,
    FailureKind.CONNECTION: _TRANSIENT,
    FailureKind.BAD_REQUEST: _FINAL,
    FailureKind.NOT_SIGNED_IN: _HOPELESS,
    FailureKind.UNKNOWN_MODEL: _HOPELESS,
    FailureKind.NO_CREDIT: _HOPELESS,
    FailureKind.CRASHED: _ODD,
    FailureKind.UNREADABLE: _ODD,
    FailureKind.SETUP: _FINAL,
    FailureKind.UNKNOWN: _ODD,
    FailureKind.BUDGET: _FINAL,
    FailureKind.INTERRUPTED: _FINAL,
    FailureKind.GRADER: Policy(Retry.ONCE, graded=False, counts=False),
}
"""The failure table. No other place decides about retries, grading or counting."""

_SUCCESS = Policy(Retry.NEVER, graded=True, counts=True)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt ended otherwise than with an answer."""

    kind: FailureKind
    message: str
    status: int | None = None
    """HTTP status, where one was seen."""
    retry_after: float | None = None
    """Seconds the server asked us to wait, where visible."""
    detail: str | None = None
    """The raw payload, shortened, for a person who wants to look."""


def policy(failure: Failure | None) -> Policy:
    """The row of the failure table; `None` is an attempt that ended with an answer."""
    return POLICIES[failure.kind] if failure else _SUCCESS


_STATUS_KINDS: Mapping[int, FailureKind] = {
    400: FailureKind.BAD_REQUEST,
    401: FailureKind.NOT_SIGNED_IN,
    402: FailureKind.NO_CREDIT,
    403: FailureKind.NOT_SIGNED_IN,
    404: FailureKind.UNKNOWN_MODEL,
    408: FailureKind.CONNECTION,
    413: FailureKind.BAD_REQUEST,
    422: FailureKind.BAD_REQUEST,
    429: FailureKind.RATE_LIMITED,
    529: FailureKind.OVERLOADED,
}


def failure_from_status(
    status: int, message: str, *, retry_after: float | None = None, detail: str | None = None
) -> Failure:
    """The failure an HTTP status stands for. 5xx are server errors; an unheard-of status is `unknown`."""
    kind = _STATUS_KINDS.get(status)
    if kind is None:
        kind = FailureKind.SERVER_ERROR if 500 <= status < 600 else FailureKind.UNKNOWN
    return Failure(kind, message, status=status, retry_after=retry_after, detail=detail)
