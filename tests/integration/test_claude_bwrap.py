"""The real Claude Code inside the wall of namespaces: what it tries outside fails, and the work inside is measured."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from skill_assay.model.trial import State
from skill_assay.modelserver import Rule, Script, Text, ToolUse, serve
from skill_assay.runner.bwrap import bwrap_available
from tests.integration.claude_run import SKILL, run, say, settings, write_file, write_skill

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.xdist_group("client")]


@pytest.fixture(autouse=True)
def _wall(claude_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, why = bwrap_available()
    if not there:
        message = f"no sandbox to test: {why}"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    monkeypatch.setenv("ASSAY_CLAUDE_CODE", str(claude_binary))


def test_fault_10_nothing_outside_is_written_read_or_seen(tmp_path: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    secret = tmp_path / "home-of-the-user.txt"
    secret.write_text("PRIVATE-WORDS", encoding="utf-8")
    escape = tmp_path / "escaped.txt"
    # A script, since the CLI itself refuses a redirection it can see leading out of the working directory.
    (skill / "evals" / "files" / "input.txt").write_text(
        f"(echo x > {escape}) 2>&1 | tail -1; (echo x > /usr/escaped) 2>&1 | tail -1\n"
        f"cat {secret} 2>&1; ls -d /tmp/assay-* 2>&1; ls /root /home 2>&1; ls /trial; ps ax -o comm= | sort -u\n",
        encoding="utf-8",
    )
    look = ToolUse("Bash", {"command": "sh input.txt > report.txt 2>&1; true", "description": "Look"})
    script = Script((Rule((say(look), say(Text("Done.")))),))
    with serve(script) as server:
        result = run(skill, workspace, server, settings(sandbox="bwrap"))
    found = list(result.iteration.trials())
    assert {trial.state for trial in found} == {State.COMPLETED}, [trial.failure for trial in found]
    assert not escape.exists()
    assert not Path("/usr/escaped").exists()
    for trial in found:
        report = (result.iteration.run_folder(trial.id).outputs / "report.txt").read_text(encoding="utf-8")
        assert "Read-only file system" in report or "No such file" in report
        assert "PRIVATE-WORDS" not in report
        assert not re.search(r"/tmp/assay-\w", report), "another trial's place is seen"
        assert "python" not in report, "no process of ours is seen"


def test_the_work_inside_is_measured_as_outside(tmp_path: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    use = ToolUse("Skill", {"skill": SKILL})
    with_skill = (say(use), say(write_file("note.md", "STAMPED")), say(Text("Done.")))
    script = Script((Rule(with_skill, skill=SKILL), Rule((say(Text("Nothing.")),))))
    with serve(script) as server:
        result = run(skill, workspace, server, settings(sandbox="bwrap"))
    scores = {str(trial.id): trial.score for trial in result.iteration.trials()}
    assert scores == {"1/with_skill/1": 1.0, "1/without_skill/1": 0.0, "2/with_skill/1": 1.0, "2/without_skill/1": 0.0}
    used = {str(trial.id): trial.skill_used for trial in result.iteration.trials()}
    assert used["1/with_skill/1"] is True
