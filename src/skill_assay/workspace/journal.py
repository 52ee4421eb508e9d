"""What happened in an iteration, line by line: append-only, synced, one writer; read to go on after any end.

Every line is an object with `at` (UTC), `what`, and facts. The facts that `replay` understands:

    what               facts
    attempt_started    trial, attempt, pid?, pid_started?, pgid?, host     a launch; counts, whatever comes of it
    attempt_running    the same, once the process is there
    attempt_ended      trial, attempt, failure?
    reserved           reservation, usd, tokens, launches                  the worst case, set aside before a launch
    settled            reservation?, usd, tokens, launches                 what it cost in the end
    trial_state        trial, state
    run_began          trials, mode                                        a session; killed when no run_ended follows
    run_ended          ending, reason
    reaped             pid                                                 a stray of a dead run was ended

Other lines are kept for people.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from skill_assay.errors import InputError
from skill_assay.model.money import Spend
from skill_assay.workspace.writing import Writer, disk_errors

__all__ = ["Journal", "JournalState", "Lock", "RunningProcess", "holder_is_gone", "replay"]


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process that was started and of which no end was written down."""

    trial: str
    attempt: int
    pid: int
    started: float | None
    """Start time in seconds since the epoch: with the pid it names one process only."""
    pgid: int | None
    host: str
    program_started: float | None = None
    """Start of the program that leads the group."""


@dataclass(frozen=True, slots=True)
class JournalState:
    """What a journal (or the journals of all shards) says, read from the beginning."""

    attempts: Mapping[str, int] = field(default_factory=dict)
    """Trial → the highest attempt number launched."""
    states: Mapping[str, str] = field(default_factory=dict)
    """Trial → the last state written."""
    spent: Spend = Spend()
    """Settled."""
    unsettled: Spend = Spend()
    """Reserved by launches whose bill never came: they may have cost that much."""
    running: tuple[RunningProcess, ...] = ()
    ended: Mapping[str, Mapping[int, Mapping[str, Any]]] = field(default_factory=dict)
    """Trial → attempt → the facts of its end."""
    cut_off: bool = False
    """Whether the last session began and wrote no end: it was killed."""
    lines: int = 0
    unreadable: int = 0
    """Lines that are no JSON object: at most the last one of each interrupted run."""


class Lock:
    """At most one `assay` writes a journal. The system drops the lock with its holder, however that ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def acquire(self) -> None:
        """Take it, and write down who holds it.

        Raises:
            InputError: another process holds it; the message says which.
        """
        with disk_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            file = os.fdopen(descriptor, "r+b", buffering=0)
        if not _try_lock(file.fileno()):
            held = file.read(4096)
            file.close()
            raise InputError(
                f"another assay is at work here: {_holder(held)}",
                file=str(self._path.parent),
                hint="Wait for it, end it, or use another place with --workspace FOLDER.",
            )
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": _utc(time.time())}
        file.truncate(0)
        file.write(json.dumps(holder).encode())
        self._file = file

    def release(self) -> None:
        """Let it go; may be called twice."""
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder_is_gone(path: Path) -> bool:
    """Whether a lock's file names a process of this machine that is gone: killed, since an end clears the file."""
    try:
        facts = json.loads(path.read_bytes()[:4096])
        pid, host = facts["pid"], facts["host"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if host != socket.gethostname() or not isinstance(pid, int):
        return False
    import psutil

    return not psutil.pid_exists(pid)


class Journal:
    """Writes one journal. A line is on the disk when `write` returns."""

    def __init__(self, path: Path, writer: Writer, *, clock: Callable[[], float] = time.time) -> None:
        self._path, self._writer, self._clock = path, writer, clock
        self._guard = threading.Lock()
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            if _is_torn(path):
                self._file.write(b"\n")

    def write(self, what: str, **facts: Any) -> None:
        """Add a line; `facts` are plain JSON values, redacted as all we write."""
        line = self._writer.line({"at": _utc(self._clock()), "what": what, **facts})
        with self._guard, disk_errors(self._path):
            self._file.write(line)
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def replay(paths: Path | Iterable[Path]) -> JournalState:
    """The state a journal tells of; several (one a shard) are joined. An absent one tells nothing."""
    reader = _Reader()
    for path in [paths] if isinstance(paths, Path) else paths:
        if path.exists():
            for line in _lines(path):
                reader.line(line)
    return reader.state()


class _Reader:
    def __init__(self) -> None:
        self.attempts: dict[str, int] = {}
        self.states: dict[str, str] = {}
        self.spent = Spend()
        self.open: dict[str, Spend] = {}
        self.running: dict[tuple[str, int], RunningProcess] = {}
        self.ended: dict[str, dict[int, dict[str, Any]]] = {}
        self.cut_off = False
        self.count = self.unreadable = 0

    def line(self, line: bytes) -> None:
        self.count += 1
        try:
            facts = json.loads(line)
            self._fact(str(facts["what"]), facts)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            self.unreadable += 1

    def _fact(self, what: str, facts: dict[str, Any]) -> None:
        match what:
            case "attempt_started" | "attempt_running":
                self._started(facts)
            case "attempt_ended":
                self.running.pop((facts["trial"], int(facts["attempt"])), None)
                self.ended.setdefault(str(facts["trial"]), {})[int(facts["attempt"])] = facts
            case "run_began" | "run_ended":
                self.cut_off = what == "run_began"
            case "reserved":
                set_aside = _spend(facts)
                self.open[str(facts["reservation"])] = replace(set_aside, assumed_usd=set_aside.usd)
            case "settled":
                self.open.pop(str(facts.get("reservation")), None)
                self.spent += _spend(facts)
            case "trial_state":
                self.states[str(facts["trial"])] = str(facts["state"])
            case "reaped":
                gone = [key for key, process in self.running.items() if process.pid == facts["pid"]]
                for key in gone:
                    del self.running[key]

    def _started(self, facts: dict[str, Any]) -> None:
        trial, number = str(facts["trial"]), int(facts["attempt"])
        self.attempts[trial] = max(number, self.attempts.get(trial, 0))
        if facts.get("pid") is not None:
            self.running[trial, number] = RunningProcess(
                trial,
                number,
                pid=int(facts["pid"]),
                started=facts.get("pid_started"),
                pgid=facts.get("pgid"),
                host=str(facts.get("host", "")),
                program_started=facts.get("program_started"),
            )

    def state(self) -> JournalState:
        unsettled = sum(self.open.values(), Spend())
        running = tuple(self.running.values())
        return JournalState(
            attempts=self.attempts,
            states=self.states,
            spent=self.spent,
            unsettled=unsettled,
            running=running,
            ended=self.ended,
            cut_off=self.cut_off,
            lines=self.count,
            unreadable=self.unreadable,
        )


def _spend(facts: Mapping[str, Any]) -> Spend:
    usd, tokens, launches = (facts.get(name) or 0 for name in ("usd", "tokens", "launches"))
    return Spend(float(usd), int(tokens), int(launches), float(facts.get("assumed_usd") or 0.0))


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield line


def _is_torn(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _holder(held: bytes) -> str:
    try:
        facts = json.loads(held)
        return f"process {facts['pid']} on {facts['host']}, since {facts['since']}"
    except (ValueError, KeyError, TypeError):
        return "a process that has not said who it is"


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _try_lock(descriptor: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            # Far behind the text, which the others must be able to read.
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if os.name == "nt":
            os.lseek(descriptor, 0, os.SEEK_SET)
        return False
    return True
