"""Asking a model: admission before, validation after, retries by the failure table in between.

A `Voice` only says something once; everything that is the same for all of them is here.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import anyio

from skill_assay.errors import Failure, FailureKind, Retry, policy
from skill_assay.model.attached import NOTHING, Attached
from skill_assay.model.protocols import Admission, Ledger
from skill_assay.model.transcript import Usage

__all__ = ["Answer", "Asker", "ModelFailed", "Said", "Voice", "misfit"]

ATTEMPTS = 3
"""The first, and two more."""
_LONGEST_WAIT = 600.0
"""Seconds that are waited for at most, where a server asks for it."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one launch or request brought."""

    data: Any = None
    """The structured reply, not validated yet."""
    usage: Usage | None = None
    """`None`: unknown, so the reservation stands."""
    model: str | None = None
    failure: Failure | None = None


class Voice(Protocol):
    """One way to reach a model."""

    @property
    def name(self) -> str:
        """As a person names it."""
        ...

    @property
    def sees_pictures(self) -> bool:
        """Whether it takes pictures."""
        ...

    @property
    def reads_files(self) -> bool:
        """Whether it reads files itself, and can do nothing else."""
        ...

    async def say(self, prompt: str, schema: Mapping[str, Any], attached: Attached = NOTHING) -> Said:
        """Ask once. A failure is data, never an exception."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A validated reply. Implements `model.protocols.Reply`."""

    data: Mapping[str, Any]
    usage: Usage
    model: str | None


class ModelFailed(Exception):
    """No valid reply came, whatever was tried."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.kind}: {failure.message}")
        self.failure = failure


@dataclass(slots=True)
class Asker:
    """Implements `model.protocols.LanguageModel` over a voice.

    Args:
        voice: how the model is reached.
        admission: the point every launch passes.
        purpose: whose past prices to go by.
        pause_seconds: the first wait before a failure outside the model's work is tried again; it doubles.
    """

    voice: Voice
    admission: Admission
    purpose: str = "judge"
    pause_seconds: float = 2.0

    @property
    def name(self) -> str:
        """The voice's."""
        return self.voice.name

    @property
    def sees_pictures(self) -> bool:
        """As the voice does."""
        return self.voice.sees_pictures

    @property
    def reads_files(self) -> bool:
        """As the voice does."""
        return self.voice.reads_files

    async def ask(self, prompt: str, schema: Mapping[str, Any], ledger: Ledger, attached: Attached = NOTHING) -> Answer:
        """A reply that satisfies `schema`.

        Raises:
            ModelFailed: none came after two repeats, or the failure is one that no repeat mends.
            IncompleteError: the budget is reached.
        """
        for attempt in range(ATTEMPTS):
            said = await self._once(prompt, schema, attached)
            if said.failure is None:
                return Answer(said.data, said.usage or Usage(), said.model)
            final = policy(said.failure).retry is Retry.NEVER or attempt == ATTEMPTS - 1
            final |= (said.failure.retry_after or 0.0) > _LONGEST_WAIT
            ledger.note(
                "model_failed",
                purpose=self.purpose,
                model=self.name,
                kind=said.failure.kind,
                message=said.failure.message[:300],
                again=not final,
            )
            if final:
                raise ModelFailed(said.failure)
            await anyio.sleep(self._pause(attempt, said.failure))
        raise AssertionError("unreachable")

    async def _once(self, prompt: str, schema: Mapping[str, Any], attached: Attached) -> Said:
        async with self.admission.enter(self.purpose, label=f"{self.purpose}-{uuid.uuid4().hex[:12]}") as permit:
            said = await self.voice.say(prompt, schema, attached)
            wrong = misfit(said.data, schema) if said.failure is None else None
            # A reply that does not fit was paid for all the same.
            permit.settle(said.usage, said.failure)
        if wrong is None:
            return said
        return Said(usage=said.usage, model=said.model, failure=Failure(FailureKind.UNREADABLE, wrong))

    def _pause(self, attempt: int, failure: Failure) -> float:
        if policy(failure).retry is not Retry.BACKOFF:
            return 0.0
        wait = self.pause_seconds * 2.0**attempt * random.uniform(0.5, 1.0)
        return max(wait, failure.retry_after or 0.0)


def misfit(data: Any, schema: Mapping[str, Any]) -> str | None:
    """Where and how a reply misses its schema; `None` when it fits."""
    if not isinstance(data, Mapping):
        return f"the reply is no JSON object but {type(data).__name__}"
    from jsonschema.exceptions import best_match

    error = best_match(_validator(_Frozen(schema)).iter_errors(data))
    return None if error is None else f"the reply does not fit its schema at {error.json_path}: {error.message[:200]}"


class _Frozen:
    """A schema as a key: two are the same when they are the same object."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and other.schema is self.schema


@lru_cache(maxsize=32)
def _validator(frozen: _Frozen) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(dict(frozen.schema))
