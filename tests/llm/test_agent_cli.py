"""A model through the real Claude Code, against the scripted server; and through agents that know no schema."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.agents.command import CommandAgent
from skill_assay.errors import FailureKind
from skill_assay.llm.agent_cli import AgentVoice, json_in
from skill_assay.llm.base import Said
from skill_assay.model.place import Place
from skill_assay.modelserver import Error, Rule, Script, ToolUse, Turn, serve
from skill_assay.runner.sandbox import NoSandbox

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@contextmanager
def places() -> Iterator[Place]:
    root = Path(tempfile.mkdtemp(prefix="a-", dir="/tmp"))
    place = Place(root, root / "work", root / "home", root / "config", root / "tmp")
    for folder in (place.work, place.home, place.config, place.tmp):
        folder.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(root)


def voice(agent: Any, **more: Any) -> AgentVoice:
    return AgentVoice(agent, NoSandbox(), places, env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, **more)


def test_an_agent_without_schemas_is_asked_in_words(tmp_path: Path) -> None:
    program = tmp_path / "agent.sh"
    program.write_text(
        '#!/bin/sh\ncp "$1" %s\nprintf \'Sure:\\n```json\\n{"ok": true}\\n```\\n\'\n' % (tmp_path / "seen")
    )
    program.chmod(0o755)
    said = anyio.run(voice(CommandAgent(f"{program} {{prompt_file}}")).say, "Is it so?", SCHEMA)
    assert said.failure is None and said.data == {"ok": True}
    asked = (tmp_path / "seen").read_text()
    assert asked.startswith("Is it so?") and json.dumps(SCHEMA) in asked


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here:\n```json\n{"a": 1}\n```\nbye', {"a": 1}),
        ('well {"a": {"b": 2}} so', {"a": {"b": 2}}),
        ("[1]", None),
        ("no", None),
        ("", None),
        (None, None),
        ("{" * 50_000, None),
    ],
)
def test_json_is_found_in_words(answer: str | None, found: Any) -> None:
    assert json_in(answer) == found


def ask_claude(binary: Path, *turns: Turn) -> tuple[Said, list[Any]]:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "ASSAY_CLAUDE_CODE": str(binary)}
    with serve(Script((Rule(turns),))) as server:
        said = anyio.run(voice(ClaudeCode(env=env), base_url=server.url).say, "Is it so?", SCHEMA)
        return said, list(server.messages)


@pytest.mark.client
def test_claude_answers_by_schema_without_tools(claude_binary: Path) -> None:
    said, requests = ask_claude(claude_binary, Turn((ToolUse("StructuredOutput", {"ok": True}),)))
    assert said.failure is None and said.data == {"ok": True}
    assert said.usage is not None and said.usage.cost_usd
    assert not {"Bash", "Read", "Write", "Skill", "WebFetch"} & set(requests[0].tools)
    assert "Is it so?" in requests[0].prompt


@pytest.mark.client
def test_claude_refused_by_the_server_is_a_failure(claude_binary: Path) -> None:
    said, _ = ask_claude(claude_binary, Turn(error=Error(401)))
    assert said.failure is not None and said.failure.kind is FailureKind.NOT_SIGNED_IN
    assert said.data is None
