"""The real Claude Code, pinned, against the scripted model: what we launch is what we think it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skill_assay.errors import FailureKind, InputError
from skill_assay.model.place import Place
from skill_assay.model.transcript import Retrying, Started, ToolResult
from skill_assay.modelserver import Cut, Error, Received, Rule, Script, Text, ToolUse, Turn
from skill_assay.modelserver.canary import DIALECTS, CanaryCase, cases, key_probe, key_seen, misread
from tests.agents.claude_client import BODY, Ran, fresh_place, install, run_claude

pytestmark = pytest.mark.client

SKILL = "expense-report"
USE = Turn((ToolUse("Skill", {"skill": SKILL}),))
WRITE = Turn((ToolUse("Write", {"file_path": "out/report.md", "content": "total 7\n"}),))
DONE = Turn((Text("The report is written."),))


@pytest.fixture
def place() -> Iterator[Place]:
    with fresh_place() as fresh:
        yield fresh


def script(*turns: Turn) -> Script:
    return Script((Rule(turns),))


def test_the_skill_is_called_and_files_are_written(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(USE, WRITE, DONE), place)
    assert [(use.name, use.how, use.confirmed) for use in ran.uses] == [(SKILL, "tool", True)]
    assert ran.calls == ["Skill", "Write"]
    assert (place.work / "out/report.md").read_text() == "total 7\n"
    assert ran.finished.answer == "The report is written." and ran.finished.failure is None
    assert ran.finished.usage.tokens is not None and ran.finished.usage.tokens.total == 3 * 1242
    assert ran.finished.usage.cost_usd is not None and ran.finished.usage.cost_usd > 0
    assert ran.finished.models == (ran.requests[0].model,)
    assert f"{BODY}-{SKILL}" in ran.requests[-1].text
    assert all("sk-ant-scripted-model-server" in request.headers["x-api-key"] for request in ran.requests)


def test_slash_puts_the_body_into_the_first_request_and_is_recorded(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(DONE), place, slash=True, prompt="of May\n\n- with totals")
    assert [(use.name, use.how, use.confirmed) for use in ran.uses] == [(SKILL, "slash", True)]
    assert f"{BODY}-{SKILL}" in ran.requests[0].prompt
    assert "- with totals" in ran.requests[0].prompt


def test_fault_3_auto_shows_the_real_description_under_the_real_name(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(DONE), place, prompt="-begins with a dash")
    assert dict(ran.requests[0].catalogue) == {
        SKILL: "Turns a table of expenses into a report. Use it for expense reports."
    }
    assert ran.requests[0].prompt.rstrip().endswith("-begins with a dash")
    assert ran.uses == []


def test_a_prompt_that_looks_like_a_command_is_text(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(DONE), place, prompt="/compact the data")
    assert ran.requests[0].prompt.endswith("/compact the data")
    assert ran.finished.answer == "The report is written."


def test_fault_11_both_arms_differ_in_nothing_but_the_catalogue(claude_binary: Path) -> None:
    shown: list[str] = []
    for skill in (SKILL, None):
        with fresh_place() as place:
            (place.work / "data.csv").write_text("a,b\n1,2\n")
            ran = run_claude(claude_binary, script(DONE), place, skill=skill)
            request = ran.requests[0]
            assert ("Skill" in request.tools) and (set(request.catalogue) == ({skill} if skill else set()))
            shown.append(_without_the_treatment(request, place))
    assert shown[0] == shown[1]


def _without_the_treatment(request: Received, place: Place) -> str:
    """The request without what comes with a catalogue: its list, and the one hint about `/<skill-name>`."""
    parts = {key: request.body[key] for key in ("system", "messages", "tools", "model")}
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False).replace("\\n", "\n").replace(str(place.root), "ROOT")
    for treatment in (
        r"The following skills are available for use with the Skill tool:\n\n(- .*\n)*",
        r"# Session-specific guidance\n - When the user types `/<skill-name>`.*\n",
        r"cc_version=[^;]*;",
    ):
        text = re.sub(treatment, "", text)
    return re.sub(r"\n+", "\n", text)


def test_network_tools_come_only_when_allowed(claude_binary: Path, place: Place) -> None:
    network = {"WebFetch", "WebSearch"}
    plain = run_claude(claude_binary, script(DONE), place)
    allowed = run_claude(claude_binary, script(DONE), place, allow=("WebFetch",))
    started = [_started(ran) for ran in (plain, allowed)]
    assert network & set(started[0].tools) == set()
    assert network & set(started[1].tools) == {"WebFetch"}
    assert started[0].permission_mode == "dontAsk"


def test_a_shell_command_does_not_see_the_key(claude_binary: Path, place: Place) -> None:
    look = Turn((ToolUse("Bash", {"command": "env; echo home=$HOME", "description": "look"}),))
    ran = run_claude(claude_binary, script(look, DONE), place, env={"SEEN": "passed-by-name"})
    (result,) = [event for event in ran.events if isinstance(event, ToolResult)]
    assert "sk-ant" not in result.text and not result.is_error
    assert "SEEN=passed-by-name" in result.text and f"home={place.home}" in result.text


def test_no_real_credential_reaches_the_scripted_server(claude_binary: Path, place: Place) -> None:
    real = {"ANTHROPIC_API_KEY": "sk-ant-REAL", "CLAUDE_CODE_OAUTH_TOKEN": "REAL", "HTTPS_PROXY": "http://REAL:1"}
    ran = run_claude(claude_binary, script(DONE), place, env=real)
    assert ran.finished.failure is None
    assert "REAL" not in ran.sent()


@pytest.mark.parametrize("way", ["key", "home"])
def test_fault_4_nothing_of_the_user_or_of_a_parent_leaks(claude_binary: Path, place: Place, way: str) -> None:
    ran = _run_among_plants(claude_binary, place, way)
    assert ran.finished.failure is None, ran.stdout
    # It is signed in as the user…
    assert ("sk-ant-users-own" if way == "key" else "users-token") in ran.sent()
    # …and nothing that was planted reached the model, or ran.
    assert _planted(ran) == set()
    assert not (place.root / "user" / "hook-ran").exists()
    assert set(ran.requests[0].catalogue) == {SKILL}
    assert f"{BODY}-{SKILL}" in ran.requests[-1].text
    assert _started(ran).mcp_servers == ()


def test_what_is_planted_would_be_seen(claude_binary: Path, place: Place) -> None:
    """The control: without our options every piece reaches the model, so the test above can fail."""
    ran = _run_among_plants(claude_binary, place, "home", without=("--setting-sources", "--strict-mcp-config"))
    kinds = "AGENT CLAUDE-MD COMMAND DESCRIPTION ENV HOOK NAMESAKE RULE SKILL STYLE"
    assert _planted(ran) == {f"PLANTED-{kind}" for kind in kinds.split()}
    assert (place.root / "user" / "hook-ran").exists()
    assert set(_started(ran).mcp_servers) == {"planted", "projects"}


def _run_among_plants(binary: Path, place: Place, way: str, **options: Any) -> Ran:
    user = place.root / "user"
    _plant(user)
    install(place.root / ".claude" / "skills", "parents", description="PLANTED-PARENT-SKILL")
    (place.work / ".mcp.json").write_text(json.dumps({"mcpServers": {"projects": {"command": "true"}}}))
    env = {"ANTHROPIC_API_KEY": "sk-ant-users-own"} if way == "key" else {}
    if way == "home":
        credentials = {"accessToken": "users-token", "refreshToken": "r", "expiresAt": 4102444800000}
        signed_in = {"claudeAiOauth": {**credentials, "scopes": ["user:inference"]}}
        (user / ".claude" / ".credentials.json").write_text(json.dumps(signed_in))
    look = Turn((ToolUse("Bash", {"command": "env", "description": "x"}),))
    variables = {"HOME": str(user)}
    return run_claude(binary, script(look, USE, DONE), place, env=env, user=variables, base_url=False, **options)


def _planted(ran: Ran) -> set[str]:
    return {found.rstrip("-") for found in re.findall("PLANTED-[A-Z-]+", ran.sent())}


def _started(ran: Ran) -> Started:
    return next(event for event in ran.events if isinstance(event, Started))


def _plant(user: Path) -> None:
    """Fill a home with everything a user may have there; each piece would be seen."""
    claude = user / ".claude"
    ran = user / "hook-ran"
    hook = [{"matcher": "*", "hooks": [{"type": "command", "command": f"touch {ran}; echo PLANTED-HOOK"}]}]
    names = ("PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit")
    claude.mkdir(parents=True)
    (claude / "CLAUDE.md").write_text("PLANTED-CLAUDE-MD\n")
    (claude / "rules").mkdir()
    (claude / "rules" / "r.md").write_text("PLANTED-RULE\n")
    settings = {"hooks": dict.fromkeys(names, hook), "outputStyle": "planted", "env": {"X": "PLANTED-ENV"}}
    (claude / "settings.json").write_text(json.dumps(settings))
    (claude / "output-styles").mkdir()
    (claude / "output-styles" / "planted.md").write_text("---\nname: planted\ndescription: d\n---\nPLANTED-STYLE\n")
    install(claude / "skills", SKILL, body="PLANTED-NAMESAKE", description="PLANTED-DESCRIPTION")
    install(claude / "skills", "planted", description="PLANTED-SKILL")
    (claude / "commands").mkdir()
    (claude / "commands" / "c.md").write_text("---\ndescription: PLANTED-COMMAND\n---\nx\n")
    (claude / "agents").mkdir()
    (claude / "agents" / "a.md").write_text("---\nname: planted\ndescription: PLANTED-AGENT\n---\nx\n")
    server = {"command": "sh", "args": ["-c", f"touch {ran}"]}
    (user / ".claude.json").write_text(json.dumps({"mcpServers": {"planted": server}, "hasCompletedOnboarding": True}))


def test_several_user_messages_stand_before_the_prompt(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(DONE), place, turns=("FIRST words", "SECOND words"), prompt="LAST words")
    assert ran.finished.answer == "The report is written."
    assert len(ran.requests) == 1
    prompt = ran.requests[0].prompt
    assert prompt.index("FIRST words") < prompt.index("SECOND words") < prompt.index("LAST words")


def test_a_judge_has_no_tools_and_answers_by_schema(claude_binary: Path, place: Place) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    answer = Turn((ToolUse("StructuredOutput", {"ok": True}),))
    ran = run_claude(claude_binary, script(answer), place, skill=None, schema=schema, tools=False)
    assert ran.finished.structured == {"ok": True}
    assert set(ran.requests[0].tools) <= {"StructuredOutput", "DeferredToolPlaceholder"}


def test_mcp_servers_of_the_run_are_given_and_granted(claude_binary: Path, place: Place, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(_MCP_SERVER)
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"greeter": {"command": "python3", "args": [str(server)]}}}))
    call = Turn((ToolUse("mcp__greeter__greet", {}),))
    ran = run_claude(claude_binary, script(call, DONE), place, mcp_config=config)
    (result,) = [event for event in ran.events if isinstance(event, ToolResult)]
    assert "hello from the server" in result.text and not result.is_error


_MCP_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    kind, tool = asked.get("method"), {"name": "greet", "description": "d", "inputSchema": {"type": "object"}}
    if "id" not in asked:
        continue
    answer = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "g", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "hello from the server"}]},
    }.get(kind, {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def test_fault_5_bash_first_then_the_skill(claude_binary: Path, place: Place) -> None:
    bash = Turn((Text("Let me look."), ToolUse("Bash", {"command": "ls", "description": "look"})))
    ran = run_claude(claude_binary, script(bash, USE, DONE), place)
    assert ran.calls == ["Bash", "Skill"]
    assert [(use.name, use.confirmed) for use in ran.uses] == [(SKILL, True)]


def test_fault_6_another_skill_and_an_unknown_one_are_not_this_one(claude_binary: Path, place: Place) -> None:
    install(place.work / ".claude" / "skills", "expense")
    other = Turn((ToolUse("Skill", {"skill": "expense"}),))
    unknown = Turn((ToolUse("Skill", {"skill": "expense-reporting"}),))
    ran = run_claude(claude_binary, script(other, unknown, USE, DONE), place)
    assert [(use.name, use.confirmed) for use in ran.uses] == [
        ("expense", True),
        ("expense-reporting", False),
        (SKILL, True),
    ]


def test_reading_the_skill_file_is_a_use(claude_binary: Path, place: Place) -> None:
    path = f".claude/skills/{SKILL}/SKILL.md"
    shell = {"command": f"cd {Path(path).parent} && head -9 SKILL.md", "description": "x"}
    read = Turn((ToolUse("Read", {"file_path": path}), ToolUse("Bash", shell)))
    ran = run_claude(claude_binary, script(read, DONE), place)
    assert [(use.name, use.how, use.confirmed, use.path) for use in ran.uses] == [
        (SKILL, "read", True, str(place.work / path))
    ] * 2


def test_a_sub_agent_uses_the_skill(claude_binary: Path, place: Place) -> None:
    task = {
        "description": "report",
        "prompt": "SUBTASK",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    ask = Turn((ToolUse("Agent", task),))
    sub = Rule((USE, Turn((Text("Sub-agent done."),))), prompt="SUBTASK")
    ran = run_claude(claude_binary, Script((sub, Rule((ask, DONE)))), place)
    assert [(use.name, use.confirmed, use.parent is not None) for use in ran.uses] == [(SKILL, True, True)]
    assert ran.finished.answer == "The report is written."
    assert ran.finished.usage.tokens is not None and ran.finished.usage.tokens.total == 4 * 1242


NO_CREDIT = "Your credit balance is too low to access the Anthropic API."
FAULTS = {
    "401": (Turn(error=Error(401)), FailureKind.NOT_SIGNED_IN, 401),
    "403": (Turn(error=Error(403, "forbidden")), FailureKind.NOT_SIGNED_IN, 403),
    "404": (Turn(error=Error(404, "model: none")), FailureKind.UNKNOWN_MODEL, 404),
    "credit": (Turn(error=Error(400, NO_CREDIT)), FailureKind.NO_CREDIT, None),
    "refusal": (Turn((Text("No."),), stop_reason="refusal"), FailureKind.AGENT_LIMIT, None),
    "cut": (Turn((Text("never whole " * 9),), cut=Cut(4)), FailureKind.CONNECTION, None),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault_1_a_failure_of_the_api_is_never_an_answer(claude_binary: Path, place: Place, name: str) -> None:
    turn, kind, status = FAULTS[name]
    ran = run_claude(claude_binary, script(turn), place)
    failure = ran.finished.failure
    assert failure is not None, ran.stdout[-3000:]
    assert (failure.kind, failure.status) == (kind, status), ran.stdout[-3000:]
    assert ran.finished.answer is None or kind is FailureKind.AGENT_LIMIT


def test_529_then_success(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(Turn((Text("Fine."),), error=Error(529, count=1))), place)
    retries = [event for event in ran.events if isinstance(event, Retrying)]
    assert [retry.failure.kind for retry in retries] == [FailureKind.OVERLOADED]
    assert ran.finished.answer == "Fine." and ran.finished.failure is None


def test_429_tells_how_long_to_wait(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(Turn(error=Error(429, retry_after=2))), place)
    failure = ran.finished.failure
    assert failure is not None and failure.kind is FailureKind.RATE_LIMITED
    assert failure.retry_after is not None and failure.retry_after >= 2
    assert all((event.wait_seconds or 0) >= 2 for event in ran.events if isinstance(event, Retrying))


def test_a_connection_cut_once_is_mended_by_the_cli(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(Turn((Text("whole again " * 9),), cut=Cut(4, count=1))), place)
    assert ran.finished.failure is None
    assert ran.finished.answer is not None and ran.finished.answer.strip() == ("whole again " * 9).strip()


def test_the_turn_limit_is_the_agents_own_end(claude_binary: Path, place: Place) -> None:
    bash = Turn((Text("Still looking."), ToolUse("Bash", {"command": "ls", "description": "look"})))
    ran = run_claude(claude_binary, script(bash), place, max_turns=2)
    assert ran.finished.failure is not None and ran.finished.failure.kind is FailureKind.AGENT_LIMIT
    assert ran.finished.answer == "Still looking."


def test_the_cap_of_money_is_passed_on(claude_binary: Path, place: Place) -> None:
    ran = run_claude(claude_binary, script(USE, DONE), place, max_cost_usd=0.001)
    assert ran.finished.failure is not None and ran.finished.failure.kind is FailureKind.TRIAL_CAP


@pytest.mark.parametrize("case", cases("claude-code"), ids=lambda case: case.name)
def test_the_canary_is_read_rightly(claude_binary: Path, place: Place, case: CanaryCase) -> None:
    say = DIALECTS["claude-code"]
    for folder, skills in ((place.work / say.skills, case.skills), (place.home / say.user_skills, case.user_skills)):
        for name, text in skills.items():
            (folder / name).mkdir(parents=True)
            (folder / name / "SKILL.md").write_text(text)
    ran = run_claude(claude_binary, case.script, place, skill=None, any_skills=True, prompt=case.prompt)
    assert misread(case, ran.uses, ran.finished, ran.requests) is None


def test_the_canary_tells_whether_a_command_can_read_the_key(claude_binary: Path, place: Place) -> None:
    probe = key_probe("claude-code")
    assert probe is not None
    ran = run_claude(claude_binary, probe.script, place, skill=None)
    assert ran.finished.failure is None
    # As the adapter's capabilities say.
    assert key_seen(ran.requests) == (False, True)


def test_without_a_sign_in_nothing_is_launched(claude_binary: Path, place: Place) -> None:
    from skill_assay.agents.claude_code import ClaudeCode

    env = {"HOME": str(place.home), "ASSAY_CLAUDE_CODE": str(claude_binary)}
    agent = ClaudeCode(env=env)
    with pytest.raises(InputError, match="not signed in"):
        agent.sign_in(env)
    found = agent.detect(env)
    assert found is not None and found.version == "2.1.332" and found.sign_in is None
