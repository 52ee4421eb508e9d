"""The seams, on one page. Implementations do not inherit from these; they only fit.

A trial passes them in this order: the engine asks a `Scheduler` for the next trial; `Admission` lets the launch
through (rate limit, workers, budget by way of the `Ledger`); the `Agent` says what to launch and the `Sandbox` wraps
it; the agent's `Parser` turns what is printed into events; a `StopWhen` may end it; `Grader`s decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from skill_assay.errors import Failure
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.attached import NOTHING, Attached
from skill_assay.model.evals import Expectation
from skill_assay.model.grade import Grade
from skill_assay.model.money import Spend
from skill_assay.model.place import Launch, Place
from skill_assay.model.transcript import Event, Finished, Usage
from skill_assay.model.trial import Trial, TrialSpec
from skill_assay.model.work import CodeResult, Work

__all__ = [
    "Admission",
    "Agent",
    "CodeRunner",
    "Grader",
    "LanguageModel",
    "Ledger",
    "Parser",
    "Permit",
    "Reply",
    "Sandbox",
    "Scheduler",
    "StopWhen",
]

StopWhen = Callable[[Event], str | None]
"""Sees every event as it comes; a text ends the attempt at once and says what was decided."""


class Parser(Protocol):
    """Turns one attempt's output into events. Framing (bytes to lines) is done before it."""

    def feed(self, line: bytes) -> Iterable[Event]:
        """The events of one line, without its newline. Never raises on strange input."""
        ...

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        """The attempt's end, once the stream is over: the answer or the failure. A non-zero exit without
        an answer, or no readable line at all, is a failure, never an empty answer."""
        ...


class Agent(Protocol):
    """Adapter for a coding agent. Found by entry point `skill_assay.agents`; built with the text after
    the name's colon (`command: my-agent …`), empty for most."""

    name: str
    capabilities: Capabilities

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program on this machine, its version, how it would sign in; `None` when absent."""
        ...

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """How trials sign in; `InputError` with advice where none is possible."""
        ...

    def skills_folder(self, place: Place) -> Path:
        """Where a skill must lie to be discovered, in a fresh sandbox."""
        ...

    def launch(self, request: Request) -> Launch:
        """The command line and the whole environment. May write configuration into the request's place."""
        ...

    def parser(self, request: Request) -> Parser:
        """A parser for one attempt."""
        ...


class Sandbox(Protocol):
    """The wall around an attempt. The identity is one."""

    name: str

    def inner(self, place: Place) -> Place:
        """The place's folders by the names the agent will see."""
        ...

    def wrap(self, launch: Launch, place: Place) -> Launch:
        """The same launch, inside the wall."""
        ...


class CodeRunner(Protocol):
    """Runs what belongs to the skill: setup, `command` and `python` checks, `checks.py`, grader programs."""

    async def run(
        self, command: str | Sequence[str], *, files: Path | None, extra: Mapping[str, bytes], timeout: float
    ) -> CodeResult:
        """Run it in the trial's sandbox, without credentials.

        Args:
            command: a shell line, or an argument vector.
            files: a folder whose copy becomes the working directory; `None` for an empty one.
            extra: further files to place there: name to content.
            timeout: seconds, after which everything it started is ended.
        """
        ...


class Ledger(Protocol):
    """Money and journal. The worst case is reserved before a launch, the true cost settled after."""

    def reserve(self, worst: Spend) -> bool:
        """Set aside the worst case; false when a cap would be passed."""
        ...

    def settle(self, reserved: Spend, actual: Spend | None) -> None:
        """Replace a reservation by what it really cost; `None` keeps it at the reservation, marked."""
        ...

    def note(self, what: str, **facts: Any) -> None:
        """A line in the journal, fsynced."""
        ...

    @property
    def spent(self) -> Spend:
        """Settled so far."""
        ...


class Permit(Protocol):
    """Leave to launch once."""

    def settle(self, usage: Usage | None, failure: Failure | None) -> None:
        """Tell what it cost (`None`: unknown, so the reservation stands) and how it ended."""
        ...


class Admission(Protocol):
    """The one point every launch passes, agent or judge."""

    def enter(self, purpose: str, *, label: str = "") -> AbstractAsyncContextManager[Permit]:
        """Wait for a free worker and for the API's consent, then reserve. `purpose` names what past prices
        to go by: an arm, a judge; `label` names this launch in the journal. Raises `IncompleteError` when the
        budget is reached."""
        ...

    @property
    def workers(self) -> int:
        """How many may run at once just now."""
        ...


class Scheduler(Protocol):
    """Says what to run next. A fixed plan is the simplest one."""

    def next(self) -> TrialSpec | None:
        """A trial to run now, or `None` when there is none until a running one settles."""
        ...

    def settled(self, trial: Trial) -> None:
        """A trial has ended, however."""
        ...

    @property
    def finished(self) -> bool:
        """Nothing more will come, whatever the running ones bring."""
        ...


class Grader(Protocol):
    """Decides expectations. Knows no runner."""

    name: str

    async def grade(self, expectations: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for those of `expectations` (by index) that it can decide; the others it leaves out."""
        ...


class Reply(Protocol):
    """A language model's validated answer."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What was asked for."""
        ...

    @property
    def usage(self) -> Usage:
        """What it took."""
        ...

    @property
    def model(self) -> str | None:
        """The model that answered, as billed."""
        ...


class LanguageModel(Protocol):
    """Structured output from a model: judge, proposer, improver."""

    @property
    def name(self) -> str:
        """As a person names it."""
        ...

    @property
    def sees_pictures(self) -> bool:
        """Whether pictures can be attached to a question."""
        ...

    @property
    def reads_files(self) -> bool:
        """Whether files can be attached, which it reads with tools that change nothing."""
        ...

    async def ask(self, prompt: str, schema: Mapping[str, Any], ledger: Ledger, attached: Attached = NOTHING) -> Reply:
        """A reply that satisfies `schema` (validated by us); failures by the failure table."""
        ...
