"""Processes that are hard to end, started by an agent's shell command: after the agent none may be left."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["SCRIPT", "fresh_token", "gone", "stray_command"]

_SECONDS = 20.0
_LOOKS = 20
"""In a row that must find none: a process that forks without pause can be missed by one."""

SCRIPT = """\
import os, signal, subprocess, sys, time
token, kind = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
again = [sys.executable, os.path.abspath(__file__), token]
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
if kind == "daemon":
    if os.fork():
        os._exit(0)
    os.setsid()
elif kind == "stubborn":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
elif kind == "restless":
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if os.fork():
            os._exit(0)
    os._exit(0)
elif not kind:
    subprocess.Popen([*again, "daemon"], **quiet)
    subprocess.Popen([*again, "stubborn"], start_new_session=True, **quiet)
    subprocess.Popen([*again, "bare"], start_new_session=True, env={}, **quiet)
    subprocess.Popen([*again, "restless"], start_new_session=True, **quiet)
    time.sleep(0.3)
    open("strays-are-out", "w").close()
time.sleep(120)
"""
"""A daemon, one of its own session that ignores signals, one with an empty environment, one that forks without pause
(a new process each time, for two minutes at most), and the command itself."""


def stray_command(token: str) -> str:
    """The shell command that starts them and goes on running."""
    return f"{shlex.quote(sys.executable)} strays.py {token}"


@contextmanager
def fresh_token() -> Iterator[str]:
    """Marks the strays of one case, and ends them at last."""
    token = f"tok{uuid.uuid4().hex[:12]}"
    try:
        yield token
    finally:
        limit = time.monotonic() + 1.0
        while (left := _alive(token)) and time.monotonic() < limit:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def gone(token: str) -> int:
    """How many with the token are still alive once they have had time to go."""
    limit, clean, left = time.monotonic() + _SECONDS, 0, list[int]()
    while clean < _LOOKS and time.monotonic() < limit:
        left = _alive(token)
        clean = 0 if left else clean + 1
        time.sleep(0.05 if left else 0)
    return 0 if clean == _LOOKS else max(1, len(left))


def _alive(token: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if token.encode() in (entry / "cmdline").read_bytes() and entry.name != str(os.getpid()):
                found.append(int(entry.name))
    return found
