"""Deterministic checks on what `codex exec --json` prints: commands as they were meant, without the shell around them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.codex_parser import CodexParser
from skill_assay.model.transcript import Event


def item(number: int, kind: str, **facts: Any) -> list[Mapping[str, Any]]:
    """An item as Codex reports it: begun, then done."""
    one = {"id": f"item_{number}", "type": kind, **facts}
    return [{"type": "item.started", "item": one}, {"type": "item.completed", "item": one}]


def shell(number: int, command: str, code: int = 0) -> list[Mapping[str, Any]]:
    return item(number, "command_execution", command=command, aggregated_output="", exit_code=code, status="completed")


def step(pattern: str) -> Mapping[str, str]:
    return {"tool": "command_execution", "input_matches": pattern}


LINES = [
    {"type": "thread.started", "thread_id": "t"},
    *shell(1, "/bin/bash -lc 'npm install && npm run build'"),
    *shell(2, "/bin/bash -lc \"echo 'it is done' > note.txt\""),
    *item(3, "file_change", changes=[{"path": "/w/package.json", "kind": "add"}], status="completed"),
    *shell(4, "/bin/zsh -c 'git status --porcelain'"),
    *shell(5, "ls -la"),
    *item(6, "agent_message", text="Done."),
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
]


def events(lines: list[bytes]) -> list[Event]:
    parser = CodexParser(work="/w", home="/h")
    return [event for line in lines for event in parser.feed(line)]


@pytest.fixture
def codex(desk):
    return desk.says("Done.", *events([json.dumps(line).encode() + b"\n" for line in LINES]))


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        ({"command_ran": "^npm install"}, "passed"),
        ({"command_ran": "^git status --porcelain$"}, "passed"),
        ({"command_ran": "^ls -la$"}, "passed"),
        ({"command_ran": "bash -lc"}, "failed"),
        ({"command_ran": {"pattern": ".", "min": 4, "max": 4}}, "passed"),
        ({"command_ran": {"only": ["npm", "echo", "git", "ls"]}}, "passed"),
        ({"command_ran": {"only": ["npm install", "echo", "git", "ls"]}}, "failed"),
        ({"not": {"command_ran": "rm -rf"}}, "passed"),
        ({"tool_called": {"tool": "command_execution", "min": 4, "max": 4}}, "passed"),
        ({"tool_order": [{"tool": "command_execution", "input_matches": "npm install"}, "file_change"]}, "passed"),
        ({"tool_order": ["file_change", {"tool": "command_execution", "input_matches": "npm install"}]}, "failed"),
        (
            {
                "tool_order": [
                    {"tool": "file_change", "input_matches": r"package\.json"},
                    {"tool": "command_execution", "input_matches": "^git status"},
                ]
            },
            "passed",
        ),
        ({"tool_not_called": "web_search"}, "passed"),
    ],
)
def test_commands_and_order(codex, check, verdict) -> None:
    assert codex.verdict(check) == verdict


@pytest.mark.parametrize(
    ("name", "check", "verdict"),
    [
        ("bash_then_skill", {"command_ran": r"^head -3 sales\.csv$"}, "passed"),
        ("bash_then_skill", {"tool_order": [step("head"), step(r"SKILL\.md")]}, "passed"),
        ("bash_then_skill", {"tool_order": [step(r"SKILL\.md"), step("head")]}, "failed"),
        ("no_skill", {"command_ran": r"^awk -F, .* sales\.csv$"}, "passed"),
        ("skill_first", {"command_ran": r"^printf 'total .* > report\.md$"}, "passed"),
        ("skill_first", {"not": {"command_ran": "curl|npm"}}, "passed"),
        ("workspace_write", {"command_ran": {"only": ["echo", "curl", "head"]}}, "passed"),
        ("apply_patch_shell", {"tool_called": {"tool": "file_change", "input_matches": r"report\.md"}}, "passed"),
        ("text_only", {"command_ran": "."}, "failed"),
    ],
)
def test_recordings_of_the_real_program(desk, shared_data: Path, name: str, check, verdict) -> None:
    lines = (shared_data / "streams" / f"codex_{name}.jsonl").read_bytes().splitlines(keepends=True)
    assert desk.says("Done.", *events(lines)).verdict(check) == verdict
