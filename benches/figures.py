"""What the benches share: a figure with its goal, medians, and running a command with its memory watched."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ASSAY = [sys.executable, "-m", "skill_assay"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A median, and what it should be."""

    name: str
    value: float | None
    """`None` when it could not be measured here; `note` says why."""
    unit: str
    goal: float
    more_is_better: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.value is None:
            return None
        return self.value >= self.goal if self.more_is_better else self.value <= self.goal


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run."""

    seconds: float
    cpu_seconds: float
    """Of the command and all it waited for; steadier than `seconds` on a busy machine."""
    peak_mb: float
    """Peak resident memory of the command's own process, in MB (10⁶ bytes)."""


def median(measure: Callable[[], float], times: int) -> float:
    """The median of `times` measurements, after one that is thrown away."""
    measure()
    return statistics.median(measure() for _ in range(times))


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run(argv: Sequence[str], *, ok: Sequence[int] = (0,)) -> Ran:
    """Run a command to its end, without a word; a wrong exit code is an error with its last lines."""
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ok:
        raise RuntimeError(f"exit {process.returncode}: {' '.join(argv)}\n{said.decode('utf-8', 'replace')[-2000:]}")
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = time.perf_counter() - began
    return Ran(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)
