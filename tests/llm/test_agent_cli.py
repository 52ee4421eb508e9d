"""A model through the real Claude Code, against the scripted server; and through agents that know no schema."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.agents.command import CommandAgent
from skill_assay.errors import FailureKind
from skill_assay.graders.judge import JudgeGrader
from skill_assay.graders.judge_log import MemoryLog
from skill_assay.llm.agent_cli import AgentVoice, json_in
from skill_assay.llm.base import Asker, Said
from skill_assay.llm.scripted_judge import judge_reply
from skill_assay.model.attached import Attached, Picture
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.place import Place
from skill_assay.model.transcript import Usage
from skill_assay.model.trial import TrialId
from skill_assay.model.work import Work
from skill_assay.modelserver import Error, Received, Rule, Script, ToolUse, Turn, serve
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.sandbox import NoSandbox
from skill_assay.runner.settings import Budget

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


@pytest.mark.client
def test_claude_judges_with_its_evidence_looked_up(claude_binary: Path, tmp_path: Path) -> None:
    """The whole way: question, the real CLI, a reply by schema, planted expectations, a quote that is there."""
    text = "The report names the total."
    outputs = tmp_path / "eval-1" / "with_skill" / "run-1" / "outputs"
    outputs.mkdir(parents=True)
    (outputs / "report.md").write_text("# Report\n\nThe total is 1,284 EUR.\n")
    one = Eval("1", "Write a report.", (Expectation(text, about="outcome"),))
    work = Work(
        TrialId("1", "with_skill", 1), one, outputs.parent, outputs, ("report.md",), "Done as asked.", (), Usage(), None,
        None, None, None, None,  # type: ignore[arg-type]
    )  # fmt: skip

    def answers(request: Received) -> tuple[Turn, ...]:
        said = {text: {"verdict": "pass", "quote": "The total is 1,284 EUR.", "source": "report.md"}}
        return (Turn((ToolUse("StructuredOutput", judge_reply(request.prompt, said)),)),)

    ledger = BudgetLedger(Budget(), lambda *_, **__: None)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "ASSAY_CLAUDE_CODE": str(claude_binary)}
    with serve(Script((Rule(router=answers),))) as server:
        asker = Asker(voice(ClaudeCode(env=env), base_url=server.url), AdaptiveAdmission(1, ledger, PriceBook(), 0.0))
        grades = anyio.run(JudgeGrader(asker, MemoryLog()).grade, dict(enumerate(one.expectations)), work, ledger)
    assert grades[0].decision == "passed" and grades[0].verified is True, grades[0].evidence
    assert ledger.spent.usd > 0 and ledger.spent.launches == 1


def _png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def ask_with(binary: Path, attached: Attached, *turns: Turn) -> tuple[Said, list[Received]]:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "ASSAY_CLAUDE_CODE": str(binary)}
    with serve(Script((Rule(turns),))) as server:
        said = anyio.run(voice(ClaudeCode(env=env), base_url=server.url).say, "Is it so?", SCHEMA, attached)
        return said, list(server.messages)


@pytest.mark.client
def test_claude_is_shown_pictures(claude_binary: Path) -> None:
    attached = Attached((Picture("outputs/plot.png", "image/png", _png()),))
    said, requests = ask_with(claude_binary, attached, Turn((ToolUse("StructuredOutput", {"ok": True}),)))
    assert said.failure is None and said.data == {"ok": True}
    assert base64.b64encode(_png()).decode() in requests[0].text and "Is it so?" in requests[0].text
    assert not {"Bash", "Read", "Write"} & set(requests[0].tools)


@pytest.mark.client
def test_claude_reads_what_is_attached_and_nothing_else(claude_binary: Path, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.txt"
    secret.write_text("MARKER-ELSEWHERE")
    files = {"outputs/a/report.md": b"MARKER-OF-THE-REPORT\n"}
    said, requests = ask_with(
        claude_binary,
        Attached(files=files),
        Turn((ToolUse("Read", {"file_path": "outputs/a/report.md"}),)),
        Turn((ToolUse("Grep", {"pattern": "MARKER", "path": str(tmp_path)}),)),
        Turn((ToolUse("Read", {"file_path": str(secret)}),)),
        Turn((ToolUse("Write", {"file_path": "outputs/a/report.md", "content": "changed"}),)),
        Turn((ToolUse("Bash", {"command": "echo MARKER-OF-A-SHELL | tr A-Z a-z"}),)),
        Turn((ToolUse("StructuredOutput", {"ok": True}),)),
    )
    assert said.failure is None and said.data == {"ok": True}
    assert {"Glob", "Grep", "Read"} <= set(requests[0].tools)
    assert not {"Bash", "Edit", "Write", "Skill", "WebFetch", "Agent"} & set(requests[0].tools)
    told = requests[-1].text
    assert "MARKER-OF-THE-REPORT" in told
    assert "MARKER-ELSEWHERE" not in told and "marker-of-a-shell" not in told
    assert len(requests) == 6
