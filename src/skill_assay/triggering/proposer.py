"""Asks a model for a better description. It is told what happened on train queries, and nothing else of any query.

What it may know is a `Brief`, made by `brief_of` from the train cells of each round; the prompt is made from a brief
alone. A reply is taken strictly: anything that can't be a new description is refused, and the model is asked again with
the reason; nothing that was not such a reply ever becomes a description.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.errors import FailureKind, IncompleteError, policy
from skill_assay.llm.base import ModelFailed
from skill_assay.llm.prompt import load_prompt
from skill_assay.model.optimisation import Cell, Round
from skill_assay.model.protocols import LanguageModel, Ledger
from skill_assay.triggering.subject import LONGEST_DESCRIPTION

__all__ = [
    "AGAIN",
    "SCHEMA",
    "Attempted",
    "Brief",
    "Missed",
    "Proposal",
    "brief_of",
    "fault_of",
    "prompt_of",
    "propose",
]

AGAIN = 3
"""How often the model is asked again."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"description": {"type": "string", "description": "The new description, as it will stand."}},
    "required": ["description"],
    "additionalProperties": False,
}
_NOTHING = "there was no text under description"
_LONGEST_BODY = 60_000


@dataclass(frozen=True, slots=True)
class Missed:
    """A train query that a description got wrong."""

    text: str
    should_trigger: bool
    fired: int
    runs: int


@dataclass(frozen=True, slots=True)
class Attempted:
    """A description and what it did on train queries."""

    description: str
    passed: int
    total: int
    missed: tuple[Missed, ...]
    left: bool = False
    """It was given up halfway."""


@dataclass(frozen=True, slots=True)
class Brief:
    """All that the proposer is told."""

    skill_name: str
    body: str
    current: Attempted
    earlier: tuple[Attempted, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of asking."""

    description: str | None
    refused: tuple[str, ...] = ()
    """Why replies were refused, in order."""
    asked: int = 0
    skipped: str = ""
    """Why there is no description."""


def brief_of(skill_name: str, body: str, rounds: Sequence[Round], current: int) -> Brief:
    """What may be told of these rounds: their train cells.

    Args:
        skill_name: the skill's.
        body: of its SKILL.md.
        rounds: all so far.
        current: the number of the round to improve on, chosen by train.
    """
    told = {one.number: _attempted(one) for one in rounds if one.of("train")}
    return Brief(skill_name, body, told.pop(current), tuple(told.values()))


def _attempted(one: Round) -> Attempted:
    score = one.score("train")
    missed = tuple(_missed(cell) for cell in one.of("train") if cell.passed is False)
    return Attempted(one.description, score.passed, score.total, missed, one.left_train)


def _missed(cell: Cell) -> Missed:
    return Missed(cell.query.text, cell.query.should_trigger, cell.fired, cell.decided)


def prompt_of(brief: Brief, refused: tuple[str, str] | None = None, fence: str | None = None) -> str:
    """The question.

    Args:
        brief: what is told.
        refused: the last reply and why it was refused.
        fence: separates data; a random one unless given, so that no data can close it.
    """
    mark = fence or f"=== {secrets.token_hex(8)} ==="
    again = ""
    if refused is not None:
        reply, why = refused
        again = f"\nYour last reply was refused: {why}. It was:\n{mark}\n{reply[:2000]}\n{mark}\n"
    body = brief.body if len(brief.body) <= _LONGEST_BODY else brief.body[:_LONGEST_BODY] + "\n[cut]"
    return load_prompt("description").fill(
        skill=brief.skill_name,
        fence=mark,
        longest=str(LONGEST_DESCRIPTION),
        current=brief.current.description,
        score=f"{brief.current.passed} of {brief.current.total}",
        silent=_listed(one for one in brief.current.missed if one.should_trigger),
        alarms=_listed(one for one in brief.current.missed if not one.should_trigger),
        earlier=_told(brief.earlier),
        body=body,
        again=again,
    )


def _listed(missed: Iterable[Missed]) -> str:
    lines = [f'- "{one.text}" (used in {one.fired} of {one.runs} runs)' for one in missed]
    return "\n".join(lines) or "- none"


def _told(earlier: Sequence[Attempted]) -> str:
    if not earlier:
        return "None yet."
    return "\n\n".join(
        f"{one.passed} of {one.total} right{' (given up halfway)' if one.left else ''}:\n{one.description}\n"
        f"Not used though it should have been:\n{_listed(m for m in one.missed if m.should_trigger)}\n"
        f"Used though it should not have been:\n{_listed(m for m in one.missed if not m.should_trigger)}"
        for one in earlier
    )


def fault_of(reply: Any, taken: Sequence[str]) -> str | None:
    """Why a reply can't be the next description; `None` when it can.

    Args:
        reply: the structured reply.
        taken: descriptions that were tried before.
    """
    text = reply.get("description") if isinstance(reply, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        return _NOTHING
    if len(text.strip()) > LONGEST_DESCRIPTION:
        return f"it has {len(text.strip())} characters, at most {LONGEST_DESCRIPTION} are allowed"
    if "<" in text or ">" in text:
        return "it has angle brackets, which a description must not have"
    if any(not (char.isprintable() or char == "\n") for char in text.strip()):
        return "it has control characters"
    if _same(text) in {_same(one) for one in taken}:
        return "it was tried before; write one that is structurally different"
    return None


def _same(text: str) -> str:
    return " ".join(text.casefold().split())


def _anything(text: str) -> str | None:
    """Refuses nothing."""


async def propose(
    model: LanguageModel,
    brief: Brief,
    taken: Sequence[str],
    ledger: Ledger,
    refuse: Callable[[str], str | None] = _anything,
) -> Proposal:
    """A new description, or why there is none.

    Args:
        model: the proposer.
        brief: what it is told.
        taken: descriptions tried before.
        ledger: money and journal.
        refuse: a last check, that the text can be written into SKILL.md; a reason refuses it.

    Raises:
        IncompleteError: the budget is reached, or a failure awaits every other question too.
    """
    refused: list[str] = []
    last: tuple[str, str] | None = None
    for asked in range(1, AGAIN + 2):
        reply = await _reply(model, prompt_of(brief, last), ledger)
        if isinstance(reply, str):
            return Proposal(None, tuple(refused), asked, reply)
        fault = fault_of(reply, taken)
        text = "" if fault == _NOTHING else str(reply.get("description", "")).strip()
        fault = fault or refuse(text)
        if fault is None:
            return Proposal(text, tuple(refused), asked)
        refused.append(fault)
        last = (text, fault)
    return Proposal(None, tuple(refused), AGAIN + 1, f"every reply was refused: {'; '.join(dict.fromkeys(refused))}")


async def _reply(model: LanguageModel, prompt: str, ledger: Ledger) -> Mapping[str, Any] | str:
    """The reply; or in words why there is none. One that misses the schema is an empty reply."""
    try:
        return (await model.ask(prompt, SCHEMA, ledger)).data
    except ModelFailed as error:
        failure = error.failure
        if failure.kind is FailureKind.UNREADABLE:
            return {}
        if policy(failure).stops_run:
            raise IncompleteError(f"The proposer can't be asked: {failure.message}") from error
        return f"the proposer failed: {failure.message}"
