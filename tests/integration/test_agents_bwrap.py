"""The other real CLIs inside the wall of namespaces: they run there, their work is measured, and outside is closed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skill_assay.model.trial import State
from skill_assay.modelserver import Rule, Script, Text, serve
from skill_assay.runner.bwrap import bwrap_available
from skill_assay.testing import DIALECTS
from tests.integration.claude_run import SKILL, run, say, settings, write_skill

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.xdist_group("client")]

LOOK = "printf STAMPED > note.md; (echo x > /usr/escaped) 2>&1; ls /home /root 2>&1; ps ax -o comm= | sed 's/^/seen:/'"


@pytest.fixture(autouse=True)
def _wall() -> None:
    there, why = bwrap_available()
    if not there:
        message = f"no sandbox to test: {why}"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


@pytest.mark.parametrize("name", ["api", "codex", "copilot", "gemini", "opencode", "pi", "qwen"])
def test_an_agent_works_inside(
    name: str, tmp_path: Path, client: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 10, each with the runtime and files it needs."""
    if name == "api":
        pytest.importorskip("pydantic_ai", reason="the extra `api` is not installed")
    else:
        monkeypatch.setenv("ASSAY_" + name.upper(), str(client(name)))
    speak = DIALECTS[name]
    turns = (say(speak.use(SKILL)), say(speak.shell(LOOK)), say(Text("Done.")))
    script = Script((Rule(turns, skill=SKILL), Rule((say(Text("Nothing.")),))))
    with serve(script) as server:
        chosen = settings(agent=name, model=speak.model, sandbox="bwrap", eval_ids=("1",))
        result = run(write_skill(tmp_path), tmp_path / "ws", server, chosen)
        sent = "\n".join(request.text for request in server.messages)
    found = {str(trial.id): trial for trial in result.iteration.trials()}
    assert {trial.state for trial in found.values()} == {State.COMPLETED}, [trial.failure for trial in found.values()]
    assert (found["1/with_skill/1"].score, found["1/without_skill/1"].score) == (1.0, 0.0)
    assert found["1/with_skill/1"].skill_used is True
    assert not Path("/usr/escaped").exists()
    assert "Read-only file system" in sent
    # The built-in agent is a Python itself.
    assert "seen:" in sent and (name == "api" or "seen:python" not in sent), "no process of ours is seen"
