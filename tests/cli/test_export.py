from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.export import command
from skill_assay.cli.lint import command as lint
from skill_assay.cli.main import assay
from skill_assay.errors import AssayError
from tests.runner.small import write_skill


def export(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments], standalone_mode=False)


def refused(*arguments: str) -> str:
    found = export(*arguments).exception
    assert isinstance(found, AssayError)
    return str(found)


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_suite_is_written_and_can_be_linted_and_run(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    ran = export(str(skill), "--to", "plugin-suite", "-o", str(tmp_path / "out"))
    assert ran.return_value == 0, ran.exception
    assert "claude plugin eval . --allow-tools Write Edit Bash" in ran.output
    assert "the file is looked for in the top folder only (eval 1, expectation 1; eval 2, expectation 1)" in ran.output
    play = (skill / "evals/simulated.json").read_bytes()
    for path in (skill / "evals").iterdir():
        path.unlink()
    (skill / "evals").rmdir()
    (tmp_path / "out").rename(skill / "evals")
    (skill / "evals/simulated.json").write_bytes(play)
    linted = CliRunner().invoke(lint, [str(skill)], standalone_mode=False)
    assert linted.return_value == 0, linted.output
    assert "2 evals, 2 expectations: 2 decided by a machine" in linted.output
    arguments = [
        "run",
        str(skill),
        "--agent",
        "simulated",
        "--yes",
        "--trials",
        "1",
        "--no-progress",
        "--format",
        "json",
    ]
    found = CliRunner().invoke(assay, arguments, standalone_mode=False)
    assert found.exception is None, found.exception
    assert '"with_skill"' in found.output


def test_nothing_is_overwritten_unless_told(tmp_path: Path) -> None:
    skill, out = write_skill(tmp_path), tmp_path / "out"
    stale = out / "1" / "graders" / "old.md"
    stale.parent.mkdir(parents=True)
    stale.write_text("mine", encoding="utf-8")
    before = files(out)
    assert "nothing is overwritten" in refused(str(skill), "--to", "plugin-suite", "-o", str(out))
    assert files(out) == before
    assert export(str(skill), "--to", "plugin-suite", "-o", str(out), "--force").return_value == 0
    assert not stale.exists()
    assert "1/prompt.md" in files(out)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    skill, out, other = write_skill(tmp_path), tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.mkdir()
    (out / "1").symlink_to(other)
    assert "link" in refused(str(skill), "--to", "plugin-suite", "-o", str(out), "--force")
    assert files(other) == {}
    assert not (out / "2").exists()


def test_a_disk_that_takes_nothing_is_told_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "out"
    assert "The disk is full" in refused(str(write_skill(tmp_path)), "--to", "plugin-suite", "-o", str(out))
    assert not files(out)


@pytest.mark.parametrize(
    ("form", "name"), [("codex-csv", "hello-note.prompts.csv"), ("skill-creator", "eval_set.json")]
)
def test_a_trigger_set_is_written(tmp_path: Path, form: str, name: str) -> None:
    skill = write_skill(tmp_path)
    queries = [{"id": "a", "query": 'Say "hi", please', "should_trigger": True, "split": "test"}]
    (skill / "evals/triggers.json").write_text(json.dumps(queries), encoding="utf-8")
    ran = export(str(skill), "--to", form, "-o", str(tmp_path / "out"), "--format", "json")
    facts: dict[str, Any] = json.loads(ran.output)
    assert facts["files"] == [name]
    assert {"place": "query a", "reason": "split is not written"} in facts["without_counterpart"]
    assert b"hi" in files(tmp_path / "out")[name]


def test_one_file_can_be_named_and_one_of_no_skill_is_refused(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    file = skill / "evals/evals.json"
    assert export(str(file), "--to", "plugin-suite", "-o", str(tmp_path / "out")).return_value == 0
    (tmp_path / "alone.json").write_bytes(file.read_bytes())
    assert "belongs to no skill" in refused(str(tmp_path / "alone.json"), "--to", "plugin-suite", "-o", str(tmp_path))
    assert "no trigger set" in refused(str(skill), "--to", "codex-csv", "-o", str(tmp_path / "out"))


def test_files_from_outside_are_taken_along_only_when_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a", encoding="utf-8")
    evals = [{"id": "a", "prompt": "x", "files": ["../a.csv"], "expectations": ["y"]}]
    skill, out = write_skill(tmp_path, evals), tmp_path / "out"
    assert "outside" in refused(str(skill), "--to", "plugin-suite", "-o", str(out))
    assert not out.exists()
    export(str(skill), "--to", "plugin-suite", "-o", str(out), "--allow-outside-files")
    assert files(out)["a/files/a.csv"] == b"a"


@pytest.mark.client
def test_claude_code_itself_takes_the_suite(tmp_path: Path, claude_binary: Path) -> None:
    """Without a login it reads every case, and stops before the first request."""
    skill = write_skill(tmp_path / "plug" / "skills", EVERYTHING)
    manifest = tmp_path / "plug/.claude-plugin/plugin.json"
    manifest.parent.mkdir()
    manifest.write_text('{"name": "plug", "version": "1.0.0", "description": "x"}', encoding="utf-8")
    assert export(str(skill), "--to", "plugin-suite", "-o", str(tmp_path / "plug/evals")).return_value == 0
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    ran = subprocess.run(
        [claude_binary, "plugin", "eval", ".", "--trust-plugin", "--no-publish", "--runs", "1", "--ablation", "none"],
        cwd=tmp_path / "plug",
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "home"),
            "TMPDIR": str(tmp_path / "tmp"),
            "HTTPS_PROXY": "http://127.0.0.1:9",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = ran.stdout + ran.stderr
    assert "Couldn't load" not in said, said
    assert "invalid" not in said, said
    assert "Not logged in" in said, said


EVERYTHING: list[dict[str, Any]] = [
    {
        "id": "one",
        "name": "The first: of all",
        "prompt": 'Greet "Ann".\n---\nAnd Bob.',
        "expected_output": "yes: 0o17",
        "tags": ["smoke", "007"],
        "timeout_seconds": 60,
        "setup": "git init -q",
        "expectations": [
            "It greets Ann.",
            {"text": "hello", "check": {"matches": {"pattern": "(?P<n>hello)$", "in": "answer", "flags": "is"}}},
            {"text": "no", "check": {"not": {"contains": {"text": "a.b\\", "in": "./out/a b.txt"}}}},
            {"text": "there", "check": [{"file_exists": "hello.txt"}, {"file_absent": "./tmp/**"}]},
            {"text": "read", "check": {"tool_called": {"tool": "Read", "input_matches": "txt", "min": 1, "max": 3}}},
            {"text": "web", "check": {"tool_not_called": "WebFetch"}, "severity": "info"},
            {"text": "order", "check": {"tool_order": ["Read", {"tool": "Write", "input_matches": "hello"}]}},
            {"text": "used", "check": {"skill_used": True}},
            {"text": "how", "about": "process"},
        ],
    },
    {"id": "two", "prompt": "Greet Bob.", "expectations": ["It greets Bob."]},
]
