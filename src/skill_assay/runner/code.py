"""Runs the skill's own code (setup, checks, grader programs) behind the trial's wall, without credentials."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

import anyio.to_thread

from skill_assay.agents.process import run
from skill_assay.errors import InputError
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Sandbox
from skill_assay.model.work import CodeResult
from skill_assay.runner.sandbox import base_environment, make_place, remove_place

__all__ = ["OUTPUT_BYTES", "SandboxedCode", "code_environment", "shell"]

OUTPUT_BYTES = 1_000_000
"""Of standard output and of standard error each, what is kept: the beginning of the one, the end of the other."""


def shell(command: str | Sequence[str]) -> list[str]:
    """The argument vector of a shell line, or the vector itself."""
    return ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)


def code_environment(env: Mapping[str, str], inner: Place) -> dict[str, str]:
    """What such code sees: the allow-list and the place's own folders, never a credential."""
    return {**base_environment(env), "HOME": str(inner.home), "TMPDIR": str(inner.tmp)}


class SandboxedCode:
    """Each run gets a fresh place, so nothing one check leaves behind is seen by another."""

    def __init__(self, sandbox: Sandbox, env: Mapping[str, str] | None = None) -> None:
        """
        Args:
            sandbox: the wall, the same as the trials'.
            env: the user's environment, of which only the allow-list is passed.
        """
        self._sandbox = sandbox
        self._env = dict(os.environ if env is None else env)

    async def run(
        self,
        command: str | Sequence[str],
        *,
        files: Path | None,
        extra: Mapping[str, bytes],
        timeout: float,
    ) -> CodeResult:
        """Run it in a copy of `files`. See `CodeRunner`."""
        place = make_place()
        try:
            await anyio.to_thread.run_sync(_lay_out, place.work, files, extra)
            return await self.run_in(place, command, timeout=timeout)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(remove_place, place)

    async def run_in(self, place: Place, command: str | Sequence[str], *, timeout: float) -> CodeResult:
        """Run it in a place that exists, as an eval's setup is: what it writes stays there."""
        kept = _Head(OUTPUT_BYTES)
        inner = self._sandbox.inner(place)
        launch = Launch(shell(command), code_environment(self._env, inner), place.work)
        end = await run(
            self._sandbox.wrap(launch, place),
            on_line=kept.line,
            time_limit=timeout,
            grace=1.0,
            stderr_limit=OUTPUT_BYTES,
            max_line=OUTPUT_BYTES,
        )
        stderr = f"{end.stderr}{end.launch_error}\n" if end.launch_error else end.stderr
        code = None if end.timed_out else 127 if end.launch_error else end.exit_code
        return CodeResult(code, kept.text(), stderr, end.timed_out)


class _Head:
    """The beginning of what was printed."""

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._lines: list[bytes] = []

    def line(self, line: bytes) -> None:
        if self._room > 0:
            self._lines.append(line[: self._room])
            self._room -= len(line) + 1

    def text(self) -> str:
        return b"\n".join(self._lines).decode("utf-8", "replace")


def _lay_out(work: Path, files: Path | None, extra: Mapping[str, bytes]) -> None:
    if files is not None and files.is_dir():
        shutil.copytree(files, work, symlinks=True, dirs_exist_ok=True, copy_function=_copy, ignore=_not_ours)
    for name, content in extra.items():
        target = work / _inside(name)
        _unlink_on_the_way(work, target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _unlink_on_the_way(work: Path, target: Path) -> None:
    """No link an agent laid may lead our own writing out of the folder."""
    for path in (target, *target.parents):
        if path == work:
            return
        if path.is_symlink() or (path.exists() and path != target and not path.is_dir()):
            path.unlink()


def _copy(source: str, target: str) -> None:
    """Only regular files: opening a stranger's pipe or device would hang or worse."""
    if Path(source).is_file():
        shutil.copy2(source, target)


_not_ours: Callable[[str, list[str]], set[str]] = shutil.ignore_patterns(".git")


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise InputError("A file to place must lie below the working directory.", found=name)
    return path
