"""The project's own functions: `evals/checks.py`, matched to expectations by text or id.

A function belongs to an expectation when `CHECKS = {"text or id": function}` says so, or when it is named after the
id or the text (`The video exists.` → `the_video_exists`, or `check_the_video_exists`). Texts are compared with their
white space evened out. It is called as `function(context)`; see `docs/reference/checks.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.graders.author import AuthorCodeError, run_driver
from skill_assay.graders.checks.code import verdict_of
from skill_assay.graders.functions import Functions, read_functions
from skill_assay.model.evals import Eval, Expectation, slug
from skill_assay.model.grade import Grade
from skill_assay.model.protocols import Ledger
from skill_assay.model.work import Work

__all__ = ["ScriptGrader", "script_covers", "unmatched_keys"]


@dataclass(frozen=True, slots=True)
class _Match:
    function: str
    mapped: str | None = None
    """Its key in `CHECKS`."""


def script_covers(evals_root: Path | None, one: Eval) -> set[int]:
    """The expectations of an eval that `evals/checks.py` has a function for, found without running it."""
    functions = read_functions(evals_root)
    if functions is None:
        return set()
    pairs = enumerate(one.expectations)
    return {index for index, expectation in pairs if not expectation.checks and _match(expectation, functions)}


def unmatched_keys(evals_root: Path | None, evals: tuple[Eval, ...]) -> list[str]:
    """Keys of `CHECKS` that name no expectation: most likely misspelt."""
    functions = read_functions(evals_root)
    known = {_even(name) for one in evals for expectation in one.expectations for name in _names(expectation)}
    return [key for key in functions.mapped if _even(key) not in known] if functions else []


def _match(expectation: Expectation, functions: Functions) -> _Match | None:
    keys = {_even(key): key for key in functions.mapped}
    for name in _names(expectation):
        if _even(name) in keys:
            return _Match(keys[_even(name)], keys[_even(name)])
    for name in _function_names(expectation):
        signature = functions.signatures.get(name)
        if signature is not None and not signature.needs:
            return _Match(name)
    return None


def _names(expectation: Expectation) -> Iterator[str]:
    if expectation.id:
        yield expectation.id
    yield expectation.text


def _function_names(expectation: Expectation) -> Iterator[str]:
    for name in _names(expectation):
        word = slug(name, limit=1_000).replace("-", "_")
        # A text without a Latin letter or a digit has no such name.
        if re.search(r"[a-z0-9]", name.lower()):
            yield f"check_{word}"
            yield word


def _even(text: str) -> str:
    return " ".join(text.split())


class ScriptGrader:
    """Decides expectations by the functions of `evals/checks.py`, in one launch a trial.

    Args:
        evals_root: the skill's `evals/`.
    """

    name = "script"

    def __init__(self, evals_root: Path | None) -> None:
        self._evals_root = evals_root

    def covers(self, one: Eval) -> frozenset[int]:
        """The expectations it can decide."""
        return frozenset(script_covers(self._evals_root, one))

    async def grade(self, expectations: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for those that have a function; an exception in it is an error, never a mark against the agent."""
        functions = read_functions(self._evals_root)
        pairs = expectations.items() if functions else ()
        matches = {index: match for index, one in pairs if functions and (match := _match(one, functions))}
        if not matches:
            return {}
        told = await _told(matches, work)
        return {index: _grade(expectations[index], match, told[index]) for index, match in matches.items()}


async def _told(matches: Mapping[int, _Match], work: Work) -> dict[int, dict[str, Any]]:
    calls: list[dict[str, Any]] = [
        {"key": index, "function": match.function, "mapped": match.mapped, "arguments": {}}
        for index, match in matches.items()
    ]
    try:
        answers = {answer.get("key"): answer for answer in await run_driver(work, {"calls": calls})}
    except AuthorCodeError as error:
        return {index: {"error": str(error)} for index in matches}
    return {index: answers[index] for index in matches}


def _grade(expectation: Expectation, match: _Match, told: dict[str, Any]) -> Grade:
    verdict = verdict_of(told, match.function if match.mapped is None else "CHECKS")
    return Grade(expectation.text, verdict.decision, verdict.evidence, "script", expectation.severity)
