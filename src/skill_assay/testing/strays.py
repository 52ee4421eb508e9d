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
elif not kind:
    subprocess.Popen([*again, "daemon"], **quiet)
    subprocess.Popen([*again, "stubborn"], start_new_session=True, **quiet)
    subprocess.Popen([*again, "bare"], start_new_session=True, env={}, **quiet)
    time.sleep(0.3)
    open("strays-are-out", "w").close()
time.sleep(120)
"""
"""A daemon, one of its own session that ignores signals, one with an empty environment, and the command itself."""


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
        for pid in _alive(token):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def gone(token: str) -> int:
    """How many with the token are still alive once they have had time to go."""
    limit = time.monotonic() + _SECONDS
    while (left := _alive(token)) and time.monotonic() < limit:
        time.sleep(0.05)
    return len(left)


def _alive(token: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if token.encode() in (entry / "cmdline").read_bytes() and entry.name != str(os.getpid()):
                found.append(int(entry.name))
    return found
