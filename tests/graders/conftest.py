"""What the graders' tests stand on: a trial's stored results made by hand, and a runner that really runs code."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from skill_assay.formats.checks_table import long_form
from skill_assay.graders.checks import CheckGrader, compile_checks
from skill_assay.model.evals import Check, Eval, Expectation
from skill_assay.model.grade import Grade
from skill_assay.model.money import Spend
from skill_assay.model.transcript import Event, Started, Usage
from skill_assay.model.trial import TrialId
from skill_assay.model.work import CodeResult, Work

KEPT = 1_000_000
"""Bytes kept of what is printed, as a sandbox does."""


class LocalRunner:
    """A `CodeRunner` without a wall: a real process in a real, temporary copy of the files."""

    def __init__(self) -> None:
        self.runs = 0
        self.left_behind: list[str] = []
        """The files in the working directory after the last run."""

    async def run(
        self, command: str | Sequence[str], *, files: Path | None, extra: Mapping[str, bytes], timeout: float
    ) -> CodeResult:
        self.runs += 1
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder) / "work"
            if files:
                shutil.copytree(files, work, symlinks=True)
            work.mkdir(exist_ok=True)
            for name, content in extra.items():
                (work / name).write_bytes(content)
            result = await self._start(command, work, timeout)
            self.left_behind = sorted(path.relative_to(work).as_posix() for path in work.rglob("*"))
            return result

    async def _start(self, command: str | Sequence[str], work: Path, timeout: float) -> CodeResult:
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=work,
            env={"PATH": os.environ["PATH"]},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        talk = asyncio.ensure_future(process.communicate())
        late = not (await asyncio.wait({talk}, timeout=timeout))[0]
        if late:
            os.killpg(process.pid, signal.SIGKILL)
        out, err = await talk
        code = None if late else process.returncode
        return CodeResult(code, out[:KEPT].decode(), err[-KEPT:].decode(), timed_out=late)


class NoLedger:
    """A `Ledger` that keeps nothing; machine grading costs nothing."""

    spent = Spend()

    def reserve(self, worst: Spend) -> bool:
        return True

    def settle(self, reserved: Spend, actual: Spend | None) -> None: ...

    def note(self, what: str, **facts: Any) -> None: ...


class Desk:
    """A trial made by hand, and the means to put checks to it."""

    def __init__(self, folder: Path, portal: BlockingPortal) -> None:
        self.folder = folder
        self.wait = portal.call
        """Runs an async function to its end."""
        self.outputs = folder / "run-1" / "outputs"
        self.evals_root = folder / "skill" / "evals"
        self.evals_root.mkdir(parents=True)
        self.code = LocalRunner()
        self.facts: dict[str, Any] = {
            "answer": "",
            "events": (Started(tools=("Bash",)),),
            "usage": Usage(),
            "seconds": None,
            "skill_name": "reporter",
            "skill_used": None,
        }
        self.eval = Eval("1", "Write a report.")

    def file(self, name: str, content: str | bytes = "x") -> Desk:
        """An output file."""
        path = self.outputs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def evals_file(self, name: str, content: str) -> Desk:
        """A file of the evals folder."""
        path = self.evals_root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
        return self

    def says(self, answer: str, *events: Event, **facts: Any) -> Desk:
        """The answer, events after the agent's first words, and meters."""
        self.facts.update(facts, answer=answer)
        if events:
            self.facts["events"] = (Started(tools=("Bash",)), *events)
        return self

    @property
    def work(self) -> Work:
        files = [path for path in self.outputs.rglob("*") if not path.is_dir()] if self.outputs.is_dir() else []
        return Work(
            id=TrialId(self.eval.id, "with_skill", 1),
            eval=self.eval,
            run_folder=self.outputs.parent,
            outputs=self.outputs,
            files=tuple(sorted(path.relative_to(self.outputs).as_posix() for path in files)),
            evals_root=self.evals_root,
            code=self.code,
            **self.facts,
        )

    def expectation(self, *checks: Mapping[str, Any], text: str = "It is so.", **fields: Any) -> Expectation:
        """An expectation with checks as an author writes them."""
        return Expectation(text, tuple(map(_check, checks)), place="$.evals[0].expectations[0]", **fields)

    def compile(self, *checks: Mapping[str, Any]) -> Any:
        """The checks made ready; raises what is wrong with them."""
        return compile_checks(self.expectation(*checks), evals_root=self.evals_root)

    def grade(self, *checks: Mapping[str, Any]) -> Grade:
        """The grade of one expectation with these checks."""

        async def run() -> Grade:
            grader = CheckGrader(self.evals_root)
            return (await grader.grade({0: self.expectation(*checks)}, self.work, NoLedger()))[0]

        return self.wait(run)

    def verdict(self, *checks: Mapping[str, Any]) -> str:
        """`passed`, `failed`, `ungraded` or `error`."""
        grade = self.grade(*checks)
        assert grade.evidence
        return str(grade.decision)


def _check(written: Mapping[str, Any], negated: bool = False) -> Check:
    [(kind, value)] = written.items()
    return _check(value, not negated) if kind == "not" else Check(kind, long_form(kind, value), negated)


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """One event loop for all tests, so that worker processes are started once."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def desk(tmp_path: Path, portal: BlockingPortal) -> Desk:
    """A trial with no files and no answer yet."""
    return Desk(tmp_path, portal)


@pytest.fixture
def ledger() -> NoLedger:
    return NoLedger()
