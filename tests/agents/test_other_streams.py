"""Every recording of the other real CLIs reads as its name says."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from skill_assay.agents.codex_parser import CodexParser
from skill_assay.agents.copilot_parser import CopilotParser
from skill_assay.agents.gemini_parser import GeminiParser
from skill_assay.agents.opencode_parser import OpenCodeParser
from skill_assay.agents.pi_parser import PiParser
from skill_assay.agents.qwen_parser import QwenParser
from skill_assay.errors import FailureKind as Kind
from skill_assay.model.protocols import Parser
from skill_assay.model.transcript import (
    Event,
    Finished,
    Other,
    Retrying,
    SkillUse,
    Started,
    Text,
    Tokens,
    ToolCall,
    ToolResult,
)

WORK = "/home/dev/trial/ws"
PARSERS: dict[str, Callable[..., Parser]] = {
    "codex": CodexParser,
    "copilot": CopilotParser,
    "gemini": GeminiParser,
    "opencode": OpenCodeParser,
    "pi": PiParser,
    "qwen": QwenParser,
}
DONE = "Done: wrote report.md."
CSV, PDF, NOPE = "csv-report", "pdf-fill", "nope-skill"
SHELL, CHANGE = "command_execution", "file_change"


@dataclass(frozen=True)
class Reading:
    """What a recording holds."""

    uses: tuple[tuple[str, str, bool], ...] = ()
    calls: tuple[str, ...] = ()
    answer: str | None = DONE
    failure: Kind | None = None
    status: int | None = None
    retries: tuple[Kind, ...] = ()
    tool_errors: int = 0
    rounds: int | None = None
    """Answers of the model that were counted, 1,242 tokens each; `None`: no tokens are told."""
    exit_code: int | None = 0


R = Reading
FAILED = R(answer=None, exit_code=1)


def failed(kind: Kind, status: int | None = None, **more: object) -> Reading:
    return dataclasses.replace(FAILED, failure=kind, status=status, **more)  # type: ignore[arg-type]


def read(name: str) -> tuple[str, str, bool]:
    return (name, "read", True)


def tool(name: str, confirmed: bool = True) -> tuple[str, str, bool]:
    return (name, "tool", confirmed)


TABLE: dict[str, Reading] = {
    "codex_apply_patch_shell": R(calls=(CHANGE,), rounds=2),
    "codex_bash_then_skill": R((read(CSV),), (SHELL, SHELL), rounds=3),
    "codex_danger_sandbox": R(calls=(SHELL,), rounds=2),
    "codex_error_400": failed(Kind.BAD_REQUEST),
    "codex_error_401": failed(Kind.NOT_SIGNED_IN, 401, retries=(Kind.NOT_SIGNED_IN,)),
    "codex_error_429": failed(Kind.RATE_LIMITED, 429),
    "codex_error_500": failed(Kind.SERVER_ERROR, retries=(Kind.SERVER_ERROR,)),
    "codex_error_midrun": failed(Kind.SERVER_ERROR, retries=(Kind.SERVER_ERROR,), uses=(read(CSV),), calls=(SHELL,)),
    "codex_no_git_check_flag": R(rounds=1),
    "codex_no_skill": R(calls=(SHELL,), rounds=2),
    "codex_other_skill_first": R((read(PDF), read(CSV)), (SHELL, SHELL), rounds=3),
    "codex_output_schema": R(calls=(SHELL,), answer='{"total_a":4,"ok":true}', rounds=2),
    "codex_output_schema_violation": R(answer="this is not JSON", rounds=1),
    "codex_plan_tool": R(rounds=2),
    "codex_readonly_write": R(rounds=2),
    "codex_response_failed": failed(Kind.CONNECTION, retries=(Kind.CONNECTION,)),
    "codex_skill_first": R((read(CSV),), (SHELL, SHELL), rounds=3),
    "codex_text_only": R(answer="Totals are a=4, b=6.", rounds=1),
    "codex_unknown_tool": R(rounds=2),
    "codex_workspace_write": R(calls=(SHELL,), rounds=2),
    "copilot_bash_then_skill": R((tool(CSV),), ("bash", "skill")),
    "copilot_error_401": failed(Kind.NOT_SIGNED_IN, 401, retries=(Kind.NOT_SIGNED_IN,) * 3),
    "copilot_error_503": failed(Kind.SERVER_ERROR, 503, retries=(Kind.SERVER_ERROR,) * 6),
    "copilot_no_skill": R(calls=("bash",)),
    "copilot_skill_first": R((tool(CSV),), ("skill", "bash")),
    "copilot_unknown_skill": R((tool(NOPE, False),), ("skill",), tool_errors=1),
    "gemini_bash_then_skill": R((tool(CSV),), ("run_shell_command", "activate_skill"), rounds=3),
    "gemini_error_401": failed(Kind.NOT_SIGNED_IN),
    "gemini_error_503": failed(Kind.CRASHED, exit_code=-15),
    "gemini_no_skill": R(calls=("run_shell_command",), rounds=2),
    "gemini_skill_first": R((tool(CSV),), ("activate_skill", "run_shell_command"), rounds=3),
    "gemini_unknown_skill": R((tool(NOPE, False),), ("activate_skill",), tool_errors=1, rounds=2),
    # Its skill tool needs ripgrep, which was missing then: the call failed, so nothing was used.
    "opencode_bash_then_skill": R((tool(CSV, False),), ("bash", "skill"), tool_errors=1, rounds=3),
    "opencode_error_401": failed(Kind.NOT_SIGNED_IN, 401),
    "opencode_no_skill": R(calls=("bash",), rounds=2),
    "opencode_skill_first": R((tool(CSV),), ("skill", "bash"), answer="Done.", rounds=3),
    "opencode_unknown_skill": R((tool(NOPE, False),), ("skill",), tool_errors=1, rounds=2),
    "pi_bash_then_skill": R((read(CSV),), ("bash", "read"), rounds=3),
    "pi_error_401": failed(Kind.NOT_SIGNED_IN, 401, exit_code=0),
    "pi_error_503": failed(Kind.SERVER_ERROR, 503, exit_code=0, retries=(Kind.SERVER_ERROR,) * 3),
    "pi_no_skill": R(calls=("bash",), rounds=2),
    "pi_skill_first": R((read(CSV),), ("read", "bash"), rounds=3),
    "pi_unknown_skill": R(((NOPE, "read", False),), ("read",), tool_errors=1, rounds=2),
    "qwen_bash_then_skill": R((tool(CSV),), ("run_shell_command", "skill"), rounds=3),
    "qwen_error_401": failed(Kind.NOT_SIGNED_IN, 401),
    "qwen_error_503": failed(Kind.CRASHED, exit_code=-15),
    "qwen_no_skill": R(calls=("run_shell_command",), rounds=2),
    "qwen_skill_first": R((tool(CSV),), ("skill", "run_shell_command"), rounds=3),
    "qwen_unknown_skill": R((tool(NOPE, False),), ("skill",), tool_errors=1, rounds=2),
}


def parse(path: Path, exit_code: int | None) -> tuple[list[Event], Finished]:
    parser = PARSERS[path.stem.partition("_")[0]](work=WORK, home="/home/dev")
    events = [event for line in path.read_bytes().split(b"\n") for event in parser.feed(line)]
    return events, parser.end(exit_code, "")


@pytest.mark.parametrize("name", TABLE)
def test_a_recording_reads_as_its_name_says(shared_data: Path, name: str) -> None:
    """Faults 1, 2, 5, 6 and 16, on what the real programs printed."""
    want = TABLE[name]
    events, finished = parse(shared_data / "streams" / f"{name}.jsonl", want.exit_code)
    assert tuple((e.name, e.how, e.confirmed) for e in events if isinstance(e, SkillUse)) == want.uses
    assert tuple(event.name for event in events if isinstance(event, ToolCall)) == want.calls
    failure = finished.failure
    assert (failure and failure.kind, failure and failure.status) == (want.failure, want.status)
    assert finished.answer == want.answer
    assert tuple(event.failure.kind for event in events if isinstance(event, Retrying)) == want.retries
    assert sum(event.is_error for event in events if isinstance(event, ToolResult)) == want.tool_errors
    tokens = finished.usage.tokens
    assert (tokens and tokens.total) == (None if want.rounds is None else 1242 * want.rounds)
    assert [event.type for event in events if isinstance(event, Other)] == []
    assert sum(isinstance(event, Started) for event in events) == 1
    calls = [event.id for event in events if isinstance(event, ToolCall)]
    answered = [event.call_id for event in events if isinstance(event, ToolResult)]
    assert len(set(calls)) == len(calls) and calls == answered


def test_every_recording_is_in_the_table(shared_data: Path) -> None:
    names = {path.stem for path in (shared_data / "streams").glob("*.jsonl") if not path.stem.startswith("claude")}
    assert names == set(TABLE)


@pytest.mark.parametrize("name", [name for name, want in TABLE.items() if want.failure is None])
def test_what_was_said_last_is_the_answer(shared_data: Path, name: str) -> None:
    events, finished = parse(shared_data / "streams" / f"{name}.jsonl", 0)
    assert [event.text for event in events if isinstance(event, Text)][-1] == finished.answer


@pytest.mark.parametrize("name", [name for name, want in TABLE.items() if want.failure is None])
def test_a_recording_cut_before_its_end_is_no_answer(shared_data: Path, name: str) -> None:
    """Fault 5: killed in mid-work, whatever was said until then."""
    path = shared_data / "streams" / f"{name}.jsonl"
    parser = PARSERS[name.partition("_")[0]](work=WORK)
    lines = path.read_bytes().rstrip().split(b"\n")
    for line in lines[:-1]:
        list(parser.feed(line))
    finished = parser.end(-9, "")
    assert finished.answer is None
    assert finished.failure is not None and finished.failure.kind is Kind.CRASHED


@pytest.mark.parametrize("agent", PARSERS)
def test_an_unknown_line_passes_through_and_is_counted(agent: str) -> None:
    lines = [b'{"type": "from_the_future", "data": {}}', b"no JSON", b"[1]", b'{"type": ["odd"]}', b"{}", b"", b"\xff{"]
    parser = PARSERS[agent]()
    events = [event for line in lines for event in parser.feed(line)]
    others = [event for event in events if isinstance(event, Other)]
    assert len(others) == 6 and not any(event.known for event in others)
    assert parser.end(1, "").answer is None


@pytest.mark.parametrize("agent", PARSERS)
@pytest.mark.parametrize(("exit_code", "kind"), [(0, Kind.UNREADABLE), (1, Kind.CRASHED), (None, Kind.CRASHED)])
def test_nothing_printed_is_a_failure(agent: str, exit_code: int | None, kind: Kind) -> None:
    """Fault 5: never an empty answer."""
    failure = PARSERS[agent]().end(exit_code, "").failure
    assert failure is not None and failure.kind is kind


@pytest.mark.parametrize("agent", PARSERS)
def test_a_sign_in_refused_before_any_event_is_told_as_such(agent: str) -> None:
    failure = PARSERS[agent]().end(1, "Error: not logged in. Invalid API key.\n").failure
    assert failure is not None and failure.kind is Kind.NOT_SIGNED_IN


def test_cached_tokens_are_kept_apart(shared_data: Path) -> None:
    for name in ("codex_text_only", "opencode_no_skill", "pi_no_skill", "qwen_no_skill"):
        _, finished = parse(shared_data / "streams" / f"{name}.jsonl", 0)
        rounds = TABLE[name].rounds or 0
        assert finished.usage.tokens == Tokens(1000 * rounds, 42 * rounds, 200 * rounds), name


def test_pi_tells_its_own_price(shared_data: Path) -> None:
    _, finished = parse(shared_data / "streams" / "pi_no_skill.jsonl", 0)
    assert finished.usage.cost_usd == pytest.approx(2 * 0.001084)


def test_codex_is_priced_by_the_model_asked_for(shared_data: Path) -> None:
    lines = (shared_data / "streams" / "codex_text_only.jsonl").read_bytes().split(b"\n")
    for model, price in (("gpt-5", (1000 * 1.25 + 200 * 0.125 + 42 * 10) / 1e6), (None, None), ("no-such-model", None)):
        parser = CodexParser(model=model)
        for line in lines:
            list(parser.feed(line))
        cost = parser.end(0, "").usage.cost_usd
        assert cost == (None if price is None else pytest.approx(price))


def test_copilot_that_was_told_to_end_has_no_answer() -> None:
    """Fault 5: it may still close its stream with a result, and end with 0, in the middle of its work."""
    begun: list[dict[str, object]] = [
        {"type": "session.tools_updated", "data": {"model": "m"}},
        {"type": "assistant.message", "data": {"content": "Let me look.", "model": "m"}},
    ]
    for aborted, answer in ((True, None), (False, "Let me look.")):
        ended = [{"type": "assistant.idle", "data": {"aborted": aborted}}, {"type": "result", "exitCode": 0}]
        parser = CopilotParser()
        for line in (*begun, *ended):
            list(parser.feed(json.dumps(line).encode()))
        finished = parser.end(0, "")
        assert (finished.answer, finished.failure is None) == (answer, not aborted)


def test_gemini_that_stops_in_a_loop_gave_up() -> None:
    """It ends with "success"; what it had said is graded, and the end is told as what it was."""
    lines = [
        {"type": "init", "model": "m"},
        {"type": "message", "role": "assistant", "content": "again", "delta": True},
        {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"},
        {"type": "result", "status": "success", "stats": {"models": {}}},
    ]
    parser = GeminiParser()
    for line in lines:
        list(parser.feed(json.dumps(line).encode()))
    finished = parser.end(0, "")
    assert finished.answer == "again"
    assert finished.failure is not None and finished.failure.kind is Kind.AGENT_LIMIT


@pytest.mark.parametrize(
    ("reason", "output", "answer", "kind"),
    [
        ("stop", 5, "half", None),
        ("unknown", 5, "half", None),
        ("unknown", 0, None, Kind.CONNECTION),
        ("other", 0, None, Kind.CONNECTION),
        ("error", 5, None, Kind.CONNECTION),
        ("length", 5, "half", Kind.AGENT_LIMIT),
        ("content-filter", 0, "half", Kind.AGENT_LIMIT),
        ({}, 5, "half", None),
    ],
)
def test_fault_1_the_reason_for_which_opencode_s_last_step_ended_says_whether_it_is_an_answer(
    reason: object, output: int, answer: str | None, kind: Kind | None
) -> None:
    parser = OpenCodeParser()
    finish = {"type": "step-finish", "reason": reason, "tokens": {"input": 7, "output": output}}
    for one in ({"type": "text", "part": {"text": "half"}}, {"type": "step_finish", "part": finish}):
        list(parser.feed(json.dumps(one).encode()))
    finished = parser.end(0, "")
    assert (finished.answer, finished.failure and finished.failure.kind) == (answer, kind)


@pytest.mark.parametrize("said", [{}, {"result": None}, {"result": ["fine"]}])
def test_fault_1_qwen_s_success_without_an_answer_is_nothing_to_grade(said: dict[str, object]) -> None:
    parser = QwenParser()
    list(parser.feed(json.dumps({"type": "result", "subtype": "success", "is_error": False, **said}).encode()))
    finished = parser.end(0, "")
    assert finished.answer is None and finished.failure is not None and finished.failure.kind is Kind.UNREADABLE
