"""Fault 30: secrets planted everywhere reach no file of a workspace."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skill_assay.cli.main import main
from tests.runner.small import write_skill

PASSED = "hunter2-very-secret-passed-value"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = "sk-ant-api03-" + "Zx9" * 28 + "AA"
SIGNED = "Sig-Abc123def456ghi789"
LEAKY = f"""
import os, sys, json
token = {TOKEN!r}
print(json.dumps({{"assay": 1, "type": "started"}}))
print(json.dumps({{"type": "tool_call", "id": "1", "name": "Bash", "input": {{"command": "echo " + token}}}}))
print(json.dumps({{"type": "tool_result", "call_id": "1", "text": "env says " + os.environ["MY_SECRET"]}}))
print(json.dumps({{"type": "text", "text": "the key is " + {KEY!r}}}))
open("leak.txt", "w").write("https://bucket.example/x?X-Amz-Signature={SIGNED}&y=1 " + os.environ["MY_SECRET"])
sys.stderr.write("stderr has " + token + " and " + os.environ["MY_SECRET"])
print(json.dumps({{"type": "finished", "answer": "Done with " + token}}))
"""


def grep(folder: Path, needle: str) -> list[str]:
    done = subprocess.run(["grep", "-rlaF", needle, str(folder)], capture_output=True, text=True, check=False)
    return done.stdout.split()


@pytest.fixture
def leaky_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    program = tmp_path / "leaky.py"
    program.write_text(LEAKY, encoding="utf-8")
    check = {"text": "leak.txt exists", "check": {"file_exists": "leak.txt"}}
    evals = [{"id": 1, "prompt": f"The token is {TOKEN}.", "expectations": [check]}]
    skill = write_skill(tmp_path, evals)
    monkeypatch.setenv("MY_SECRET", PASSED)
    return [
        "assay", "run", str(skill), "--agent", f"command: {sys.executable} {program}", "--trials", "1",
        "--pass-env", "MY_SECRET", "--workspace", str(tmp_path / "ws"), "--no-progress",
    ]  # fmt: skip


def test_no_secret_is_written_anywhere(
    leaky_run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", leaky_run)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, 3), capsys.readouterr()
    run = tmp_path / "ws" / "iteration-1" / "eval-1" / "with_skill" / "run-1"
    assert (run / "outputs" / "leak.txt").is_file(), "the agent must really have leaked"
    for secret in (PASSED, TOKEN, KEY, SIGNED):
        assert grep(tmp_path / "ws", secret) == []
    assert "[REDACTED" in (run / "attempt-1.jsonl").read_text(encoding="utf-8")
    for line in (run / "attempt-1.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)
    shown = capsys.readouterr()
    assert TOKEN not in shown.out + shown.err
    assert PASSED not in shown.out + shown.err


def test_keeping_them_is_explicit(
    leaky_run: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [*leaky_run, "--keep-secrets"])
    with pytest.raises(SystemExit):
        main()
    assert grep(tmp_path / "ws", TOKEN) != []
