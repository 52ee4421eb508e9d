"""When a run is decided: by a confirmed use of the exact skill, or by the allowed turns, and by nothing else."""

from __future__ import annotations

import pytest

from skill_assay.model.transcript import Event, Finished, SkillUse, Text, ToolCall, ToolResult
from skill_assay.triggering.watch import Decider, TurnCounter

OWN = frozenset({"pdf", "pdf-tools"})


def use(name: str, confirmed: bool = True, parent: str | None = None) -> SkillUse:
    return SkillUse(name, "tool", confirmed, parent=parent)


def call(message: str | None = None, parent: str | None = None) -> ToolCall:
    return ToolCall("c", "Bash", {}, parent, message)


def done(parent: str | None = None) -> ToolResult:
    return ToolResult("c", "ok", parent=parent)


def decided(events: list[Event], decide_after: int | None = 4, subagents: bool = True) -> list[str]:
    decider = Decider(OWN, decide_after, subagents)
    return [text for text in map(decider, events) if text]


@pytest.mark.parametrize("name", ["pdf", "pdf-tools"])
def test_a_confirmed_use_decides(name: str) -> None:
    assert decided([use(name)]) == ["the skill was used"]


@pytest.mark.parametrize("name", ["report.pdf", "pdf-other", "plugin:pdf", "PDF", "pd", ""])
def test_fault_6_no_other_name_does(name: str) -> None:
    assert not decided([use(name)])


def test_fault_5_neither_another_tool_nor_another_skill_nor_a_refused_call_decides() -> None:
    assert not decided([Text("Let me look."), call(), done(), use("other"), use("pdf", confirmed=False)])
    assert decided([call(), done(), use("other"), use("pdf")]) == ["the skill was used"]


def test_uses_by_sub_agents_count_when_wanted() -> None:
    assert decided([use("pdf", parent="t1")])
    assert not decided([use("pdf", parent="t1")], subagents=False)


def test_turns_decide_only_when_the_next_one_begins() -> None:
    turn: list[Event] = [call(), done()]
    assert not decided(turn * 4)
    assert decided([*turn * 4, Text("And on.")]) == ["not used within 4 turns"]
    assert not decided(turn * 9, decide_after=None)
    # The use at the end of the last allowed turn still counts.
    assert decided([*turn * 3, call(), done(), use("pdf")]) == ["the skill was used"]


def test_a_turn_is_one_answer_however_much_it_holds() -> None:
    counter = TurnCounter()
    for event in (
        Text("a"),
        call(),
        call(),
        done(),
        done(),
        call(),
        done("t1"),
        call(parent="t1"),
        done(),
        Finished("x"),
    ):
        counter.see(event)
    assert counter.turns == 2


def test_by_the_messages_own_ids_results_in_between_do_not_split_an_answer() -> None:
    counter = TurnCounter()
    for event in (call("m1"), done(), call("m1"), done(), Text("t", None, "m2"), call("m2"), done()):
        counter.see(event)
    assert counter.turns == 2


def test_an_answer_first_seen_without_its_id_is_not_counted_twice() -> None:
    counter = TurnCounter()
    for event in (call("m1"), done(), call(None), Text("t", None, "m2"), done(), call("m3")):
        counter.see(event)
    assert counter.turns == 3
