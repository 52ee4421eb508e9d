"""Following an attempt's lines."""

from __future__ import annotations

from collections.abc import Iterable

from skill_assay.model.transcript import Event, Finished, SkillUse, Text
from skill_assay.runner.attempt import _Reader


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


def test_fault_6_what_comes_after_the_decision_is_no_part_of_it() -> None:
    use = SkillUse("report", "tool", confirmed=True)
    parser = Lines(Text("one"), Text("stop"), use)
    reader = _Reader(parser, Permit(), lambda event: "enough" if event == Text("stop") else None, None)  # type: ignore[arg-type]
    assert [reader.line(str(n).encode()) for n in range(3)] == [None, "enough", None]
    assert reader.watch.uses == []
    assert reader.watch.last_text == "stop"
