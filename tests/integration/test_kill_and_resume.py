"""Faults 8 and 9: a run that is killed at any moment goes on to the same benchmark, and leaves nothing running."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from skill_assay.workspace.journal import replay

EXAMPLE = Path(__file__).parents[2] / "examples" / "expense-report"
KILLS = 6


def assay(workspace: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "skill_assay", "run", str(EXAMPLE), "--agent", "simulated", "--trials", "2"]
    env = {**os.environ, "NO_COLOR": "1"}
    return subprocess.Popen(
        [*command, "--workspace", str(workspace), "--no-progress", *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
    )


def finish(workspace: Path, *more: str) -> None:
    process = assay(workspace, *more)
    _, said = process.communicate(timeout=240)
    assert process.returncode in (0, 3), said.decode()


def essence(workspace: Path) -> dict[str, Any]:
    """The benchmark without wall times and the moments it was made at."""
    record = json.loads((workspace / "iteration-1" / "benchmark.json").read_text(encoding="utf-8"))

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            drop = ("timestamp", "provenance", "created_at")
            return {key: strip(item) for key, item in value.items() if key not in drop}
        return [strip(item) for item in value] if isinstance(value, list) else value

    stripped = strip(record)
    assert isinstance(stripped, dict)
    return stripped


def launches(workspace: Path) -> dict[tuple[str, int], int]:
    """How often each attempt ended in the journal: a finished one is never launched again."""
    ended: dict[tuple[str, int], int] = {}
    for line in (workspace / "iteration-1" / "journal.jsonl").read_bytes().splitlines():
        try:
            facts = json.loads(line)
        except ValueError:
            continue
        if facts["what"] == "attempt_ended":
            key = facts["trial"], facts["attempt"]
            ended[key] = ended.get(key, 0) + 1
    return ended


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_as_the_undisturbed_run(tmp_path: Path) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    finish(undisturbed)
    rng = random.Random(7)
    killed_running = 0
    for _ in range(KILLS):
        process = assay(killed, *(["--resume"] if (killed / "iteration-1" / "plan.json").exists() else []))
        if not _dies_after(process, killed, more_lines=rng.randrange(30)):
            break
        killed_running += 1
    if replay(killed / "iteration-1" / "journal.jsonl").cut_off:
        finish(killed, "--resume")
    else:
        # Killed after its last trial: only the numbers were still to be derived.
        subprocess.run([sys.executable, "-m", "skill_assay", "benchmark", str(killed)], check=True, capture_output=True)
    assert killed_running > 2, "it was done before it could be killed often enough"
    assert essence(killed) == essence(undisturbed)
    assert max(launches(killed).values()) == 1
    assert set(launches(killed)) >= set(launches(undisturbed))
    _nothing_runs()


def _dies_after(process: subprocess.Popen[bytes], workspace: Path, more_lines: int) -> bool:
    """Kill it once its journal has grown by so many lines; whether it still ran then."""
    begun = _lines(workspace)
    while process.poll() is None and _lines(workspace) < begun + more_lines + 1:
        time.sleep(0.005)
    running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return running


def _lines(workspace: Path) -> int:
    journal = workspace / "iteration-1" / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def _nothing_runs() -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        left = [p for p in psutil.process_iter(["cmdline"]) if "simulated_program" in " ".join(p.info["cmdline"] or [])]
        if not left:
            return
        time.sleep(0.2)
    raise AssertionError(f"still running: {left}")
