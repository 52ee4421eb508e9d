"""Every recording of the real Claude Code reads as its name says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skill_assay.agents.claude_code_parser import ClaudeCodeParser
from skill_assay.errors import FailureKind as Kind
from skill_assay.model.transcript import Event, Finished, Other, Retrying, SkillUse, Started, Text, ToolCall, ToolResult

WORK = "/home/dev/trial/ws"
DONE = "Done: wrote report.md with totals."
TOTALS = "The CSV has two columns and two rows; totals are a=4 and b=6."
CSV = ("csv-report", "tool", True)


@dataclass(frozen=True)
class Reading:
    """What a recording holds."""

    uses: tuple[tuple[str, str, bool], ...] = ()
    calls: tuple[str, ...] = ()
    answer: str | None = None
    failure: Kind | None = None
    status: int | None = None
    retries: tuple[Kind, ...] = ()
    tool_errors: int = 0
    tokens: int | None = 1242
    exit_code: int | None = 0
    slash: str | None = None
    structured: object = None
    more: Callable[[list[Event], Finished], bool] = field(default=lambda _events, _finished: True)


def _wait_seconds(events: list[Event], _: Finished) -> bool:
    waits = [event.wait_seconds for event in events if isinstance(event, Retrying)]
    return waits == [0.56, 1.193, 2.023, 4.424, 8.136, 19.814, 35.687, 34.038]


def _says_why(_: list[Event], finished: Finished) -> bool:
    return finished.failure is not None and "stream-json" in str(finished.failure.detail)


def _inside_a_sub_agent(events: list[Event], _: Finished) -> bool:
    inner = [event for event in events if isinstance(event, ToolCall) and event.parent]
    return len(inner) >= 1 and all(event.name in ("Agent", "Bash") for event in inner)


def _turns(events: list[Event], finished: Finished) -> bool:
    return finished.usage.turns == 3 and sum(isinstance(event, ToolResult) for event in events) == 2


R = Reading
TABLE: dict[str, Reading] = {
    "claude2.1.197_skill_first": R((CSV,), ("Skill", "Write"), DONE, tokens=3726),
    "claude2.1.197_text_only": R((), (), TOTALS),
    "claude_bash_then_skill": R((CSV,), ("Bash", "Skill", "Write"), DONE, tokens=4968),
    "claude_command_file_as_skill": R((("shipit", "tool", True),), ("Skill",), DONE, tokens=2484),
    "claude_connection_drop_retries_killed": R(
        failure=Kind.CRASHED, retries=(Kind.CONNECTION,) * 8, tokens=None, exit_code=-9, more=_wait_seconds
    ),
    "claude_error_400": R(failure=Kind.BAD_REQUEST, status=400, tokens=None, exit_code=1),
    "claude_error_401": R(
        failure=Kind.NOT_SIGNED_IN, status=401, retries=(Kind.NOT_SIGNED_IN,), tokens=None, exit_code=1
    ),
    "claude_error_401_noretry": R(failure=Kind.NOT_SIGNED_IN, status=401, tokens=None, exit_code=1),
    "claude_error_429": R(
        failure=Kind.RATE_LIMITED,
        status=429,
        retries=(Kind.RATE_LIMITED,),
        tokens=None,
        exit_code=1,
        more=lambda _, finished: finished.failure is not None and finished.failure.retry_after == 1.079,
    ),
    "claude_error_500_midrun": R(
        (CSV,), ("Skill",), failure=Kind.SERVER_ERROR, status=500, retries=(Kind.SERVER_ERROR,), exit_code=1
    ),
    "claude_error_529": R(failure=Kind.OVERLOADED, status=529, retries=(Kind.OVERLOADED,), tokens=None, exit_code=1),
    "claude_json_schema": R(
        (CSV,),
        ("Skill", "StructuredOutput"),
        '{"total_a":4,"ok":true}',
        structured={"total_a": 4, "ok": True},
        tokens=2484,
    ),
    "claude_killed_bash_sigkill_group": R((), ("Bash",), failure=Kind.CRASHED, tokens=None, exit_code=-9),
    "claude_killed_bash_sigkill_pid": R((), ("Bash",), failure=Kind.CRASHED, tokens=None, exit_code=-9),
    "claude_killed_bash_sigterm_pid": R((), ("Bash",), failure=Kind.CRASHED, tool_errors=1, tokens=None, exit_code=143),
    "claude_killed_sigterm": R((CSV,), ("Skill",), failure=Kind.CRASHED, tokens=None, exit_code=143),
    "claude_max_budget": R((), ("Skill",), failure=Kind.TRIAL_CAP, exit_code=1),
    "claude_max_tokens_stop": R((), (), "This answer is cut", Kind.AGENT_LIMIT, tokens=4968, exit_code=1),
    "claude_max_turns": R((CSV,), ("Skill", "Bash"), None, Kind.AGENT_LIMIT, tokens=2484, exit_code=1, more=_turns),
    "claude_no_skill": R((), ("Bash", "Write"), DONE, tokens=3726),
    "claude_other_skill_first": R((("pdf-fill", "tool", True), CSV), ("Skill", "Skill", "Write"), DONE, tokens=4968),
    "claude_output_json": R(failure=Kind.UNREADABLE, tokens=3726, more=_says_why),
    "claude_output_text": R(failure=Kind.UNREADABLE, tokens=None, more=_says_why),
    "claude_permission_denied": R(
        (CSV,), ("Skill", "Write"), "I could not write the file.", tool_errors=1, tokens=3726
    ),
    "claude_read_skill_md": R((("csv-report", "read", True),), ("Read", "Write"), DONE, tokens=3726),
    "claude_skill_context_fork": R(
        (("forked", "tool", True),), ("Skill", "Bash"), "fin", tokens=4968, more=_inside_a_sub_agent
    ),
    "claude_skill_first": R((CSV,), ("Skill", "Write"), DONE, tokens=3726),
    "claude_sse_error_midstream": R((), (), None, Kind.SERVER_ERROR, tokens=4804, exit_code=1),
    # Its sub-agents only call further ones: no skill is in fact used in it.
    "claude_subagent_uses_skill": R((), ("Agent", "Agent"), DONE, tokens=9936, more=_inside_a_sub_agent),
    "claude_text_only": R((), (), TOTALS),
    "claude_unknown_skill": R((("does-not-exist", "tool", False),), ("Skill",), DONE, tool_errors=1, tokens=2484),
    "claude_user_slash_invocation": R(
        (("csv-report", "slash", True),), ("Write",), DONE, slash="csv-report", tokens=2484
    ),
}


def parse(path: Path, reading: Reading) -> tuple[list[Event], Finished]:
    parser = ClaudeCodeParser(work=WORK, home="/home/dev", slash=reading.slash)
    events = [event for line in path.read_bytes().split(b"\n") for event in parser.feed(line)]
    return events, parser.end(reading.exit_code, "")


@pytest.mark.parametrize("name", TABLE)
def test_a_recording_reads_as_its_name_says(shared_data: Path, name: str) -> None:
    """Faults 1, 2, 5, 6 and 16, on what the real program printed."""
    reading = TABLE[name]
    events, finished = parse(shared_data / "streams" / f"{name}.jsonl", reading)
    assert tuple((e.name, e.how, e.confirmed) for e in events if isinstance(e, SkillUse)) == reading.uses
    assert tuple(event.name for event in events if isinstance(event, ToolCall)) == reading.calls
    failure = finished.failure
    assert (failure and failure.kind, failure and failure.status) == (reading.failure, reading.status)
    assert finished.answer == reading.answer
    assert finished.structured == reading.structured
    assert tuple(event.failure.kind for event in events if isinstance(event, Retrying)) == reading.retries
    assert sum(event.is_error for event in events if isinstance(event, ToolResult)) == reading.tool_errors
    assert (finished.usage.tokens.total if finished.usage.tokens else None) == reading.tokens
    unknown = [event.type for event in events if isinstance(event, Other) and not event.known]
    assert unknown == (["unreadable"] if name == "claude_output_text" else [])
    assert sum(isinstance(event, Started) for event in events) == (not name.startswith("claude_output"))
    assert reading.more(events, finished)


def test_every_recording_is_in_the_table(shared_data: Path) -> None:
    assert {path.stem for path in (shared_data / "streams").glob("claude*.jsonl")} == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_each_call_and_text_comes_once_with_and_without_partials(shared_data: Path, name: str) -> None:
    """What the fast path skips can't matter: a recording without its partial lines reads the same."""
    lines = (shared_data / "streams" / f"{name}.jsonl").read_bytes().split(b"\n")
    whole, bare = (ClaudeCodeParser(work=WORK) for _ in range(2))
    kinds = (ToolCall, Text, SkillUse, ToolResult)
    first = [event for line in lines for event in whole.feed(line) if isinstance(event, kinds)]
    second = [e for line in lines if b'"stream_event"' not in line for e in bare.feed(line) if isinstance(e, kinds)]
    assert first == second
    assert whole.end(0, "") == bare.end(0, "")
    ids = [event.id for event in first if isinstance(event, ToolCall)]
    assert len(ids) == len(set(ids))


def test_tokens_so_far_never_pass_the_bill(shared_data: Path) -> None:
    for name, reading in TABLE.items():
        parser = ClaudeCodeParser(work=WORK)
        for line in (shared_data / "streams" / f"{name}.jsonl").read_bytes().split(b"\n"):
            list(parser.feed(line))
        assert reading.tokens is None or parser.tokens_so_far <= reading.tokens, name
    parser = ClaudeCodeParser(work=WORK)
    for line in (shared_data / "streams" / "claude_skill_first.jsonl").read_bytes().split(b"\n"):
        list(parser.feed(line))
    assert parser.tokens_so_far == 3726
