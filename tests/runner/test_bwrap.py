"""The wall, tried from inside by a scripted agent: what it must not reach it does not reach."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.agents.process import Exit, run
from skill_assay.model.place import Launch, Place
from skill_assay.runner.bwrap import BwrapSandbox, bwrap_available
from skill_assay.runner.sandbox import make_place, remove_place
from tests.agents.stray_tools import alive

pytestmark = pytest.mark.skipif(not bwrap_available()[0], reason=f"no bubblewrap: {bwrap_available()[1]}")
ROOT = Path(__file__).parent.parent.parent
CLAUDE = ROOT / "tests/clients/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def place() -> Iterator[Place]:
    made = make_place()
    yield made
    assert remove_place(made)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder of the user's, elsewhere on the disk."""
    folder = ROOT / f".outside-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    (folder / "secret.txt").write_text("the user's own")
    yield folder
    shutil.rmtree(folder)


def go(
    launch: Launch, place: Place, on_line: Callable[[bytes], str | None] | None = None, **options: Any
) -> tuple[Exit, list[str]]:
    sandbox = BwrapSandbox(options.pop("readable", ()))
    lines: list[str] = []

    def keep(line: bytes) -> str | None:
        lines.append(line.decode("utf-8", "replace"))
        return on_line(line) if on_line else None

    async def main() -> Exit:
        wrapped = sandbox.wrap(launch, place)
        return await run(wrapped, on_line=keep, **{"time_limit": 30.0, "grace": 0.3, **options})

    return anyio.run(main), lines


def sh(script: str, place: Place, **options: Any) -> tuple[Exit, list[str]]:
    env = {"PATH": PATH, "HOME": "/trial/home", "TMPDIR": "/tmp", **options.pop("env", {})}
    return go(Launch(["/bin/sh", "-c", script], env, place.work), place, **options)


def test_its_own_folders_can_be_written_and_are_ours_afterwards(place: Place) -> None:
    end, lines = sh(
        "pwd; echo made > file; mkdir $HOME/sub; echo x > /trial/config/c; echo y > $TMPDIR/t; cat $TMPDIR/t", place
    )
    assert (end.exit_code, lines, end.stderr) == (0, ["/trial/work", "y"], "")
    assert (place.work / "file").read_text() == "made\n"
    assert (place.home / "sub").is_dir()
    assert (place.config / "c").exists()
    assert (place.work / "file").stat().st_uid == os.getuid()


@pytest.mark.parametrize("target", ["/usr/x", "/etc/x", "/x", "/trial/x", "/usr/bin/ls", "/trial/../y"])
def test_fault_10_a_write_outside_fails(place: Place, target: str) -> None:
    _, lines = sh(f"(echo bad > {target}) 2>&1 || echo refused", place)
    assert lines[-1] == "refused"
    assert "Read-only file system" in lines[0]


def test_fault_10_the_users_files_are_not_there(place: Place, outside: Path) -> None:
    end, lines = sh(
        f"cat {outside}/secret.txt; ls {Path.home()} {outside} /home /root; echo bad > {outside}/new", place
    )
    assert lines == []
    assert "No such file" in end.stderr
    assert "secret" not in "".join(lines)
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]


def test_fault_04_other_trials_are_invisible(place: Place) -> None:
    other = make_place()
    try:
        (other.work / "answer.txt").write_text("42")
        _, lines = sh(f"ls -a {other.root} {other.root.parent} /tmp /trial; ls /proc | grep -c '^[0-9]'", place)
        text = "\n".join(lines)
        assert other.root.name not in text and place.root.name not in text
        assert "answer" not in text
        assert int(lines[-1]) < 8
    finally:
        remove_place(other)


def test_fault_30_the_environment_is_the_launchs_only(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hidden-value")
    _, lines = sh(
        "tr '\\0' '\\n' < /proc/1/environ; echo; tr '\\0' ' ' < /proc/1/cmdline; echo; env", place, env={"KEY": "sk-x"}
    )
    assert "hidden-value" not in "\n".join(lines)
    assert "KEY=sk-x" in lines[2:], "the agent itself has its key"
    assert "sk-x" not in "\n".join(lines[:2]), "and process 1 does not show it"


def test_fault_30_no_process_list_shows_the_environment(place: Place) -> None:
    shown: list[bytes] = []

    def look(line: bytes) -> str:
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and entry.name != str(os.getpid()):
                try:
                    shown.append((entry / "cmdline").read_bytes())
                except OSError:
                    pass
        return "seen"

    sh("echo ready; sleep 30", place, on_line=look, env={"KEY": "sk-very-secret"})
    assert any(b"--args" in line for line in shown)
    assert not any(b"sk-very-secret" in line for line in shown)


def test_no_capability_is_left_to_undo_the_wall(place: Place) -> None:
    tries = "mount -o remount,rw / || echo refused; mount -t tmpfs x /mnt || echo refused"
    _, lines = sh(f"({tries}) 2>&1; grep CapEff /proc/self/status", place)
    assert lines.count("refused") == 2
    assert lines[-1].split()[1] == "0" * 16


def test_loopback_can_be_reached(place: Place) -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.handle_request, daemon=True).start()
    code = f"import socket; s = socket.create_connection(('127.0.0.1', {server.server_port}), 5); print('connected')"
    _, lines = go(Launch([sys.executable, "-I", "-c", code], {"PATH": PATH}, place.work), place)
    server.server_close()
    assert lines == ["connected"]


def test_status_and_signals_come_through(place: Place) -> None:
    assert sh("exit 7", place)[0].exit_code == 7
    assert sh("kill -9 $$", place)[0].exit_code == 128 + signal.SIGKILL


def test_the_end_signal_reaches_the_agent_itself(place: Place) -> None:
    """Bubblewrap would die of it and take the agent along without its last words."""
    script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
    end, lines = sh(script, place, on_line=lambda line: "enough", grace=10.0)
    assert (lines, end.exit_code) == (["ready", "bye"], 3)
    assert end.wall_seconds < 5


@pytest.mark.parametrize("then", ["hang", "exit"])
def test_fault_09_strays_go_with_the_namespace(place: Place, then: str) -> None:
    token = f"tok{uuid.uuid4().hex[:10]}"
    program = ROOT / "tests/faulty_agent.py"
    launch = Launch([sys.executable, "-I", "-S", str(program), "strays", token, then], {"PATH": PATH}, place.work)
    end, lines = go(launch, place, lambda line: "x" if then == "hang" else None, readable=[program])
    assert lines == ["ready"], end.stderr
    assert not alive(token)


@pytest.mark.slow
def test_fault_09_ended_at_any_moment_of_its_start(place: Place) -> None:
    token = f"tok{uuid.uuid4().hex[:10]}"
    for number in range(60):
        end, _ = sh(f"sleep 300; echo {token}", place, time_limit=0.001 * number, grace=0.0)
        assert not alive(token), number
        assert end.timed_out


def test_a_program_of_the_place_itself(place: Place) -> None:
    tool = place.work / "tool.sh"
    tool.write_text("#!/bin/sh\necho $0 $1\n")
    tool.chmod(0o755)
    end, lines = go(Launch([str(tool), "{feed}"], {"PATH": PATH}, place.work), place)
    assert lines == ["/trial/work/tool.sh {feed}"], end.stderr


def test_a_python_of_a_virtual_environment_runs_with_its_packages(place: Place) -> None:
    code = "import psutil, ssl; print(len(psutil.pids()) < 9)"
    end, lines = go(Launch([sys.executable, "-I", "-c", code], {"PATH": PATH}, place.work), place)
    assert lines == ["True"], end.stderr


def test_further_files_can_be_shown_read_only(place: Place, outside: Path) -> None:
    end, lines = sh(f"cat {outside}/secret.txt; echo; echo x > {outside}/secret.txt", place, readable=[outside])
    assert lines == ["the user's own"]
    assert "Read-only" in end.stderr


def test_what_a_launch_reads_beside_itself_is_shown(place: Place, outside: Path) -> None:
    launch = Launch(["sh", "-c", f"cat {outside}/secret.txt"], {"PATH": PATH}, place.work, readable=(outside,))
    end, lines = go(launch, place)
    assert lines == ["the user's own"], end.stderr


def test_names_are_known_inside(place: Place) -> None:
    _, lines = sh("id -un; getent hosts localhost | head -1", place)
    assert lines[0] == "trial"
    assert "localhost" in lines[1]


def test_two_at_once(place: Place) -> None:
    other = make_place()
    results: list[tuple[str, list[bytes]]] = []

    async def one(mine: Place, word: str) -> None:
        lines: list[bytes] = []
        launch = Launch(["/bin/sh", "-c", f"echo {word} > f; sleep 0.1; cat f"], {"PATH": PATH}, mine.work)
        await run(BwrapSandbox().wrap(launch, mine), on_line=lambda line: lines.append(line), time_limit=30)
        results.append((word, lines))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(one, place, "a")
            group.start_soon(one, other, "b")

    anyio.run(main)
    remove_place(other)
    assert sorted(results) == [("a", [b"a"]), ("b", [b"b"])]


@pytest.mark.client
@pytest.mark.skipif(not CLAUDE.exists(), reason="the real client is not installed: make clients")
def test_the_real_client_starts_inside(place: Place) -> None:
    launch = Launch([str(CLAUDE), "--version"], {"PATH": PATH, "HOME": "/trial/home"}, place.work)
    end, lines = go(launch, place)
    assert end.exit_code == 0, end.stderr
    assert "Claude Code" in lines[0]
