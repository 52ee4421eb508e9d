"""What the benches share: a figure with its goal, medians, and running a command with its memory watched."""

from __future__ import annotations

import json
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


_WATCHER = """
import json, os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=2, stderr=2)
_, status, used = os.wait4(process.pid, 0)
spent = [time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss]
print(json.dumps([os.waitstatus_to_exitcode(status), *spent]))
"""
"""A new process counts its parent's memory as its own until it is the command, so the parent must be a small one."""


def run(argv: Sequence[str], *, ok: Sequence[int] = (0,)) -> Ran:
    """Run a command to its end, without a word; a wrong exit code is an error with its last lines."""
    watcher = [sys.executable, "-I", "-S", "-c", _WATCHER, *argv]
    done = subprocess.run(watcher, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    code, seconds, cpu, peak = json.loads(done.stdout)
    if code not in ok:
        raise RuntimeError(f"exit {code}: {' '.join(argv)}\n{done.stderr.decode('utf-8', 'replace')[-2000:]}")
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Ran(seconds, cpu, peak * unit / 1e6)
