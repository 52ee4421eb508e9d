"""The program that stands between us and every agent, so that nothing an agent started outlives it.

Run once as `python -I -S launcher.py FD` (a server that forks), it is asked over a socket for one launcher a trial:

    assay ── server ── launcher ── the agent's CLI ── its children …
      └───── control socket ──┘

A launcher is a *child subreaper*: whatever the CLI leaves behind, in whatever session, becomes the launcher's child
and is killed. It ends the CLI when told, when sent TERM, and when its control socket closes, which the kernel sees to
however `assay` dies. The server is a subreaper too, for the children of a launcher that was killed itself. Why a
server: a Python process costs 10 ms to start, a fork of a small one less than 1 ms.

It imports nothing of ours and no third-party package where the kernel has subreapers, so it starts fast. Elsewhere a
polled picture of the process tree (psutil) takes their place: it can miss a daemon that lived between two polls.

Control socket, from us: the specification (8 bytes of length, then `marshal`), later `e` (end it). To us, in lines:
`S pid started child child_started` · `F errno cwd|program` (could not be launched) · `X status` (CLI ended) · `L count`
(unkillable) · `E text` (the launcher's own mistake).
"""

# Without pathlib it starts in half the time.
# ruff: noqa: PTH118, PTH120, PTH123, PTH208
from __future__ import annotations

import marshal
import os
import signal
import socket
import sys
import time
from collections.abc import Iterable
from typing import Any

__all__ = ["SWEEP_SECONDS", "main", "start_time"]

SWEEP_SECONDS = 10.0
"""How long killed processes may take to go before they are reported as left behind."""
_POLL_SECONDS = 1.0
_PR_SET_CHILD_SUBREAPER = 36
_RESTORED = [signal.SIGPIPE, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGCHLD]
"""Signals Python or the launcher itself changed, as the program must not find them."""


def start_time(pid: int) -> float | None:
    """When a process started, seconds since the epoch; `None` when there is none or the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/stat", "rb") as file:
            boot = next(int(line.split()[1]) for line in file if line.startswith(b"btime"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return boot + ticks / os.sysconf("SC_CLK_TCK")


def _become_subreaper() -> bool:
    """Whether this kernel can."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(int(name)) == pid]


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def _kill_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        _kill(leader, number)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _has_children() -> bool:
    """The truth, where the list of them may miss one that is just being inherited."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reap() -> dict[int, int]:
    """Statuses of the children that ended: pid → exit code, negative for a signal."""
    ended: dict[int, int] = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return ended
            ended[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return ended


class Wakeups:
    """Waits for a descriptor or a signal, whichever comes first."""

    def __init__(self, fd: int) -> None:
        self._fd, self._signals = fd, set[int]()
        self._read, write = os.pipe()
        os.set_blocking(write, False)
        os.set_blocking(self._read, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        import select

        self._poll = select.poll()
        self._poll.register(self._read, select.POLLIN)
        self._poll.register(fd, select.POLLIN)

    def wait(self, seconds: float | None) -> bool:
        """Whether the descriptor can be read."""
        ready = self._poll.poll(None if seconds is None else max(0.0, seconds) * 1000)
        try:
            self._signals.update(os.read(self._read, 4096))
        except BlockingIOError:
            pass
        return any(fd == self._fd for fd, _ in ready)

    def forget(self) -> None:
        """The descriptor has closed: wait for signals only."""
        self._poll.unregister(self._fd)

    @property
    def terminated(self) -> bool:
        return signal.SIGTERM in self._signals


class Launcher:
    """One trial's launcher: starts the CLI, and ends it with all it started."""

    def __init__(self, control: int, spec: dict[str, Any]) -> None:
        self._control, self._spec = control, spec
        self._wakeups = Wakeups(control)
        self._tree = None if _become_subreaper() and not spec["tree"] else _polled_tree(spec["site"])
        self._child = 0
        self._deadline: float | None = None

    def run(self, streams: list[int]) -> None:
        """From start to nothing left."""
        if not self._start(streams):
            return
        for fd in streams:
            os.close(fd)
        status = self._watch()
        left = self._sweep(status)
        if left:
            self._tell(f"L {left}")

    def _tell(self, line: str) -> None:
        try:
            os.write(self._control, line.encode() + b"\n")
        except OSError:
            pass  # nobody is there to be told: the sweep matters all the more

    def _start(self, streams: list[int]) -> bool:
        what = "cwd"
        try:
            if self._spec["cwd"]:
                os.chdir(self._spec["cwd"])
            what = "program"
            self._child = _spawn(self._spec, streams)
        except OSError as error:
            self._tell(f"F {error.errno} {what}")
            return False
        me = os.getpid()
        self._tell(f"S {me} {start_time(me)} {self._child} {start_time(self._child)}")
        return True

    def _watch(self) -> int | None:
        """Until the CLI has ended by itself (its status) or must be killed (`None`)."""
        while True:
            wait = _POLL_SECONDS if self._deadline is None else self._deadline - time.monotonic()
            if self._tree:
                self._tree.look()
                wait = min(wait, 0.1)
            if self._wakeups.wait(wait):
                self._hear()
            if self._wakeups.terminated or not _exists(self._spec["harness"]):
                self._end()
            ended = _reap()
            if self._child in ended:
                self._tell(f"X {ended[self._child]}")
                return ended[self._child]
            if self._deadline is not None and time.monotonic() >= self._deadline:
                return None

    def _hear(self) -> None:
        if not os.read(self._control, 64):
            self._wakeups.forget()
        self._end()

    def _end(self) -> None:
        """Ask the CLI to end, once; the grace begins."""
        if self._deadline is not None:
            return
        self._deadline = time.monotonic() + self._spec["grace"]
        target = self._child
        for _ in range(self._spec["wrappers"]):
            target = next(iter(_children(target)), self._child)
        _kill_group(target, self._spec["signal"])

    def _sweep(self, status: int | None) -> int:
        """Kill until there is nothing to kill; how many could not be."""
        limit = time.monotonic() + SWEEP_SECONDS
        me = os.getpid()
        rounds = 0
        while _has_children() or (self._tree and self._tree.members()):
            left = [*_children(me), *(self._tree.members() if self._tree else ())]
            if status is None:
                _kill(-self._child, signal.SIGKILL)
            for pid in left:
                _kill(pid, signal.SIGKILL)
            ended = _reap()
            if status is None and self._child in ended:
                status = ended[self._child]
                self._tell(f"X {status}")
            rounds += 1
            if time.monotonic() > limit:
                return len(left)
            if rounds > 10 and not ended:
                time.sleep(0.001)
        return 0


def _spawn(spec: dict[str, Any], streams: list[int]) -> int:
    """The program in its own session, with a clean slate of signals and no descriptor but its streams and the feed."""
    argv = _with_feed(spec["argv"], spec["feed"])
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(streams)]
    error: OSError = FileNotFoundError(2, "not found")
    for path in _candidates(argv[0], spec["env"].get(b"PATH", os.defpath.encode())):
        try:
            return os.posix_spawn(
                path, argv, spec["env"], file_actions=actions, setsid=True, setsigmask=(), setsigdef=_RESTORED
            )
        except FileNotFoundError:
            continue
        except (NotADirectoryError, PermissionError) as denied:
            error = denied
    raise error


def _candidates(program: bytes, path: bytes) -> list[bytes]:
    return [program] if b"/" in program else [os.path.join(part, program) for part in path.split(b":") if part]


def _with_feed(argv: list[bytes], feed: bytes | None) -> list[bytes]:
    """Lay `feed` on a descriptor and name it where the first word `{feed}` stands: what no process list may show."""
    if feed is None:
        return argv
    fd = os.memfd_create("feed", 0)
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(feed)
    os.lseek(fd, 0, os.SEEK_SET)
    os.set_inheritable(fd, True)
    place = argv.index(b"{feed}")
    return [*argv[:place], str(fd).encode(), *argv[place + 1 :]]


def _polled_tree(site: str) -> Any:
    sys.path[:0] = [os.path.dirname(__file__), site]
    from launcher_tree import PolledTree  # type: ignore[import-not-found]

    return PolledTree()


def _launch(fds: list[int]) -> None:
    """One trial, in a fork of the server; never returns."""
    control, *streams = fds
    try:
        os.setsid()
        with os.fdopen(control, "rb", buffering=0, closefd=False) as file:
            data = b""
            size = int.from_bytes(_exactly(file, 8), "big")
            data = _exactly(file, size)
        for fd in fds:
            os.set_inheritable(fd, False)
        Launcher(control, marshal.loads(data)).run(streams)
    except EOFError:
        pass  # ended before it began
    except BaseException as error:
        os.write(control, f"E {error!r}\n".encode())
    finally:
        os._exit(0)


def _exactly(file: Any, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = file.read(min(size, 1 << 20))
        if not part:
            raise EOFError("the harness is gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _serve(fd: int) -> None:
    server = socket.socket(fileno=fd)
    import gc
    import resource  # loaded here once, for every fork

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump of a trial's process would hold credentials
    gc.disable()  # a collection in a fork would copy every page
    subreaper = _become_subreaper()
    wakeups = Wakeups(fd)
    launchers: set[int] = set()
    serving = True
    while serving or launchers or _has_children():
        if wakeups.wait(None):
            message, fds, *_ = socket.recv_fds(server, 1, 4)
            if message:
                launchers.add(_fork_launcher(server, fds))
            else:
                serving = False
                wakeups.forget()
        launchers.difference_update(_reap())
        _kill_adopted(launchers) if subreaper else None


def _fork_launcher(server: socket.socket, fds: list[int]) -> int:
    pid = os.fork()
    if pid == 0:
        server.close()
        _launch(fds)
    for fd in fds:
        os.close(fd)
    return pid


def _kill_adopted(launchers: Iterable[int]) -> None:
    """Children that are no launcher were a dead launcher's."""
    for pid in set(_children(os.getpid())).difference(launchers):
        _kill(pid, signal.SIGKILL)


def main(arguments: list[str]) -> None:
    """Serve until the other end of the descriptor named by the first argument closes and every launcher has ended."""
    _serve(int(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
