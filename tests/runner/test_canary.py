"""The self-test on a program that does not work at all: what is told is why, and nothing is claimed of it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.errors import IncompleteError
from skill_assay.model.agent import Detected
from skill_assay.runner.canary import ensure_canary, run_canary

SAID = "Error: its native part was not installed."


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ClaudeCode, Detected]:
    """An npm package whose second half is missing: whatever it is asked, it says so and ends with 1."""
    program = tmp_path / "claude"
    program.write_text(
        f"#!/bin/sh\necho >&2\necho '{SAID}' >&2\necho 'Install it again.' >&2\nexit 1\n", encoding="utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    agent = ClaudeCode(env={"ASSAY_CLAUDE_CODE": str(program), "ANTHROPIC_API_KEY": "sk-none", "PATH": "/usr/bin:/bin"})
    return agent, Detected("claude-code", "unknown", str(program), None)


@pytest.mark.slow
def test_a_program_that_does_not_work_is_told_by_its_own_words(broken: tuple[ClaudeCode, Detected]) -> None:
    report = anyio.run(run_canary, *broken)
    assert report.passed == 0
    assert {case.wrong for case in report.failures} == {
        f"the program asked the model nothing; it ended with status 1: {SAID}"
    }
    with pytest.raises(IncompleteError, match=SAID):
        anyio.run(ensure_canary, *broken)


def test_what_a_tool_can_see_is_not_known_where_none_ran(broken: tuple[ClaudeCode, Detected]) -> None:
    report = anyio.run(run_canary, *broken)
    assert (report.key_in_tools, report.key_in_parent) == (None, None)
