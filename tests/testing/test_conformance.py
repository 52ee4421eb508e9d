"""Every adapter does right with its real program and a scripted model, case by case."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skill_assay.agents.api import Api
from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.agents.codex import Codex
from skill_assay.agents.copilot import Copilot
from skill_assay.agents.gemini import Gemini
from skill_assay.agents.opencode import OpenCode
from skill_assay.agents.pi import Pi
from skill_assay.agents.qwen import Qwen
from skill_assay.model.protocols import Agent
from skill_assay.modelserver import ToolUse
from skill_assay.testing import CASES, DIALECTS, Case, Dialect, Subject, check

pytestmark = [pytest.mark.client, pytest.mark.slow]

ADAPTERS: dict[str, Callable[..., Agent]] = {
    "codex": Codex,
    "pi": Pi,
    "copilot": Copilot,
    "claude-code": ClaudeCode,
    "gemini": Gemini,
    "opencode": OpenCode,
    "qwen": Qwen,
}
SLOW = ("gemini", "opencode", "qwen")
"""They take many seconds to start: tried on the main cases alone unless ASSAY_CASES=all."""
MAIN = ("skill-first", "skill-later", "error-later", "ended")
PAIRS = [
    (name, case)
    for name in ADAPTERS
    for case in CASES
    if name not in SLOW or case.name in MAIN or os.environ.get("ASSAY_CASES") == "all"
]


@pytest.mark.parametrize(("name", "case"), PAIRS, ids=lambda part: str(part))
def test_an_adapter_does_right(name: str, case: Case, client: Callable[[str], Path]) -> None:
    """Faults 1, 2, 4, 5, 6, 11 and 16 with the real program."""
    if case.name == "ended" and sys.platform != "linux":
        pytest.skip("what is left behind is looked for in /proc")
    variable = "ASSAY_" + name.upper().replace("-", "_")
    env = {"PATH": os.environ["PATH"], variable: str(client(name))}

    def create(user: Mapping[str, str]) -> Agent:
        return ADAPTERS[name](env=user)

    assert check(Subject(create, DIALECTS[name], env), case) == []


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("model", ["anthropic:scripted", "openai:scripted", "openai-responses:scripted"])
def test_the_built_in_agent_does_right(model: str, case: Case) -> None:
    """Of two providers, in three protocols; its program is ours, and stands on the extra `api`."""
    pytest.importorskip("pydantic_ai", reason="the extra `api` is not installed")
    if case.name == "ended" and sys.platform != "linux":
        pytest.skip("what is left behind is looked for in /proc")
    dialect = dataclasses.replace(DIALECTS["api"], model=model)
    assert check(Subject(lambda user: Api(env=user), dialect, {"PATH": os.environ["PATH"]}), case) == []


class Programs(Dialect):
    """How Codex's own models call tools: from a program of theirs."""

    def shell(self, command: str) -> ToolUse:
        called = f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(r.output)"
        return ToolUse("exec", {"input": called})


@pytest.mark.parametrize("case", [case for case in CASES if case.name in MAIN], ids=str)
def test_codex_does_right_with_its_own_models(case: Case, client: Callable[[str], Path]) -> None:
    """What they do inside a program shows as if they had done it one by one."""
    env = {"PATH": os.environ["PATH"], "ASSAY_CODEX": str(client("codex"))}
    dialect = Programs(skills=".agents/skills", shell_tool="exec")
    assert check(Subject(lambda user: Codex(env=user), dialect, env), case) == []
