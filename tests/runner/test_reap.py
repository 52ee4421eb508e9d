"""What a killed run left is ended, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skill_assay.agents.launcher import start_time
from skill_assay.agents.process import Identity
from skill_assay.runner.reap import reap
from tests.agents.stray_tools import FAULTY, alive, fresh_token, gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not here: start times are read from /proc")


@pytest.fixture
def token() -> Iterator[str]:
    with fresh_token() as text:
        yield text


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's own, in a session of its own."""
    with subprocess.Popen(["/bin/sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


HARNESS = """
import anyio, sys
from pathlib import Path
from skill_assay.agents.process import run
from skill_assay.model.place import Launch
def start(identity):
    print(identity.pid, identity.started, identity.pgid, identity.program_started, flush=True)
async def main():
    launch = Launch([sys.executable, "-I", "-S", {program!r}, "strays", {token!r}], cwd=Path({cwd!r}))
    await run(launch, on_line=lambda line: print("up", flush=True), on_start=start, time_limit=60, grace=0.2)
anyio.run(main)
"""


def start(token: str, cwd: Path) -> tuple[subprocess.Popen[bytes], Identity]:
    code = HARNESS.format(program=str(FAULTY), token=token, cwd=str(cwd))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout
    pid, started, pgid, program_started = process.stdout.readline().split()
    assert process.stdout.readline() == b"up\n"
    return process, Identity(int(pid), float(started), int(pgid), float(program_started))


def finish(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def test_fault_09_a_launcher_that_still_runs_ends_its_trial(token: str, tmp_path: Path) -> None:
    process, identity = start(token, tmp_path)
    assert reap([identity]) == [identity.pid]
    assert gone(token)
    finish(process)


def test_fault_09_a_program_without_launcher_is_ended(sleeper: subprocess.Popen[bytes]) -> None:
    left = Identity(1 << 22, 0.0, sleeper.pid, start_time(sleeper.pid))
    assert reap([left]) == [sleeper.pid]
    assert sleeper.wait(10) == -signal.SIGKILL


def test_a_stopped_launcher_is_woken(token: str, tmp_path: Path) -> None:
    process, identity = start(token, tmp_path)
    os.kill(identity.pid, signal.SIGSTOP)
    assert identity.pid in reap([identity])
    assert gone(token)
    finish(process)


def test_a_pid_given_out_again_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    """The same number, another start."""
    started = start_time(sleeper.pid)
    assert started
    other = Identity(sleeper.pid, started - 60, sleeper.pid, started - 60)
    assert reap([other, replace(other, started=None, program_started=None)]) == []
    time.sleep(0.05)
    assert sleeper.poll() is None


def test_what_is_gone_needs_nothing(token: str, tmp_path: Path) -> None:
    process, identity = start(token, tmp_path)
    finish(process)
    assert gone(token)
    while start_time(identity.pid) == identity.started:
        time.sleep(0.01)
    assert reap([identity]) == []
    assert not alive(token)
