"""Expectations with checks, made ready: every argument is validated here, before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from skill_assay.errors import InputError
from skill_assay.formats.checks_table import CHECK_LIST, CHECK_SHORT, long_form
from skill_assay.formats.suggest import did_you_mean
from skill_assay.graders.bounded import NoAnswer
from skill_assay.graders.checks.arguments import BadArgument, read_arguments
from skill_assay.graders.checks.code import Command, Python
from skill_assay.graders.checks.commands import CommandRan
from skill_assay.graders.checks.equals import Equals
from skill_assay.graders.checks.files import FileAbsent, FileExists
from skill_assay.graders.checks.json_path import JsonPath
from skill_assay.graders.checks.json_schema import JsonSchema
from skill_assay.graders.checks.language import Language
from skill_assay.graders.checks.meters import MaxCost, MaxSeconds, MaxTokens, MaxTurns
from skill_assay.graders.checks.skill import SkillUsed
from skill_assay.graders.checks.table import Csv
from skill_assay.graders.checks.text import Contains, Matches
from skill_assay.graders.checks.tools import ToolCalled, ToolNotCalled, ToolOrder
from skill_assay.graders.checks.verdict import Answer, Verdict, broken
from skill_assay.graders.words import shortened
from skill_assay.model.evals import Check, Expectation
from skill_assay.model.grade import Grade
from skill_assay.model.work import Work

__all__ = ["KINDS", "CompiledCheck", "CompiledChecks", "Decider", "check_problems", "compile_checks"]


class Decider(Protocol):
    """A check with its arguments read. The classes in `KINDS` are such, and inherit nothing for it."""

    kind: ClassVar[str]

    async def decide(self, work: Work) -> Verdict:
        """Look, and say what was seen."""
        ...


_CLASSES: tuple[type, ...] = (
    FileExists,
    FileAbsent,
    Contains,
    Matches,
    Equals,
    JsonPath,
    JsonSchema,
    Csv,
    Language,
    Command,
    Python,
    ToolCalled,
    ToolNotCalled,
    ToolOrder,
    CommandRan,
    SkillUsed,
    MaxTokens,
    MaxSeconds,
    MaxCost,
    MaxTurns,
)

KINDS: Mapping[str, type] = {kind.kind: kind for kind in _CLASSES}  # type: ignore[attr-defined]
"""Every kind of check by name."""


@dataclass(frozen=True, slots=True)
class CompiledCheck:
    """One check, ready to decide."""

    decider: Decider
    negated: bool = False

    async def decide(self, work: Work) -> Verdict:
        """Its verdict; whatever goes wrong in it is an error of the check, never a mark against the agent."""
        try:
            verdict = await self.decider.decide(work)
        except NoAnswer as error:
            return broken(f"{self.decider.kind}: {error}.")
        except Exception as error:
            return broken(f"{self.decider.kind} failed: {type(error).__name__}: {shortened(str(error), 300)}")
        return verdict.negated() if self.negated else verdict


@dataclass(frozen=True, slots=True)
class CompiledChecks:
    """An expectation's checks, ready to decide."""

    expectation: Expectation
    checks: tuple[CompiledCheck, ...]

    async def decide(self, work: Work) -> Grade:
        """Passed when every check says yes; failed when one says no; else undecided, with the reason."""
        verdicts = [await check.decide(work) for check in self.checks]
        answer = min((verdict.answer for verdict in verdicts), key=_STRENGTH.index)
        if answer is Answer.YES:
            chosen = verdicts
        else:
            chosen = [verdict for verdict in verdicts if verdict.answer in _ALIKE.get(answer, (answer,))]
        first = Verdict(answer, "")
        held = sum(verdict.answer is Answer.YES for verdict in verdicts)
        tally = f" ({held} of {len(verdicts)} checks hold.)" if len(verdicts) > 1 else ""
        places = tuple(dict.fromkeys(place for verdict in chosen for place in verdict.places))
        return Grade(
            text=self.expectation.text,
            decision=first.decision,
            evidence=_cut(" ".join(verdict.evidence for verdict in chosen)) + tally,
            grader="check",
            severity=self.expectation.severity,
            places=places[:10],
        )


_STRENGTH = [Answer.NO, Answer.NOTHING, Answer.BROKEN, Answer.UNKNOWN, Answer.YES]
"""Of checks that must all hold, the answer that decides for all."""
_ALIKE = {Answer.NO: (Answer.NO, Answer.NOTHING)}
EVIDENCE_LIMIT = 2_000


def _cut(evidence: str) -> str:
    return evidence if len(evidence) <= EVIDENCE_LIMIT else evidence[: EVIDENCE_LIMIT - 1] + "…"


def compile_checks(expectation: Expectation, *, evals_root: Path | None, file: str | None = None) -> CompiledChecks:
    """The expectation's checks, ready to decide.

    Args:
        expectation: with its checks.
        evals_root: the skill's `evals/`, where schemas, references and `checks.py` lie.
        file: the file the expectation was read from, for messages.

    Raises:
        InputError: an argument can't be used; with its JSON path, what was found and expected.
    """
    compiled = (_compile(check, place, evals_root, file) for check, place in _placed(expectation))
    return CompiledChecks(expectation, tuple(compiled))


def check_problems(expectation: Expectation, *, evals_root: Path | None, file: str | None = None) -> list[InputError]:
    """All that is wrong with an expectation's checks, one error a check; none is raised."""
    problems = []
    for check, place in _placed(expectation):
        try:
            _compile(check, place, evals_root, file)
        except InputError as error:
            problems.append(error)
    return problems


def _placed(expectation: Expectation) -> list[tuple[Check, str]]:
    several = len(expectation.checks) > 1
    places = (f"{expectation.place}.check{f'[{index}]' if several else ''}" for index in range(len(expectation.checks)))
    return list(zip(expectation.checks, places, strict=True))


def _compile(check: Check, place: str, root: Path | None, file: str | None) -> CompiledCheck:
    place = f"{place}{'.not' if check.negated else ''}.{check.kind}"
    kind = KINDS.get(check.kind)
    if kind is None:
        guess = did_you_mean(check.kind, KINDS)
        hint = f"{guess}Kinds: {', '.join(KINDS)}."
        raise InputError(f"there is no check called {check.kind!r}", file=file, json_path=place, hint=hint)
    try:
        decider = read_arguments(kind, long_form(check.kind, check.arguments), root)
        if isinstance(decider, Python):
            decider.validate(root)
    except BadArgument as bad:
        raise InputError(
            f"{check.kind}: {bad.message}",
            file=file,
            json_path=place + _at(check, bad),
            found=bad.found,
            expected=bad.expected,
            hint=bad.hint,
        ) from None
    return CompiledCheck(decider, check.negated)


def _at(check: Check, bad: BadArgument) -> str:
    """The argument's place; a lone first argument was most likely written in the short form, which has no name."""
    for name in (CHECK_SHORT[check.kind], CHECK_LIST.get(check.kind)):
        if [*check.arguments] == [name]:
            return bad.at.removeprefix(f".{name}")
    return bad.at
