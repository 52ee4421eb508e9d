"""Event lines and plain output of programs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.agents.event_lines import MAX_PLAIN_BYTES, REPORTABLE, ProgramParser
from skill_assay.errors import FailureKind
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

START = {"assay": 1, "type": "started"}


def play(
    *lines: Any, exit_code: int | None = 0, stderr: str = "", own_clock: bool = False
) -> tuple[list[Event], Finished]:
    parser = ProgramParser(own_clock=own_clock)
    events: list[Event] = []
    for line in lines:
        raw = line if isinstance(line, bytes) else json.dumps(line).encode()
        events += parser.feed(raw)
    return events, parser.end(exit_code, stderr)


def test_plain_output_is_the_answer() -> None:
    events, finished = play(b"", b"First line.", b"", b"last line.")
    assert events == []
    assert finished == Finished("First line.\n\nlast line.")


def test_plain_output_that_is_json_is_not_taken_for_event_lines() -> None:
    for line in (b'{"type": "finished", "answer": "no"}', b'{"assay": true, "type": "started"}', b'{"assay": 1}'):
        events, finished = play(line)
        assert events == []
        assert finished.answer == line.decode()


def test_event_lines_after_plain_text_stay_plain_text() -> None:
    _, finished = play(b"hello", START, {"type": "finished", "answer": "x"})
    assert finished.answer is not None
    assert finished.answer.startswith("hello\n{")


def test_every_kind_of_line() -> None:
    events, finished = play(
        {**START, "model": "m", "version": "2", "tools": ["Bash"], "skills": ["s"], "skill_signs": True},
        {"type": "tool_call", "id": "1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_result", "call_id": "1", "text": "a.csv", "is_error": True},
        {"type": "skill_use", "name": "/s", "confirmed": True, "how": "read", "path": "s/SKILL.md"},
        {"type": "retrying", "status": 529, "message": "busy", "wait_seconds": 2},
        {"type": "text", "text": "from a helper", "parent": "1"},
        {"type": "usage", "tokens": {"input": 5, "output": 2}, "cost_usd": 0.5, "turns": 1},
        {"type": "usage", "tokens": {"input": 1, "cache_read": 9}, "turns": 2},
        {"type": "finished", "answer": "Done.", "structured": {"a": 1}, "models": ["m"]},
    )
    assert events[:4] == [
        Started("m", "2", ("Bash",), ("s",), skill_signs=True),
        ToolCall("1", "Bash", {"command": "ls"}),
        ToolResult("1", "a.csv", is_error=True),
        SkillUse("s", "read", confirmed=True, path="s/SKILL.md"),
    ]
    assert isinstance(events[4], Retrying)
    assert events[4].failure.kind is FailureKind.OVERLOADED
    assert events[4].wait_seconds == 2
    assert events[5] == Text("from a helper", parent="1")
    assert finished.answer == "Done."
    assert finished.usage.tokens == Tokens(6, 2, 9, 0)
    assert (finished.usage.cost_usd, finished.usage.turns, finished.usage.api_seconds) == (0.5, 3, None)
    assert finished.structured == {"a": 1}
    assert finished.models == ("m",)


def test_the_answer_is_the_last_text_of_the_main_agent() -> None:
    _, finished = play(
        START,
        {"type": "text", "text": "mine"},
        {"type": "text", "text": "helper's", "parent": "1"},
        {"type": "finished"},
    )
    assert finished.answer == "mine"


def test_finished_without_a_word_is_an_empty_answer_and_no_failure() -> None:
    _, finished = play(START, {"type": "finished"})
    assert (finished.answer, finished.failure) == ("", None)


def test_unknown_usage_stays_unknown() -> None:
    _, finished = play(START, {"type": "finished"})
    assert finished.usage.tokens is None
    assert finished.usage.cost_usd is None


def test_only_a_simulated_agent_keeps_its_own_clock() -> None:
    lines = (START, {"type": "usage", "seconds": 41.5}, {"type": "finished"})
    assert play(*lines)[1].usage.seconds is None
    assert play(*lines, own_clock=True)[1].usage.seconds == 41.5


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"status": 429, "retry_after": 3}, FailureKind.RATE_LIMITED),
        ({"status": 401}, FailureKind.NOT_SIGNED_IN),
        ({"status": 503}, FailureKind.SERVER_ERROR),
        ({"kind": "connection"}, FailureKind.CONNECTION),
        ({"kind": "agent_limit"}, FailureKind.AGENT_LIMIT),
        ({"kind": "budget"}, FailureKind.UNKNOWN),
        ({"kind": "nonsense"}, FailureKind.UNKNOWN),
        ({}, FailureKind.UNKNOWN),
    ],
)
def test_fault_1_a_reported_error_is_a_failure_and_never_an_answer(line: dict[str, Any], kind: FailureKind) -> None:
    _, finished = play(
        START,
        {"type": "text", "text": "API Error: overloaded"},
        {"type": "error", **line},
        {"type": "finished", "answer": "API Error"},
    )
    assert finished.answer is None
    assert finished.failure is not None
    assert finished.failure.kind is kind
    assert finished.failure.retry_after == line.get("retry_after")


@pytest.mark.parametrize(
    ("lines", "exit_code", "kind"),
    [
        ((), 0, FailureKind.UNREADABLE),
        ((), 1, FailureKind.CRASHED),
        ((b"Error: no such model",), 1, FailureKind.CRASHED),
        ((b"half an ans",), -9, FailureKind.CRASHED),
        ((b"half an ans",), None, FailureKind.CRASHED),
        ((START, {"type": "text", "text": "half"}), 0, FailureKind.UNREADABLE),
        ((START, {"type": "text", "text": "half"}), 1, FailureKind.CRASHED),
        (({"assay": 2, "type": "started"}, {"type": "finished", "answer": "x"}), 0, FailureKind.UNREADABLE),
    ],
)
def test_fault_1_an_end_without_an_answer_is_a_failure(
    lines: tuple[Any, ...], exit_code: int | None, kind: FailureKind
) -> None:
    _, finished = play(*lines, exit_code=exit_code, stderr="Traceback\nKeyError: 'x'\n")
    assert finished.answer is None
    assert finished.failure is not None
    assert finished.failure.kind is kind


def test_a_crash_quotes_the_last_line_of_stderr() -> None:
    _, finished = play(exit_code=3, stderr="Traceback\nKeyError: 'x'\n\n")
    assert finished.failure is not None
    assert finished.failure.message == "it ended with exit code 3 and no answer: KeyError: 'x'"


def test_an_answer_stands_though_the_exit_code_is_not_zero() -> None:
    _, finished = play(START, {"type": "finished", "answer": "x"}, exit_code=1)
    assert (finished.answer, finished.failure) == ("x", None)


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[1]",
        b"\xff\xfe",
        {"type": "no_such"},
        {"type": 5},
        {"type": "text"},
        {"type": "text", "text": 4},
        {"type": "tool_call", "id": 1, "name": "x"},
        {"type": "skill_use", "name": "s"},
        {"type": "skill_use", "name": "s", "confirmed": True, "how": "guess"},
        {"type": "usage", "tokens": {"input": -1}},
        {"type": "usage", "cost_usd": True},
        {"type": "usage", "cost_usd": "0.1"},
        b'{"type": "usage", "cost_usd": NaN}',
        {"type": "finished", "answer": ["x"]},
        {"type": "error", "status": "429"},
    ],
)
def test_a_malformed_line_is_counted_and_changes_nothing(line: Any) -> None:
    events, finished = play(START, line, {"type": "finished", "answer": "x"})
    assert [event for event in events if isinstance(event, Other) and not event.known]
    assert (finished.answer, finished.failure, finished.usage.cost_usd) == ("x", None, None)


def test_plain_output_is_bounded_and_says_what_it_left_out() -> None:
    parser = ProgramParser()
    line = b"x" * 999_999
    for _ in range(5):
        assert not parser.feed(line)
    answer = parser.end(0, "").answer
    assert answer is not None
    assert answer.endswith("\n[1000000 further bytes of output left out]")
    assert len(answer) < MAX_PLAIN_BYTES + 100


SCALARS = st.none() | st.booleans() | st.integers(-2, 600) | st.floats() | st.text(max_size=5)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.fixed_dictionaries({}, optional={"input": SCALARS, "x": SCALARS})
KEYS = [
    "text",
    "id",
    "name",
    "input",
    "call_id",
    "tokens",
    "status",
    "kind",
    "answer",
    "how",
    "confirmed",
    "tools",
    "models",
    "wait_seconds",
    "cost_usd",
]
TYPES = ["started", "text", "tool_call", "tool_result", "skill_use", "retrying", "usage", "error", "finished"]
LINES = st.fixed_dictionaries({"type": st.sampled_from(TYPES)}, optional=dict.fromkeys(KEYS, VALUES))


@pytest.mark.slow
@given(st.lists(LINES, max_size=4), st.booleans())
def test_no_line_makes_it_raise(lines: list[dict[str, Any]], marked: bool) -> None:
    _, finished = play(*([START] if marked else []), *lines)
    assert (finished.answer is None) == (finished.failure is not None)


@given(st.lists(st.binary()), st.sampled_from([0, 1, -15, None]))
def test_no_bytes_make_it_raise(lines: list[bytes], exit_code: int | None) -> None:
    _, finished = play(*lines, exit_code=exit_code)
    assert (finished.answer is None) == (finished.failure is not None)


def test_what_a_program_may_report_leaves_out_what_only_we_can_know() -> None:
    assert FailureKind.TIME_LIMIT not in REPORTABLE
    assert FailureKind.RATE_LIMITED in REPORTABLE
