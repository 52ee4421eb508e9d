"""Runs the faulty agent, and looks for what it left."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from skill_assay.agents.process import Exit, run
from skill_assay.model.place import Launch

FAULTY = Path(__file__).parent.parent / "faulty_agent.py"


def faulty(*words: str, cwd: Path | None = None, **more: Any) -> Launch:
    return Launch([sys.executable, "-I", "-S", str(FAULTY), *words], {"PATH": os.environ["PATH"]}, cwd, **more)


def go(
    launch: Launch, on_line: Callable[[bytes], str | None] | None = None, **options: Any
) -> tuple[Exit, list[bytes]]:
    """Run it to its end: the exit and all lines."""
    lines: list[bytes] = []

    def keep(line: bytes) -> str | None:
        lines.append(line)
        return on_line(line) if on_line else None

    async def main() -> Exit:
        return await run(launch, on_line=keep, **{"time_limit": 60.0, "grace": 0.2, **options})

    return anyio.run(main), lines


def alive(token: str) -> list[int]:
    """Every process with the token in its command line, zombies left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if token.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def gone(token: str, seconds: float = 20.0) -> bool:
    """Whether nothing with the token is alive, at the latest after so long."""
    limit = time.monotonic() + seconds
    while alive(token):
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def fresh_token() -> Iterator[str]:
    """Marks a test's strays, and ends them if the test fails."""
    text = f"tok{uuid.uuid4().hex[:12]}"
    yield text
    for pid in alive(text):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
