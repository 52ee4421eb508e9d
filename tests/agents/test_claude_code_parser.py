"""Lines nobody recorded: partials that decide, names, reads, strange input, odd ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.agents.claude_code_parser import ClaudeCodeParser
from skill_assay.agents.skill_reads import files_read
from skill_assay.errors import FailureKind
from skill_assay.model.transcript import Event, Finished, Other, SkillUse, Started, Text, ToolCall, ToolResult

WORK = "/trial/work"


def line(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def assistant(*blocks: dict[str, Any], parent: str | None = None, **more: Any) -> bytes:
    message = {"id": f"msg_{id(blocks)}", "model": "m", "content": list(blocks), "usage": {}, **more.pop("message", {})}
    return line(type="assistant", message=message, parent_tool_use_id=parent, **more)


def call(ident: str, name: str, parent: str | None = None, **arguments: Any) -> bytes:
    return assistant({"type": "tool_use", "id": ident, "name": name, "input": arguments}, parent=parent)


def result(
    ident: str, content: Any = "ok", *, error: bool = False, outcome: Any = None, parent: str | None = None
) -> bytes:
    block = {"type": "tool_result", "tool_use_id": ident, "content": content, "is_error": error}
    return line(type="user", message={"content": [block]}, tool_use_result=outcome, parent_tool_use_id=parent)


def body(folder: str, parent: str | None = None) -> bytes:
    text = f"Base directory for this skill: {WORK}/.claude/skills/{folder}\n\n# body"
    return line(type="user", message={"content": [{"type": "text", "text": text}]}, parent_tool_use_id=parent)


def partial(**event: Any) -> bytes:
    return line(type="stream_event", event=event, session_id="s", parent_tool_use_id=None)


INIT = line(type="system", subtype="init", tools=["Skill"], skills=["pdf"], slash_commands=["pdf"], mcp_servers=[])
END = line(type="result", subtype="success", is_error=False, result="fine", modelUsage={})


def read(*lines: bytes, exit_code: int | None = 0, **options: Any) -> tuple[list[Event], Finished]:
    parser = ClaudeCodeParser(work=WORK, home="/trial/home", **options)
    return [event for one in lines for event in parser.feed(one)], parser.end(exit_code, "")


def uses(events: list[Event]) -> list[tuple[str, str, bool]]:
    return [(event.name, event.how, event.confirmed) for event in events if isinstance(event, SkillUse)]


def test_a_skill_call_is_known_from_its_partials_and_comes_once() -> None:
    """The earliest sign there is: before the whole message is printed, or when it never is."""
    block = {"type": "tool_use", "id": "t1", "name": "Skill", "input": {}}
    pieces = ['{"skill": "a}b', '", "args": "{}"', "}"]
    lines = [partial(type="content_block_start", index=1, content_block=block)]
    lines += [
        partial(type="content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": piece})
        for piece in pieces
    ]
    assert lines[0].startswith(b'{"type":"stream_event","event":{"type":"content_block_start"')
    events, _ = read(*lines)
    assert events == [ToolCall("t1", "Skill", {"skill": "a}b", "args": "{}"})]
    again, _ = read(*lines, call("t1", "Skill", skill="a}b", args="{}"))
    assert again == events


def test_fault_5_a_call_alone_is_no_use() -> None:
    events, finished = read(INIT, call("t1", "Skill", skill="pdf"), exit_code=-9)
    assert uses(events) == []
    assert finished.failure is not None and finished.failure.kind is FailureKind.CRASHED


@pytest.mark.parametrize("name", ["pdf", "plugin:pdf", "pdf-tools"])
def test_fault_6_names_stay_whole(name: str) -> None:
    events, _ = read(call("t1", "Skill", skill="/" + name), result("t1", outcome={"success": True}))
    assert uses(events) == [(name, "tool", True)]


def test_the_body_confirms_where_the_result_says_nothing() -> None:
    events, _ = read(call("t1", "Skill", skill="pdf"), result("t1"), body("pdf"))
    assert uses(events) == [("pdf", "tool", True)]
    both, _ = read(call("t1", "Skill", skill="pdf"), result("t1", outcome={"success": True}), body("pdf"))
    assert uses(both) == [("pdf", "tool", True)]


def test_of_two_calls_at_once_each_body_confirms_its_own() -> None:
    events, _ = read(call("t1", "Skill", skill="pdf"), call("t2", "Skill", skill="csv"), body("csv"), body("pdf"))
    assert [(use.name, use.call_id) for use in events if isinstance(use, SkillUse)] == [("csv", "t2"), ("pdf", "t1")]


def test_a_sub_agents_body_does_not_confirm_the_main_agents_call() -> None:
    events, _ = read(call("t1", "Skill", skill="pdf"), body("pdf", parent="another"))
    assert uses(events) == []


@pytest.mark.parametrize(("parent", "used"), [("agent", True), (None, False)])
def test_in_a_sub_agent_of_an_older_version_the_launch_line_is_the_proof(parent: str | None, used: bool) -> None:
    """2.1.197 prints neither an outcome nor the skill's text there; for the main agent it prints both."""
    launched = result("t1", "Launching skill: pdf", parent=parent)
    events, _ = read(call("t1", "Skill", parent=parent, skill="pdf"), launched)
    assert uses(events) == ([("pdf", "tool", True)] if used else [])


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("API Error: Unable to connect to API (ECONNRESET)", FailureKind.CONNECTION),
        ("API Error: Connection dropped (ECONNRESET). Check the gateway.", FailureKind.CONNECTION),
        ("Not logged in · Please run /login", FailureKind.NOT_SIGNED_IN),
        ("API Error: the agent's connection of ideas is refused", FailureKind.SERVER_ERROR),
    ],
)
def test_without_a_status_the_words_decide(words: str, kind: FailureKind) -> None:
    said = assistant({"type": "text", "text": words}, message={"model": "<synthetic>"}, error="server_error")
    ended = line(type="result", subtype="success", is_error=True, api_error_status=None, result=words)
    _, finished = read(INIT, said, ended, exit_code=1)
    assert finished.failure is not None and finished.failure.kind is kind


@pytest.mark.parametrize(
    ("error", "status", "words", "kind"),
    [
        ("rate_limit", 429, "You've hit your weekly limit · resets Aug 8, 7pm", FailureKind.NO_CREDIT),
        ("rate_limit", None, "Claude AI usage limit reached|1756200000", FailureKind.NO_CREDIT),
        (
            "rate_limit",
            429,
            "API Error: 429 This would exceed your organization's rate limit",
            FailureKind.RATE_LIMITED,
        ),
        ("billing_error", 400, "spend limit reached · resets Aug 8", FailureKind.NO_CREDIT),
        ("authentication_failed", None, "Your session is over · Please run /login", FailureKind.NOT_SIGNED_IN),
        ("invalid_request", 400, "API Error: 400 Output blocked by content filtering policy", FailureKind.AGENT_LIMIT),
        (None, None, "API Error: Overloaded", FailureKind.OVERLOADED),
        (None, None, "something new", FailureKind.UNKNOWN),
    ],
)
def test_fault_1_an_allowance_that_is_used_up_is_no_limit_of_rate(
    error: str | None, status: int | None, words: str, kind: FailureKind
) -> None:
    """The one lasts for hours and awaits every other trial; the other is over in seconds."""
    said = assistant({"type": "text", "text": words}, message={"model": "<synthetic>"}, error=error)
    ended = line(type="result", subtype="success", is_error=True, api_error_status=status, result=words)
    _, finished = read(INIT, said, ended, exit_code=1)
    assert finished.failure is not None and finished.failure.kind is kind


@pytest.mark.parametrize("said", [{}, {"result": None}, {"result": ["fine"]}, {"result": 5}])
def test_fault_1_success_without_an_answer_is_nothing_to_grade(said: dict[str, Any]) -> None:
    _, finished = read(INIT, line(type="result", subtype="success", is_error=False, num_turns=1, **said))
    assert finished.answer is None
    assert finished.failure is not None and finished.failure.kind is FailureKind.UNREADABLE
    _, structured = read(INIT, line(type="result", subtype="success", structured_output={"a": 1}, **said))
    assert (structured.failure, structured.structured) == (None, {"a": 1})


def test_a_refused_call_is_reported_unconfirmed() -> None:
    events, _ = read(call("t1", "Skill", skill="nope"), result("t1", "Unknown skill: nope", error=True))
    assert uses(events) == [("nope", "tool", False)]


@pytest.mark.parametrize(("slash", "confirmed"), [("pdf", True), ("other", False)])
def test_a_slash_command_counts_where_it_exists(slash: str, confirmed: bool) -> None:
    events, _ = read(INIT, END, slash=slash)
    assert uses(events) == [(slash, "slash", confirmed)]


def test_only_the_first_introduction_counts() -> None:
    events, _ = read(INIT, INIT, END)
    assert [type(event) for event in events] == [Started]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat .claude/skills/pdf/SKILL.md", f"{WORK}/.claude/skills/pdf/SKILL.md"),
        ("cd .claude/skills/pdf && sed -n '1,99p' SKILL.md | head -20", f"{WORK}/.claude/skills/pdf/SKILL.md"),
        (f"head -5 < {WORK}/.claude/skills/pdf/SKILL.md", f"{WORK}/.claude/skills/pdf/SKILL.md"),
        ("ls; cat '.claude/skills/pdf/SKILL.md'; true", f"{WORK}/.claude/skills/pdf/SKILL.md"),
        ("X=1 cat ./.claude/skills/../skills/pdf/SKILL.md", f"{WORK}/.claude/skills/pdf/SKILL.md"),
        ("ls .claude/skills/pdf/SKILL.md", None),
        ("echo x > .claude/skills/pdf/SKILL.md", None),
        ("cat notes.md > .claude/skills/pdf/SKILL.md", None),
        ("echo cat .claude/skills/pdf/SKILL.md", None),
        ("cat ~/.claude/skills/pdf/SKILL.md", None),
        ("cat /other/.claude/skills/pdf/SKILL.md", None),
        ("cat .claude/skills/pdf/report.md", None),
        ("cat .claude/skills/pdf/SKILL.md.bak", None),
        ("cat 'unclosed", None),
    ],
)
def test_fault_6_a_read_in_the_shell_is_the_very_file_or_none(command: str, path: str | None) -> None:
    events, _ = read(call("t1", "Bash", command=command), result("t1", "---\nname: pdf"))
    found = [(use.name, use.how, use.confirmed, use.path) for use in events if isinstance(use, SkillUse)]
    assert found == ([("pdf", "read", True, path)] if path else [])


def test_a_read_that_failed_is_no_use() -> None:
    path = f"{WORK}/.claude/skills/pdf/SKILL.md"
    events, _ = read(call("t1", "Read", file_path=path), result("t1", "File does not exist.", error=True))
    assert uses(events) == [("pdf", "read", False)]


def test_redirections_and_folders_are_followed() -> None:
    command = "cd a/b; cat x >y; cd ..; tail ~/z 2>/dev/null | tee t && (head v)"
    assert [path for path in files_read(command, "/w", "/h") if path != "/w/a/2"] == ["/w/a/b/x", "/h/z", "/w/a/v"]


def test_what_the_cli_says_for_itself_is_no_text_of_the_agent() -> None:
    said = assistant({"type": "text", "text": "API Error: x"}, message={"model": "<synthetic>"}, error="server_error")
    ended = line(type="result", subtype="success", is_error=True, api_error_status=None, result="API Error: x")
    events, finished = read(INIT, assistant({"type": "text", "text": "Hm."}), said, ended, exit_code=1)
    assert [event.text for event in events if isinstance(event, Text)] == ["Hm."]
    assert finished.answer is None
    assert finished.failure is not None and finished.failure.kind is FailureKind.SERVER_ERROR


def test_fault_16_unknown_usage_is_none() -> None:
    _, finished = read(INIT, line(type="result", subtype="success", is_error=False, result="fine"))
    assert (finished.usage.tokens, finished.usage.cost_usd, finished.usage.turns) == (None, None, None)


@pytest.mark.parametrize("value", ["Infinity", "NaN", "1e999", "1" + "0" * 400, '"12"', "true"])
def test_a_number_that_is_none_is_unknown(value: str) -> None:
    row = '{"inputTokens":VALUE}'.replace("VALUE", value)
    end = f'{{"type":"result","subtype":"success","result":"","num_turns":{value},"modelUsage":{{"m":{row}}}}}'
    _, finished = read(INIT, end.encode())
    assert finished.usage.turns is None
    assert finished.usage.tokens is not None and finished.usage.tokens.total == 0


def test_tokens_are_summed_over_models_and_kinds() -> None:
    row = {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 30, "cacheCreationInputTokens": 400}
    _, finished = read(INIT, line(type="result", subtype="success", result="", modelUsage={"big": row, "small": row}))
    assert finished.usage.tokens is not None and finished.usage.tokens.total == 866
    assert finished.models == ("big", "small")


def test_the_last_of_several_results_counts() -> None:
    early = line(type="result", subtype="success", is_error=False, result="", num_turns=0, modelUsage={})
    _, finished = read(INIT, early, INIT, END)
    assert finished.answer == "fine"


def test_fault_2_a_result_without_a_question_is_no_answer() -> None:
    """An earlier user message ends so, and a command of the CLI's own such as `/compact`."""
    unasked = line(type="result", subtype="success", is_error=False, result="", num_turns=0, modelUsage={})
    _, finished = read(INIT, unasked)
    assert finished.answer is None
    assert finished.failure is not None and "without asking the model" in finished.failure.message
    _, killed = read(INIT, unasked, exit_code=143)
    assert killed.failure is not None and killed.failure.kind is FailureKind.CRASHED


@pytest.mark.parametrize(
    ("lines", "exit_code", "kind"),
    [
        ((), 0, FailureKind.CRASHED),
        ((), 1, FailureKind.CRASHED),
        ((INIT,), None, FailureKind.CRASHED),
        ((b"Done.",), 0, FailureKind.UNREADABLE),
        ((b"Segmentation fault",), 139, FailureKind.CRASHED),
        ((INIT, line(type="result", subtype="error_during_execution", is_error=True)), 1, FailureKind.CRASHED),
        ((INIT, line(type="result", subtype="error_of_tomorrow", is_error=True)), 1, FailureKind.UNKNOWN),
    ],
)
def test_fault_2_no_result_is_a_failure(lines: tuple[bytes, ...], exit_code: int | None, kind: FailureKind) -> None:
    _, finished = read(*lines, exit_code=exit_code)
    assert finished.answer is None
    assert finished.failure is not None and finished.failure.kind is kind


def test_unknown_kinds_pass_through_and_are_counted() -> None:
    events, finished = read(INIT, line(type="dream"), line(type="system", subtype="omen"), b"[1]", b"", END)
    assert [(event.type, event.known) for event in events if isinstance(event, Other)] == [
        ("dream", False),
        ("omen", False),
        ("unreadable", False),
    ]
    assert finished.answer == "fine"


def test_a_line_with_bytes_that_are_no_utf8_is_still_read() -> None:
    events, _ = read(result("t1", "PLACE").replace(b"PLACE", b"caf\xe9"))
    assert events == [ToolResult("t1", "caf\ufffd")]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYS = (
    "message",
    "event",
    "tool_use_result",
    "subtype",
    "modelUsage",
    "num_turns",
    "total_cost_usd",
    "retry_delay_ms",
)


@pytest.mark.slow
@given(
    st.sampled_from(["system", "assistant", "user", "result", "stream_event", "x"]),
    st.dictionaries(st.sampled_from(_KEYS), _JSON, max_size=4),
    st.binary(max_size=20),
)
def test_nothing_strange_raises(kind: str, fields: dict[str, Any], noise: bytes) -> None:
    parser = ClaudeCodeParser(work=WORK)
    for one in (line(type=kind, **fields), noise, line(type=kind, **fields)[: len(noise)]):
        list(parser.feed(one))
    assert parser.end(1, "").answer is None or kind == "result"


@pytest.mark.parametrize("strange", [-1, -0.5, float("nan"), float("inf"), 10**400, "7", True, [1], None])
def test_a_figure_that_none_can_be_is_unknown(strange: Any) -> None:
    used = {"m": {"inputTokens": strange, "outputTokens": 3}}
    told = {"modelUsage": used, "total_cost_usd": strange, "num_turns": strange}
    _, finished = read(INIT, line(type="result", subtype="success", result="fine", **told))
    assert finished.answer == "fine"
    assert finished.usage.tokens is not None and finished.usage.tokens.total == 3
    assert (finished.usage.cost_usd, finished.usage.turns) == (None, None)
