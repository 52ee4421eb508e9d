"""The skill's own code: in a copy, behind the wall, without credentials, bounded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.errors import InputError
from skill_assay.model.protocols import CodeRunner, Sandbox
from skill_assay.model.work import CodeResult
from skill_assay.runner import code
from skill_assay.runner.bwrap import BwrapSandbox, bwrap_available
from skill_assay.runner.code import SandboxedCode
from skill_assay.runner.sandbox import NoSandbox
from tests.agents.stray_tools import alive, fresh_token

WALLS = [
    pytest.param(NoSandbox, id="none"),
    pytest.param(
        BwrapSandbox,
        id="bwrap",
        marks=pytest.mark.skipif(not bwrap_available()[0], reason=f"no bubblewrap: {bwrap_available()[1]}"),
    ),
]
both_walls = pytest.mark.parametrize("wall", WALLS)


def go(command: str | Sequence[str], wall: Any = NoSandbox, **options: Any) -> CodeResult:
    env = options.pop("env", {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "sk-hidden"})
    sandbox: Sandbox = wall()
    runner: CodeRunner = SandboxedCode(sandbox, env)

    async def main() -> CodeResult:
        return await runner.run(command, **{"files": None, "extra": {}, "timeout": 30.0, **options})

    return anyio.run(main)


@both_walls
def test_it_works_on_a_copy(wall: Any, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "in.txt").write_text("data")
    result = go("cat sub/in.txt extra/e; echo changed > sub/in.txt", wall, files=tmp_path, extra={"extra/e": b" more"})
    assert result == CodeResult(0, "data more", "")
    assert (tmp_path / "sub" / "in.txt").read_text() == "data"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sub"]


@both_walls
def test_fault_30_it_sees_no_credential(wall: Any) -> None:
    result = go(["/usr/bin/env"], wall)
    assert "hidden" not in result.stdout
    assert {line.split("=")[0] for line in result.stdout.splitlines()} <= {"PATH", "HOME", "TMPDIR", "PWD"}


@both_walls
def test_status_and_both_streams(wall: Any) -> None:
    assert go("echo out; echo err >&2; exit 4", wall) == CodeResult(4, "out", "err\n")


@both_walls
def test_our_own_python_runs(wall: Any) -> None:
    assert go([sys.executable, "-I", "-c", "import jsonschema; print('ok')"], wall).stdout == "ok"


@pytest.mark.slow
@both_walls
def test_fault_09_the_time_limit_leaves_nothing(wall: Any) -> None:
    with fresh_token() as token:
        result = go(f"(setsid sleep 300; echo {token}) & echo started; wait", wall, timeout=1.0)
        assert not alive(token)
    assert (result.exit_code, result.timed_out, result.stdout) == (None, True, "started")


def test_what_cannot_be_started_says_so() -> None:
    result = go(["/no/such/program"])
    assert result.exit_code == 127
    assert "/no/such/program" in result.stderr


def test_output_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "OUTPUT_BYTES", 1000)
    result = go("i=0; while [ $i -lt 500 ]; do echo line $i; echo err $i >&2; i=$((i+1)); done")
    assert (len(result.stdout), len(result.stderr)) == (1000, 1000)
    assert result.stdout.startswith("line 0\n") and result.stderr.endswith("err 499\n")


def test_one_endless_line_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "OUTPUT_BYTES", 1000)
    assert go("head -c 3000000 /dev/zero | tr '\\0' x").stdout == "x" * 1000


def test_strange_files_do_no_harm(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "outside").symlink_to("/etc/passwd")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "ok").write_text("ok")
    result = go("ls; cat ok", files=tmp_path)
    assert result.stdout.split() == ["dangling", "loop", "ok", "outside", "ok"]


def test_an_absent_folder_is_an_empty_one(tmp_path: Path) -> None:
    assert go("ls -A | grep -v '^.git$'", files=tmp_path / "outputs").stdout == ""


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", ""])
def test_extra_files_stay_inside(name: str) -> None:
    with pytest.raises(InputError):
        go("true", extra={name: b""})


def test_an_extra_file_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (tmp_path / "victim").write_text("untouched")
    (files / "check.py").symlink_to(tmp_path / "victim")
    (files / "sub").symlink_to(tmp_path)
    extra = {"check.py": b"ours ", "sub/victim": b"too"}
    assert go("cat check.py sub/victim", files=files, extra=extra).stdout == "ours too"
    assert (tmp_path / "victim").read_text() == "untouched"


def test_nothing_is_left_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("skill_assay.runner.sandbox._parents", lambda: iter([tmp_path]))
    go("echo x > file; chmod -w .")
    assert list(tmp_path.iterdir()) == []
