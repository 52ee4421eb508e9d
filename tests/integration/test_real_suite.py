"""The real Claude Code and the real Codex in one suite, from the command line, against a scripted model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from skill_assay.cli.main import main
from skill_assay.modelserver import Rule, Script, Text, Turn, serve
from skill_assay.modelserver.script import Received
from skill_assay.testing import DIALECTS
from skill_assay.workspace.store import Workspace
from tests.integration.claude_run import SKILL, write_skill

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.xdist_group("client")]


def answers(request: Received) -> Sequence[Turn]:
    """A model that uses the skill where its catalogue has it, and writes the note only then."""
    dialect = DIALECTS["claude-code" if "messages" in request.path else "codex"]
    done = Turn((Text("Done."),))
    if SKILL not in request.text:
        return (done,)
    return (Turn((dialect.use(SKILL),)), Turn((dialect.shell("printf STAMPED > note.md"),)), done)


def test_claude_code_and_codex_in_one_suite(
    tmp_path: Path,
    client: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_DATA"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_CLAUDE_CODE", str(client("claude-code")))
    monkeypatch.setenv("ASSAY_CODEX", str(client("codex")))
    skill = write_skill(tmp_path)
    command = ["run", str(skill), "--agent", "claude-code/claude-sonnet-4-5,codex", "--judge", "none", "--trials", "1"]
    with serve(Script((Rule(router=answers),))) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        monkeypatch.setattr(sys, "argv", ["assay", *command, "--yes", "--no-progress", "--format", "json"])
        with pytest.raises(SystemExit) as ended:
            main()
    out, err = capsys.readouterr()
    assert ended.value.code == 0, err
    found = json.loads(out)
    assert [(one["agent"], one["model"], one["iteration"]) for one in found["members"]] == [
        ("claude-code", "claude-sonnet-4-5", 1),
        ("codex", None, 2),
    ]
    for one in found["members"]:
        assert one["effect"] == 1.0 and one["excluded"] == 0, one
        assert one["with_skill"]["used"] == one["with_skill"]["use_known"] == 2, "each by its own signs"
    (suite,) = Workspace(tmp_path / f"{SKILL}-workspace").suites()
    assert [member.version is not None for member in suite.members] == [True, True]
