"""Following an attempt's lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skill_assay.agents.process import Exit
from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import Event, Finished, Retrying, SkillUse, Text
from skill_assay.runner.attempt import _failure, _Reader, _sum_up


class Lines:
    """A parser whose lines are already events."""

    def __init__(self, *events: Event) -> None:
        self._events = list(events)

    def feed(self, line: bytes) -> Iterable[Event]:
        return [self._events[int(line)]]

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        return Finished(None)


class Permit:
    """Nobody is slowed down here."""

    def slow_down(self, failure: Failure) -> None:
        pass


def test_fault_6_what_comes_after_the_decision_is_no_part_of_it() -> None:
    use = SkillUse("report", "tool", confirmed=True)
    parser = Lines(Text("one"), Text("stop"), use)
    reader = _Reader(parser, Permit(), lambda event: "enough" if event == Text("stop") else None, None)  # type: ignore[arg-type]
    assert [reader.line(str(n).encode()) for n in range(3)] == [None, "enough", None]
    assert reader.watch.uses == []
    assert reader.watch.last_text == "stop"


DOWN = Retrying(Failure(FailureKind.SERVER_ERROR, "503"))


def end(**more: Any) -> Exit:
    return Exit(-15, 1.0, **more)


def test_an_agent_that_repeats_a_failed_request_is_ended_with_that_failure() -> None:
    reader = _Reader(Lines(*[DOWN] * 9), Permit(), None, None)  # type: ignore[arg-type]
    said = [reader.line(str(n).encode()) for n in range(4)]
    assert said[:3] == [None] * 3 and said[3] is not None
    assert _failure(end(ended_early=said[3]), Finished(None), reader) == DOWN.failure
    attempt = _sum_up(1, "", end(ended_early=said[3]), reader, 0.0)
    assert attempt.failure == DOWN.failure and attempt.ended_early is None


def test_an_agent_that_waits_for_the_api_at_its_time_limit_failed_by_the_api() -> None:
    reader = _Reader(Lines(DOWN, Text("on")), Permit(), None, None)  # type: ignore[arg-type]
    reader.line(b"0")
    assert _failure(end(timed_out=True), Finished(None), reader) == DOWN.failure
    reader.line(b"1")
    limit = _failure(end(timed_out=True), Finished(None), reader)
    assert limit is not None and limit.kind is FailureKind.TIME_LIMIT


def test_a_decision_taken_before_stands() -> None:
    reader = _Reader(
        Lines(Text("stop"), *[DOWN] * 9), Permit(), lambda event: "x" if event == Text("stop") else None, None
    )  # type: ignore[arg-type]
    assert reader.line(b"0") == "x"
    for number in range(1, 8):
        reader.line(str(number).encode())
    assert _failure(end(ended_early="x"), Finished(None), reader) is None
    assert _sum_up(1, "", end(ended_early="x"), reader, 0.0).ended_early == "x"
