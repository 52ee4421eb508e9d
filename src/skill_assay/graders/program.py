"""A grader program: started once a trial, prints `[{"text", "passed", "evidence"}]`, matched by text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError
from skill_assay.graders.author import SECONDS, AuthorCodeError, run_driver
from skill_assay.graders.words import shortened, shown
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.protocols import Ledger
from skill_assay.model.work import Work

__all__ = ["ProgramGrader", "program_files"]


class ProgramGrader:
    """Decides the expectations a program speaks of.

    Args:
        command: the program and its words, with `{outputs}`, `{transcript}`, `{eval}` where it wants their paths.
            A word that names a file of the skill (`evals/grade.py`) is that file.
        evals_root: the skill's `evals/`.
        timeout: seconds for one trial.
    """

    name = "program"

    def __init__(self, command: str | Sequence[str], evals_root: Path | None, *, timeout: float = SECONDS) -> None:
        self._argv = _argv(command)
        self._evals_root = evals_root
        self._timeout = timeout

    def covers(self, one: Eval) -> frozenset[int]:
        """Every expectation: what it speaks of is known only once it has run."""
        return frozenset(range(len(one.expectations)))

    async def grade(self, expectations: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for those it speaks of; when it fails, an error for all."""
        if not expectations:
            return {}
        try:
            spoken = _read(await self._run(work))
        except AuthorCodeError as error:
            evidence = f"The grader program {shown(self._argv[0])} failed: {error}."
            return {index: _grade(one, Decision.ERROR, evidence) for index, one in expectations.items()}
        matches = ((index, one, spoken.get(_even(one.text))) for index, one in expectations.items())
        return {index: _grade(one, *said) for index, one, said in matches if said is not None}

    async def _run(self, work: Work) -> str:
        program = [_word(word, self._evals_root) for word in self._argv]
        told = (await run_driver(work, {"program": program}, timeout=self._timeout))[0]
        if "error" in told:
            raise AuthorCodeError(told["error"])
        if told["code"] != 0:
            raise AuthorCodeError(f"it ended with exit code {told['code']}")
        printed: str = told["printed"]
        return printed


def _argv(command: str | Sequence[str]) -> list[str]:
    try:
        argv = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except ValueError as error:
        raise InputError(f"the grader program can't be read: {error}", found=shown(command)) from None
    if not argv:
        raise InputError("the grader program is empty", expected="as python evals/grade.py {outputs} {transcript}")
    return argv


def program_files(command: str, evals_root: Path) -> list[Path]:
    """The files of the skill that a grader program's words name.

    Raises:
        InputError: the command can't be read.
    """
    return [path for word in _argv(command) if (path := _named(word, evals_root))]


def _named(word: str, evals_root: Path) -> Path | None:
    path = evals_root.parent / word
    return path if not word.startswith(("-", "/", "{")) and path.is_file() else None


def _word(word: str, evals_root: Path | None) -> str:
    """A word that names a file of the skill, as the path it has in the sandbox."""
    named = _named(word, evals_root) if evals_root else None
    if evals_root is None or named is None:
        return word
    path, root = named.resolve(), evals_root.resolve()
    return f"{{evals}}/{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else str(path)


def _read(printed: str) -> dict[str, tuple[Decision, str]]:
    """What it says of each text. Strict: one odd item, and none of it is believed."""
    try:
        items = json.loads(printed)
    except (ValueError, RecursionError):
        raise AuthorCodeError(f"it printed no JSON: {shortened(printed, 100)}") from None
    if not isinstance(items, list):
        raise AuthorCodeError(f'it printed {shown(items)}, expected [{{"text", "passed", "evidence"}}]')
    spoken: dict[str, tuple[Decision, str]] = {}
    for item in items:
        text, said = _item(item)
        if spoken.get(text, said) != said:
            raise AuthorCodeError(f"it says two things of {shown(text)}")
        spoken[text] = said
    return spoken


def _item(item: Any) -> tuple[str, tuple[Decision, str]]:
    fields = item if isinstance(item, dict) else {}
    text, passed, evidence = fields.get("text"), fields.get("passed"), fields.get("evidence")
    right = isinstance(text, str) and isinstance(evidence, str) and evidence.strip() and "passed" in fields
    if not right or not (passed is None or isinstance(passed, bool)):
        raise AuthorCodeError(f"it printed {shown(item)}, expected text, passed (true, false or null) and evidence")
    decision = {True: Decision.PASSED, False: Decision.FAILED, None: Decision.UNGRADED}[passed]
    return _even(str(text)), (decision, str(evidence)[:2_000])


def _even(text: str) -> str:
    return " ".join(text.split())


def _grade(expectation: Expectation, decision: Decision, evidence: str) -> Grade:
    return Grade(expectation.text, decision, evidence, "script", expectation.severity)
