"""Nothing an agent starts outlives it, however it is ended: real strays of every kind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from skill_assay.agents.process import Identity, run
from skill_assay.model.place import Launch
from tests.agents.stray_tools import FAULTY, alive, faulty, fresh_token, go, gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not here: the strays are looked for in /proc")


@pytest.fixture
def token() -> Iterator[str]:
    with fresh_token() as text:
        yield text


@pytest.mark.parametrize("then", ["hang", "exit"])
@pytest.mark.parametrize(
    ("kind", "tree"),
    # The polled tree of other systems promises no more than this.
    [("session", False), ("daemon", False), ("naked", False), ("refork", False), ("session", True)],
)
def test_fault_09_no_stray_survives(kind: str, then: str, tree: bool, token: str, tmp_path: Path) -> None:
    """Strays with sessions, parents and environments of their own, when their agent exits and when it is ended."""
    launch = faulty("strays", token, then, kind, cwd=tmp_path)
    end, lines = go(launch, lambda line: "x" if then == "hang" else None, tree=tree)
    assert lines == [b"ready"]
    assert end.exit_code == (0 if then == "exit" else -signal.SIGTERM)
    assert not alive(token)
    assert end.left_behind == 0


@pytest.mark.slow
def test_fault_09_all_kinds_at_once_at_the_time_limit(token: str, tmp_path: Path) -> None:
    end, _ = go(faulty("strays", token, cwd=tmp_path), time_limit=3.0)
    assert end.timed_out
    assert not alive(token)


def test_fault_09_strays_born_while_their_agent_exits(token: str, tmp_path: Path) -> None:
    for _ in range(10):
        go(faulty("strays", token, "exit-quickly", cwd=tmp_path))
        assert not alive(token)


def test_fault_09_parallel_trials_end_only_their_own(tmp_path: Path, token: str) -> None:
    ends: dict[int, tuple[bytes | None, bool]] = {}

    async def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        last: list[bytes] = []

        def hear(line: bytes) -> str | None:
            last.append(line)
            return "enough" if number % 2 else None

        mine = f"{token}n{number}n"
        launch = faulty("strays", mine, "hang" if number % 2 else "exit", "daemon", "session", cwd=folder)
        end = await run(launch, on_line=hear, time_limit=60, grace=0.2)
        ends[number] = (last[0] if last else None, bool(end.ended_early))
        assert not alive(mine)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(one, number)

    anyio.run(main)
    assert ends == {number: (b"ready", bool(number % 2)) for number in range(6)}


def test_cancelling_ends_everything(token: str, tmp_path: Path) -> None:
    """What Ctrl-C does: the task is cancelled from outside."""

    async def main() -> bool:
        started = anyio.Event()

        def hear(line: bytes) -> None:
            started.set()

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: run(faulty("strays", token, cwd=tmp_path), on_line=hear, time_limit=60, grace=0.2))
            await started.wait()
            group.cancel_scope.cancel()
        return not alive(token)

    assert anyio.run(main)


HARNESS = """
import anyio, sys
from pathlib import Path
from skill_assay.agents.process import run
from skill_assay.model.place import Launch
from tests.agents.stray_tools import FAULTY, alive, faulty, fresh_token, go, gone
def hear(line):
    print("up", flush=True)
async def main():
    launch = Launch([sys.executable, "-I", "-S", {program!r}, "strays", {token!r}], cwd=Path({cwd!r}))
    await run(launch, on_line=hear, time_limit=60, grace=0.2)
anyio.run(main)
"""


def harness(token: str, cwd: Path) -> subprocess.Popen[bytes]:
    code = HARNESS.format(program=str(FAULTY), token=token, cwd=str(cwd))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_fault_09_nothing_survives_the_harness(number: int, token: str, tmp_path: Path) -> None:
    with harness(token, tmp_path) as process:
        assert process.stdout and process.stdout.readline() == b"up\n"
        assert alive(token)
        process.send_signal(number)
        process.communicate(timeout=60)
    assert gone(token)


@pytest.mark.slow
def test_fault_09_a_harness_killed_while_it_starts(token: str, tmp_path: Path) -> None:
    for number in range(25):
        with harness(f"{token}n{number}n", tmp_path) as process:
            time.sleep(0.25 + 0.01 * number)
            process.kill()
            process.communicate(timeout=60)
    time.sleep(0.5)
    assert gone(token)


def test_a_killed_launcher_leaves_nothing_either(token: str, tmp_path: Path) -> None:
    """Its strays fall to the server, and the trial ends with an unknown status."""
    seen: list[Identity] = []

    def kill(line: bytes) -> None:
        os.kill(seen[0].pid, signal.SIGKILL)

    end, _ = go(faulty("strays", token, cwd=tmp_path), kill, on_start=seen.append)
    assert (end.exit_code, end.timed_out) == (None, False)
    assert gone(token)


@pytest.mark.slow
def test_a_stopped_launcher_does_not_hang_us(token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skill_assay.agents.process.SWEEP_SECONDS", -4.0)
    seen: list[Identity] = []

    def stop(line: bytes) -> str:
        os.kill(seen[0].pid, signal.SIGSTOP)
        return "enough"

    end, _ = go(faulty("strays", token, "hang", "session", cwd=tmp_path), stop, on_start=seen.append)
    assert end.ended_early == "enough"
    assert gone(token)


def test_the_server_is_renewed_when_somebody_kills_it() -> None:
    from skill_assay.agents import launcher_link

    go(Launch(["/bin/true"]))
    server = launcher_link._servers._current()
    server._process.kill()
    server._process.wait()
    assert go(Launch(["/bin/true"]))[0].exit_code == 0


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.slow
def test_500_runs_leak_no_descriptor_no_zombie_and_no_memory() -> None:
    from skill_assay.agents import launcher_link

    async def main() -> None:
        async def one() -> None:
            await run(Launch(["/bin/echo", "x"]), on_line=lambda line: None, time_limit=60)

        async def batch(count: int) -> None:
            for _ in range(count // 5):
                async with anyio.create_task_group() as group:
                    for _ in range(5):
                        group.start_soon(one)

        await batch(50)
        server = launcher_link._servers._current()._process.pid
        before = (descriptors(), resident(os.getpid()), resident(server))
        await batch(500)
        await anyio.sleep(0.2)
        assert descriptors() == before[0]
        assert resident(os.getpid()) - before[1] < 4_000
        assert resident(server) - before[2] < 1_000
        assert len(list(Path(f"/proc/{server}/fd").iterdir())) < 12
        assert children_of(server) == []
        assert children_of(os.getpid()).count(str(server)) == 1

    anyio.run(main)


def resident(pid: int) -> int:
    """Kilobytes."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))
