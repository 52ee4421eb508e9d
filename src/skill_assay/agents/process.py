"""Runs one launch from start to nothing left: output as it comes, time limit, early end, clean-up.

The launcher (`launcher.py`) does the killing; here its messages and the program's streams are read.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from skill_assay.agents.framing import MAX_LINE, LineFramer
from skill_assay.agents.launcher import SWEEP_SECONDS
from skill_assay.agents.launcher_link import Link, open_link
from skill_assay.model.place import Launch

__all__ = ["Exit", "Identity", "run"]

_READ_BYTES = 1 << 18
_ERROR_LINE = 64 * 1024
_DRAIN_IDLE_SECONDS = 1.0
_DRAIN_SECONDS = 30.0
"""How long output may still come, once the launcher is gone, from a process it could not kill."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What names the processes of one attempt for good: a pid alone is given out again."""

    pid: int
    """The launcher's."""
    started: float | None
    """Its start, seconds since the epoch; `None` where the system does not say."""
    pgid: int
    """The program's own process group, which is also its pid and session."""
    program_started: float | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """How a launch ended. Nothing here judges: what it means is for the agent's parser."""

    exit_code: int | None
    """Negative: the signal that killed it. `None`: unknown, for the launcher was killed or never started it."""
    wall_seconds: float
    """From the launch to the program's end, without the sweep after it."""
    first_line_seconds: float | None = None
    ended_early: str | None = None
    """What `on_line` returned to end it."""
    timed_out: bool = False
    stderr: str = ""
    """The last of standard error; `stderr_bytes` says how much there was."""
    stderr_bytes: int = 0
    stdout_bytes: int = 0
    overlong_lines: int = 0
    identity: Identity | None = None
    launch_error: str | None = None
    """Why it could not be launched at all."""
    left_behind: int = 0
    """Processes that could not be killed (set-uid programs, a hung disk)."""


async def run(
    launch: Launch,
    *,
    on_line: Callable[[bytes], str | None],
    on_start: Callable[[Identity], None] | None = None,
    on_error_line: Callable[[bytes], str | None] | None = None,
    time_limit: float,
    grace: float = 5.0,
    stderr_limit: int = 64 * 1024,
    max_line: int = MAX_LINE,
    tree: bool = False,
) -> Exit:
    """Run a program and everything it starts, until none of it is left.

    Cancelling it ends the program likewise, within `grace` and the time a sweep may take.

    Args:
        launch: what to run; standard input is closed unless it has some.
        on_line: takes every line of standard output as it comes; a text ends the program, and lines it still
            prints while ending are handed on with their answers ignored. What it raises ends the program too
            and is raised again.
        on_start: told who is running, before any line.
        on_error_line: takes every line of standard error, likewise.
        time_limit: seconds, after which it is ended.
        grace: seconds between the end signal and the kill.
        stderr_limit: bytes of standard error that are kept, from its end.
        max_line: bytes kept of one line.
        tree: use the polled process tree of systems without subreapers.
    """
    link = open_link(launch, grace, tree=tree)
    session = _Session(link, launch, on_line, on_start, LineFramer(max_line), stderr_limit, grace)
    session.on_error_line = on_error_line
    try:
        await session.run(time_limit)
    finally:
        with anyio.CancelScope(shield=True):
            await session.finish()
    if session.error:
        raise session.error
    return session.exit()


class _Session:
    """One launch while it runs."""

    def __init__(
        self,
        link: Link,
        launch: Launch,
        on_line: Callable[[bytes], str | None],
        on_start: Callable[[Identity], None] | None,
        framer: LineFramer,
        stderr_limit: int,
        grace: float,
    ) -> None:
        self.link, self.launch, self.framer = link, launch, framer
        self.on_line, self.on_start = on_line, on_start
        self.on_error_line: Callable[[bytes], str | None] | None = None
        self.error_framer = LineFramer(_ERROR_LINE)
        self.stderr_limit, self.patience = stderr_limit, grace + SWEEP_SECONDS + 5.0
        self.began = time.monotonic()
        self.scope = anyio.CancelScope()
        self.gone = False
        self.identity: Identity | None = None
        self.status: int | None = None
        self.wall: float | None = None
        self.first_line: float | None = None
        self.ended_early: str | None = None
        self.timed_out = False
        self.error: Exception | None = None
        self.launch_error: str | None = None
        self.left = 0
        self.stdout_bytes = self.stderr_bytes = 0
        self.last_output = self.began
        self.reading, self.silent = 2, anyio.Event()
        self._tail = bytearray()
        self._control = b""

    async def run(self, time_limit: float) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._read_stdout)
            group.start_soon(self._read_stderr)
            if self.link.stdin is not None:
                group.start_soon(self._write_stdin, self.link.stdin)
            self.scope.deadline = anyio.current_time() + time_limit
            with self.scope:
                await self._follow()
            if not self.gone:
                self.timed_out = not (self.ended_early or self.error)
                await self._end()
            await self._drain()
            group.cancel_scope.cancel()

    async def finish(self) -> None:
        """Whatever happened, nothing is left: neither processes nor descriptors."""
        self.link.close_streams()
        if not self.gone:
            await self._end()
        self.link.close()

    def exit(self) -> Exit:
        wall = self.wall if self.wall is not None else time.monotonic() - self.began
        return Exit(
            exit_code=self.status,
            wall_seconds=wall,
            # What a short program printed may be read only after it has ended.
            first_line_seconds=None if self.first_line is None else min(self.first_line, wall),
            ended_early=self.ended_early,
            timed_out=self.timed_out,
            stderr=self._tail.decode("utf-8", "replace"),
            stderr_bytes=self.stderr_bytes,
            stdout_bytes=self.stdout_bytes,
            overlong_lines=self.framer.overlong,
            identity=self.identity,
            launch_error=self.launch_error,
            left_behind=self.left,
        )

    async def _end(self) -> None:
        """Have the launcher end everything; a launcher that does not answer is killed, its server sweeps."""
        self.link.end()
        with anyio.move_on_after(self.patience):
            await self._follow()
        if not self.gone and self.identity:
            _kill(self.identity.pid)
            with anyio.move_on_after(1.0):
                await self._follow()
        self.gone = True

    async def _follow(self) -> None:
        """Write the specification, then read the launcher's messages until it is gone."""
        control = self.link.control
        while self.link.spec:
            await anyio.wait_writable(control)
            try:
                self.link.spec = self.link.spec[control.send(self.link.spec[:_READ_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError:
                break
        while not self.gone:
            await anyio.wait_readable(control)
            try:
                data = control.recv(4096)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            self.gone = not data
            *lines, self._control = (self._control + data).split(b"\n")
            for line in lines:
                self._message(line.decode("utf-8", "replace"))

    def _message(self, line: str) -> None:
        kind, _, rest = line.partition(" ")
        if kind == "S":
            pid, started, program, program_started = rest.split()
            self.identity = Identity(int(pid), _number(started), int(program), _number(program_started))
            self._started(self.identity)
        elif kind == "X":
            self.wall = time.monotonic() - self.began
            self.status = int(rest)
        elif kind == "F":
            number, _, what = rest.partition(" ")
            self.launch_error = (
                f"{os.strerror(int(number))}: {self.launch.cwd if what == 'cwd' else self.launch.argv[0]}"
            )
        elif kind == "L":
            self.left = int(rest)
        elif kind == "E":
            self.launch_error = f"The launcher failed: {rest}"

    def _started(self, identity: Identity) -> None:
        if self.on_start:
            try:
                self.on_start(identity)
            except Exception as error:
                self._fail(error)

    async def _drain(self) -> None:
        """Read what was printed before the end; a stray nobody could kill may hold the pipes open for ever."""
        ended = time.monotonic()
        while self.reading and time.monotonic() - ended < _DRAIN_SECONDS:
            with anyio.move_on_after(_DRAIN_IDLE_SECONDS):
                await self.silent.wait()
            if time.monotonic() - max(self.last_output, ended) >= _DRAIN_IDLE_SECONDS:
                return

    def _silence(self) -> None:
        self.reading -= 1
        if not self.reading:
            self.silent.set()

    async def _read_stdout(self) -> None:
        while chunk := await _read(self.link.stdout):
            self.last_output = time.monotonic()
            self.stdout_bytes += len(chunk)
            self._printed(self.framer.feed(chunk))
        self._printed(self.framer.end())
        self._silence()

    def _printed(self, lines: list[bytes]) -> None:
        if lines and self.first_line is None:
            self.first_line = time.monotonic() - self.began
        self._hand_on(lines, self.on_line)

    def _hand_on(self, lines: list[bytes], take: Callable[[bytes], str | None]) -> None:
        for line in lines:
            if self.error:
                return
            try:
                said = take(line)
            except Exception as error:
                self._fail(error)
                return
            if said and not self.ended_early and not self.timed_out:
                self.ended_early = said
                self._end_soon()

    def _fail(self, error: Exception) -> None:
        """Keep what a callback raised, to be raised again once nothing is left."""
        self.error = self.error or error
        self._end_soon()

    def _end_soon(self) -> None:
        self.link.end()
        self.scope.deadline = min(self.scope.deadline, anyio.current_time() + self.patience)

    async def _read_stderr(self) -> None:
        while chunk := await _read(self.link.stderr):
            self.last_output = time.monotonic()
            self.stderr_bytes += len(chunk)
            self._tail += chunk
            del self._tail[: -self.stderr_limit]
            if self.on_error_line:
                self._hand_on(self.error_framer.feed(chunk), self.on_error_line)
        if self.on_error_line:
            self._hand_on(self.error_framer.end(), self.on_error_line)
        self._silence()

    async def _write_stdin(self, fd: int) -> None:
        data = memoryview(self.launch.stdin or b"")
        while data:
            await anyio.wait_writable(fd)
            try:
                data = data[os.write(fd, data[:_READ_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError:
                break
        self.link.stdin = -1
        os.close(fd)


async def _read(fd: int) -> bytes:
    """What there is, once there is something; empty at the end of the stream."""
    while True:
        await anyio.wait_readable(fd)
        try:
            return os.read(fd, _READ_BYTES)
        except BlockingIOError:
            continue


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def _number(text: str) -> float | None:
    return None if text == "None" else float(text)
