"""`command`, `python`: code of the author's, run in the trial's sandbox without keys and within a time limit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from skill_assay.errors import InputError
from skill_assay.formats.suggest import did_you_mean
from skill_assay.graders.author import AuthorCodeError, run_driver
from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import Root, list_of, mapping, number, regex, text, whole
from skill_assay.graders.checks.tools import matched
from skill_assay.graders.checks.verdict import Verdict, broken, said, unknown
from skill_assay.graders.functions import FILE, read_functions
from skill_assay.graders.words import listed, quoted, shortened, shown
from skill_assay.model.work import CodeResult, Work

__all__ = ["Command", "Python", "verdict_of"]


def run_reader(value: Any, root: Root) -> str | tuple[str, ...]:
    """A shell line, or an argument vector."""
    if isinstance(value, list):
        argv: tuple[str, ...] = list_of(text)(value, root)
        return argv
    return text(value, root)


def seconds_reader(value: Any, root: Root) -> float:
    """Seconds, above 0 and at most an hour."""
    seconds = number(value, root)
    if not 0 < seconds <= 3600:
        raise BadArgument("no sensible time limit", found=shown(value), expected="seconds, up to 3600")
    return seconds


@dataclass(frozen=True)
class Command:
    """A command, run in a copy of the outputs, ends as expected."""

    kind: ClassVar = "command"
    run: str | tuple[str, ...] = argument(run_reader)
    exit: int = argument(whole, default=0)
    stdout_matches: str | None = argument(regex, default=None)
    timeout: float = argument(seconds_reader, default=60.0)

    async def decide(self, work: Work) -> Verdict:
        """Compares exit code and output; a command that is not installed, or not done in time, decides nothing."""
        # Words go through a shell too: so a program that is not there ends with 127 in every sandbox.
        run = self.run if isinstance(self.run, str) else ["/bin/sh", "-c", 'exec "$@"', "sh", *self.run]
        files = work.outputs if work.outputs.is_dir() else None
        result = await work.code.run(run, files=files, extra={}, timeout=self.timeout)
        line = quoted(self.run if isinstance(self.run, str) else " ".join(self.run), 100)
        if result.timed_out or result.exit_code is None:
            return broken(f"{line} took more than {self.timeout:g} seconds and was ended.")
        if result.exit_code == 127 != self.exit and "/" not in self._program():
            return broken(f"{line} could not be run: the program is not installed.{_said(result)}")
        if result.exit_code != self.exit:
            return said(False, f"{line} ended with exit code {result.exit_code}, expected {self.exit}.{_said(result)}")
        if self.stdout_matches is None:
            return said(True, f"{line} ended with exit code {self.exit}.{_said(result)}")
        hit = (await bounded(matched, self.stdout_matches, [result.stdout]))[0]
        wanted = f"/{shortened(self.stdout_matches, 80)}/"
        return said(hit, f"{line} printed {'' if hit else 'nothing that matches '}{wanted}.{_said(result)}")

    def _program(self) -> str:
        words = self.run.split() if isinstance(self.run, str) else self.run
        return words[0] if words else ""


def _said(result: CodeResult) -> str:
    printed = result.stdout.strip() or result.stderr.strip()
    return f" It printed {quoted(printed[-200:], 200)}." if printed else ""


def function_reader(value: Any, root: Root) -> str:
    """A function at the top of `evals/checks.py`."""
    name = text(value, root)
    try:
        functions = read_functions(root)
    except InputError as error:
        raise BadArgument(f"evals/{FILE} can't be used: {error}") from None
    if functions is None:
        raise BadArgument(f"there is no evals/{FILE} this function could stand in", found=shown(name))
    if name not in functions.signatures:
        names = listed(functions.signatures) or "none"
        hint = f"{did_you_mean(name, functions.signatures)}Functions: {names}."
        raise BadArgument(f"evals/{FILE} has no such function", found=shown(name), hint=hint)
    return name


@dataclass(frozen=True)
class Python:
    """A function of `evals/checks.py` says yes."""

    kind: ClassVar = "python"
    function: str = argument(function_reader)
    arguments: dict[str, Any] = argument(mapping, default=None)

    def validate(self, root: Path | None) -> None:
        """The arguments fit the function."""
        functions = read_functions(root)
        problem = functions.signatures[self.function].problem(self.arguments or {}) if functions else None
        if problem:
            raise BadArgument(f"{self.function}() {problem}", at=".arguments", found=shown(self.arguments or {}))

    async def decide(self, work: Work) -> Verdict:
        """Calls it; what it raises is an error of the check, never a mark against the agent."""
        call = {"key": 0, "function": self.function, "arguments": self.arguments or {}}
        try:
            told = await run_driver(work, {"calls": [call]})
        except AuthorCodeError as error:
            return broken(f"{FILE}: {self.function}(): {error}.")
        return verdict_of(told[0], self.function)


def verdict_of(told: dict[str, Any], function: str) -> Verdict:
    """The verdict in what the driver told of one call."""
    evidence = f"{FILE}: {function}(): {told.get('error') or told.get('evidence')}"
    if "error" in told:
        return broken(evidence)
    passed = told.get("passed")
    return unknown(evidence) if passed is None else said(bool(passed), evidence)
