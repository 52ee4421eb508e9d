"""Our side of the launcher: the server started on first use, and the link to one trial's launcher."""

from __future__ import annotations

import atexit
import marshal
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

from skill_assay.model.place import Launch

__all__ = ["Link", "open_link"]

_PROGRAM = Path(__file__).with_name("launcher.py")
_PIPE_BYTES = 1 << 20


class _Server:
    """The forking server: one a process, started on first use, gone when this process is."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},
                cwd="/",
                start_new_session=True,
            )
        self._socket = ours

    def ask(self, fds: list[int]) -> None:
        """A launcher with these descriptors: control, standard input, output and error."""
        socket.send_fds(self._socket, [b"l"], fds)

    def close(self) -> None:
        """Its launchers end what they started first. Does not wait for them."""
        self._socket.close()
        if self.owner == os.getpid():
            self._process.poll()
            self._process.returncode = self._process.returncode or 0  # no warning that it still runs: it may


class _Servers:
    """Keeps one server alive for this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def ask(self, fds: list[int]) -> None:
        with self._lock:
            if self._server is None or self._server.owner != os.getpid():
                self._renew()
            try:
                self._current().ask(fds)
            except OSError:  # somebody killed it: running trials do not depend on it, new ones need another
                self._renew()
                self._current().ask(fds)

    def _current(self) -> _Server:
        assert self._server is not None
        return self._server

    def _renew(self) -> None:
        if self._server is not None:
            atexit.unregister(self._server.close)
            self._server.close()
        self._server = _Server()
        atexit.register(self._server.close)


_servers = _Servers()


@dataclass(slots=True)
class Link:
    """Descriptors of one trial, all non-blocking."""

    control: socket.socket
    stdout: int
    stderr: int
    stdin: int | None
    spec: bytes
    """What to write to `control` first."""
    ended: bool = field(default=False, init=False)

    def end(self) -> None:
        """Ask the launcher to end the program and everything it started; what was not started yet never is."""
        if self.ended:
            return
        self.ended = True
        try:
            if self.spec:
                self.spec = b""
                self.control.shutdown(socket.SHUT_WR)
            else:
                self.control.send(b"e")
        except OSError:
            pass  # the launcher is gone already

    def close_streams(self) -> None:
        """Nothing more is read or written: a program blocked on a full pipe sees it broken."""
        for name in ("stdout", "stderr", "stdin"):
            fd = getattr(self, name)
            if fd is not None and fd >= 0:
                os.close(fd)
                setattr(self, name, -1)

    def close(self) -> None:
        """Close everything. A launcher that still runs takes it for the order to end."""
        self.close_streams()
        self.control.close()


def _site() -> str:
    """Where the launcher, which starts without site packages, finds psutil."""
    import psutil

    return str(Path(psutil.__file__).parent.parent)


def _encode(launch: Launch, grace: float, tree: bool) -> bytes:
    tree = tree or sys.platform != "linux"
    spec = marshal.dumps(
        {
            "argv": [os.fsencode(word) for word in launch.argv],
            "env": {os.fsencode(name): os.fsencode(value) for name, value in launch.env.items()},
            "cwd": os.fsencode(launch.cwd) if launch.cwd else None,
            "feed": launch.feed,
            "signal": int(signal.Signals[f"SIG{launch.end_signal}"]),
            "wrappers": launch.wrappers,
            "grace": float(grace),
            "harness": os.getpid(),
            "tree": tree,
            "site": _site() if tree else "",
        }
    )
    return len(spec).to_bytes(8, "big") + spec


def open_link(launch: Launch, grace: float, *, tree: bool = False) -> Link:
    """Ask for a launcher; the program starts once `Link.spec` has been written to `Link.control`.

    Args:
        launch: what to run.
        grace: seconds between the end signal and the kill.
        tree: use the polled process tree although the kernel has subreapers.
    """
    spec = _encode(launch, grace, tree)
    out, child_out = os.pipe()
    err, child_err = os.pipe()
    child_in, stdin = (os.open(os.devnull, os.O_RDONLY), None) if launch.stdin is None else os.pipe()
    ours, theirs = socket.socketpair()
    link = Link(ours, out, err, stdin, spec)
    try:
        if sys.platform == "linux":
            _widen(out)
        for fd in (out, err, *([stdin] if stdin is not None else [])):
            os.set_blocking(fd, False)
        ours.setblocking(False)
        _servers.ask([theirs.fileno(), child_in, child_out, child_err])
    except BaseException:
        link.close()
        raise
    finally:
        theirs.close()
        for fd in (child_in, child_out, child_err):
            os.close(fd)
    return link


def _widen(fd: int) -> None:
    """A wider pipe means fewer, larger reads; a user over his share of pipe memory keeps the usual one."""
    import fcntl

    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:
        pass
