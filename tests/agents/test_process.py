"""Whatever an agent does, we hear what it said, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.agents.launcher import start_time
from skill_assay.agents.process import Exit, Identity, run
from skill_assay.model.place import Launch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the strays are looked for in /proc")
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


@pytest.fixture
def token() -> Iterator[str]:
    """Marks a test's strays, and ends them if the test fails."""
    text = f"tok{uuid.uuid4().hex[:12]}"
    yield text
    for pid in alive(text):
        os.kill(pid, signal.SIGKILL)


def test_an_ordinary_end() -> None:
    seen: list[Identity] = []
    end, lines = go(Launch(["/bin/sh", "-c", "echo one; echo two; echo oops >&2; exit 3"]), on_start=seen.append)
    assert (end.exit_code, lines, end.stderr, end.timed_out, end.ended_early) == (
        3,
        [b"one", b"two"],
        "oops\n",
        False,
        None,
    )
    assert seen == [end.identity]
    assert 0 < (end.first_line_seconds or 0) <= end.wall_seconds


def test_the_identity_names_the_launcher_and_the_programs_group() -> None:
    checked: list[bool] = []

    def look(identity: Identity) -> None:
        group = os.getpgid(identity.pgid)
        checked.append(group == identity.pgid != os.getpgid(0))
        checked.append(start_time(identity.pid) == identity.started is not None)
        checked.append(start_time(identity.pgid) == identity.program_started is not None)

    go(faulty("hang"), lambda line: "seen", on_start=look)
    assert checked == [True, True, True]


def test_the_program_is_born_clean() -> None:
    _, lines = go(faulty("descriptors"))
    # The fourth is the folder being listed. Python ignores SIGPIPE (13) and SIGXFSZ (25) of its own accord.
    ignored = int(lines[1], 16) & 0x7FFF_FFFF
    assert (lines[0], ignored, lines[2]) == (b"0,1,2,3", 1 << 12 | 1 << 24, b"True True")


def test_its_environment_is_the_launchs_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hidden")
    _, lines = go(Launch(["/usr/bin/env"], {"ONE": "1", "BYTES": "\udcff"}))
    assert sorted(lines) == [b"BYTES=\xff", b"ONE=1"]


@pytest.mark.parametrize("argv", [["no-such-program"], ["/no/such/program"], ["/etc/passwd"]])
def test_what_cannot_be_launched_says_why(argv: list[str]) -> None:
    end, lines = go(Launch(argv, {"PATH": "/usr/bin"}))
    assert end.launch_error and argv[0] in end.launch_error
    assert (end.exit_code, end.identity, lines) == (None, None, [])


def test_a_missing_working_directory_is_a_launch_error() -> None:
    end, _ = go(Launch(["/bin/true"], cwd=Path("/no/such/folder")))
    assert end.launch_error and "/no/such/folder" in end.launch_error


def test_the_time_limit_ends_it() -> None:
    end, lines = go(faulty("hang"), time_limit=0.5)
    assert (end.timed_out, end.exit_code, lines) == (True, -signal.SIGTERM, [b"ready"])


def test_the_end_signal_is_the_launchs() -> None:
    end, _ = go(Launch(["/bin/sleep", "60"], end_signal="INT"), time_limit=0.2)
    assert (end.timed_out, end.exit_code) == (True, -signal.SIGINT)


def test_one_that_ignores_the_end_signal_is_killed_after_the_grace() -> None:
    end, _ = go(faulty("stubborn"), lambda line: "enough", grace=0.3)
    assert (end.ended_early, end.timed_out, end.exit_code) == ("enough", False, -signal.SIGKILL)
    assert end.wall_seconds >= 0.3


def test_a_text_from_on_line_ends_it_and_its_last_words_are_heard() -> None:
    end, lines = go(faulty("polite"), lambda line: f"saw {line.decode()}", grace=20)
    assert (end.ended_early, end.exit_code, lines) == ("saw ready", 7, [b"ready", b"bye"])


def test_what_on_line_raises_comes_out_and_the_program_is_ended(token: str, tmp_path: Path) -> None:
    def broken(line: bytes) -> str | None:
        raise ValueError(line)

    with pytest.raises(ValueError, match="ready"):
        go(faulty("strays", token, "hang", "daemon", cwd=tmp_path), broken)
    assert not alive(token)


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


def test_a_stopped_launcher_does_not_hang_us(token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skill_assay.agents.process.SWEEP_SECONDS", -4.0)
    seen: list[Identity] = []

    def stop(line: bytes) -> str:
        os.kill(seen[0].pid, signal.SIGSTOP)
        return "enough"

    end, _ = go(faulty("strays", token, "hang", "session", cwd=tmp_path), stop, on_start=seen.append)
    assert end.ended_early == "enough"
    assert gone(token)


def test_a_flood_is_read_as_it_comes() -> None:
    count = 0

    def tally(line: bytes) -> None:
        nonlocal count
        count += 1

    async def main() -> Exit:
        return await run(faulty("flood", "30000000"), on_line=tally, time_limit=60, stderr_limit=1000)

    end = anyio.run(main)
    assert end.exit_code == 0
    assert (count, end.stdout_bytes) == (30_000_000 // 36_000 * 1000 + 1, 30_000_000 // 36_000 * 36_000 + 5)
    assert len(end.stderr) == 1000 < end.stderr_bytes


def test_a_slow_reader_holds_the_program_back() -> None:
    """Back-pressure: the output waits in the pipe, not in our memory."""
    end, lines = go(
        faulty("flood", "3000000"),
        lambda line: time.sleep(0.05) if len(lines_seen) < 3 and not lines_seen.append(1) else None,
    )
    assert (end.exit_code, lines[-1]) == (0, b"done")


lines_seen: list[int] = []


def test_half_lines_are_joined() -> None:
    _, lines = go(faulty("half"))
    assert lines == ["début".encode(), b"second half", b"last without end"]


def test_a_line_of_50_mb_comes_whole() -> None:
    end, lines = go(faulty("long", "50000000"))
    assert (list(map(len, lines)), end.overlong_lines) == ([6, 50_000_000, 5], 0)


def test_a_line_over_the_limit_is_cut_and_reported() -> None:
    end, lines = go(faulty("long", "50000"), max_line=1000)
    assert (list(map(len, lines)), end.overlong_lines) == ([6, 1000, 5], 1)


def test_invalid_utf8_harms_nothing() -> None:
    end, lines = go(faulty("invalid"))
    assert lines == [b'{"text": "\xff\xfe\xc3"}', b"fine"]
    assert end.stderr == "\ufffd( oops\n"


def test_an_error_with_status_0_keeps_its_error() -> None:
    end, lines = go(faulty("error0"))
    assert (end.exit_code, lines, end.stderr) == (0, [], "Error: 401 Unauthorized\n")


def test_one_that_dies_in_the_middle_of_a_line() -> None:
    end, lines = go(faulty("midwrite"))
    assert (end.exit_code, lines) == (-signal.SIGKILL, [b'{"type": "text"}', b'{"type": "tex'])


def test_one_that_fills_the_disk(tmp_path: Path) -> None:
    end, _ = go(faulty("fill", str(tmp_path / "big"), "1000000"))
    assert end.exit_code == 1
    assert "File too large" in end.stderr


def test_standard_input_is_handed_over() -> None:
    _, lines = go(faulty("echo", stdin=b"ab" * 1_000_000))
    assert lines == [b"2000000 b'abababababababababab'"]


def test_standard_input_is_closed_otherwise() -> None:
    assert go(faulty("echo"))[1] == [b"0 b''"]


def test_one_that_reads_no_standard_input_is_not_waited_for() -> None:
    end, _ = go(Launch(["/bin/true"], stdin=b"x" * 10_000_000))
    assert end.exit_code == 0


def test_the_feed_is_read_from_a_descriptor_and_seen_nowhere() -> None:
    launch = Launch(
        ["/bin/sh", "-c", "cat /dev/fd/{feed}; tr '\\0' ' ' < /proc/$$/cmdline"],
        {"PATH": "/usr/bin:/bin"},
        feed=b"hidden\n",
    )
    _, lines = go(launch)
    assert lines[0] == b"hidden"
    assert b"hidden" not in b"".join(lines[1:])


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
