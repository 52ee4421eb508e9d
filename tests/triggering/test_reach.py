"""What Codex will not show or not do is said before anything is launched, and counted as unknown afterwards."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skill_assay.agents.codex import Codex
from skill_assay.agents.simulated import SimulatedAgent
from skill_assay.cli.trigger_run import exit_code
from skill_assay.formats.openai_yaml import OPENAI_YAML
from skill_assay.model.agent import Request
from skill_assay.model.place import Place
from skill_assay.model.transcript import Started
from skill_assay.model.trial import Attempt, State, Trial, TrialId
from skill_assay.model.trigger_results import RunState
from skill_assay.model.triggers import Query
from skill_assay.reports.trigger_html import triggers_page
from skill_assay.reports.trigger_terminal import render_triggers
from skill_assay.runner.engine import Ending, Stopped
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.reach import reach_notes
from skill_assay.triggering.record import results_record
from skill_assay.triggering.results import by_class, judge_query
from skill_assay.triggering.states import Names, run_of
from skill_assay.triggering.subject import read_subject
from skill_assay.triggering.watch import NOT_WITHIN
from tests.reports.test_trigger_reports import found as found
from tests.triggering.asking import NAME, query, write_skill

NAMES = Names(frozenset({NAME}), NAME, {})
QUERIES = [
    query(f"use ${NAME} now", True, tags=["explicit"]),
    query("greet me", True, tags=["implicit"]),
    query("what is the time?", False, tags=["negative-control"]),
]


def trial(query_id: str, signs: bool | None, used: bool | None, ended: str | None = None) -> Trial:
    attempt = Attempt(1, answer="x", started=Started(skill_signs=signs), ended_early=ended)
    return Trial(TrialId(query_id, "with_skill", 1), State.COMPLETED, (attempt,), skill_used=used)


def test_codex_is_told_apart_before_the_launch(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, QUERIES)
    (skill / "agents").mkdir()
    (skill / OPENAI_YAML).write_text("policy: {allow_implicit_invocation: false}\n")
    subject = read_subject(skill, TriggerChoice(), (), {})
    called, never = reach_notes(subject, Codex(env={}))
    assert called.startswith(f"1 of 2 positive queries call the skill by ${NAME} (1)") and "stays unknown" in called
    assert "never fires by itself" in never and "(1 of 2)" in never
    (skill / OPENAI_YAML).unlink()
    assert reach_notes(subject, Codex(env={})) == (called,)
    assert reach_notes(subject, SimulatedAgent(str(skill / "evals" / "simulated.json"))) == ()


def test_what_an_agent_declares_decides_not_its_name(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, QUERIES)
    (skill / "agents").mkdir()
    (skill / OPENAI_YAML).write_text("policy: {products: [chatgpt]}\n")
    subject = read_subject(skill, TriggerChoice(), (), {})
    other = SimulatedAgent(str(skill / "evals" / "simulated.json"))
    other.capabilities = replace(other.capabilities, openai_yaml=True)
    assert [note.partition(":")[0] for note in reach_notes(subject, other)] == [
        f"{OPENAI_YAML} names other products only"
    ]
    other.capabilities = replace(other.capabilities, openai_yaml=False, dollar_calls=True)
    (note,) = reach_notes(subject, other)
    assert "simulated puts its text in without a sign" in note


@pytest.mark.parametrize(
    ("prompt", "folder", "signs"),
    [(f"use ${NAME} now", NAME, False), (f"use ${NAME} now", None, None), ("use $another", NAME, None)],
)
def test_a_name_in_the_prompt_leaves_no_sign_where_the_skill_is_there(
    tmp_path: Path, prompt: str, folder: str | None, signs: bool | None
) -> None:
    place = Place(*[tmp_path] * 5)
    request = Request(prompt, place, "/w", "/h", "/t", skill_folder=folder, skill_name=folder and NAME)
    (started,) = Codex(env={}).parser(request).feed(b'{"type": "thread.started"}\n')
    assert isinstance(started, Started) and started.skill_signs is signs


@pytest.mark.parametrize("ended", [None, f"{NOT_WITHIN} 4 turns"])
def test_such_a_run_is_neither_a_miss_nor_an_error(ended: str | None) -> None:
    run = run_of(trial("1", False, None, ended), NAMES, True)
    assert run.state is RunState.UNSEEN and run.state.outcome is None and "leaves no sign" in run.message
    seen = run_of(trial("1", None, False, ended), NAMES, True)
    assert seen.state is RunState.NOT_TRIGGERED


def test_classes_are_reported_with_their_intervals_and_what_is_unknown(found) -> None:
    states = {"1": (False, None), "2": (None, True), "3": (None, False), "4": (None, False)}
    asked = [
        Query("1", f"use ${NAME}", True, tags=("explicit",)),
        Query("2", "greet me", True, tags=("implicit",)),
        Query("3", "the time?", False, tags=("negative-control",)),
        Query("4", "hello", True),
    ]
    queries = []
    for one in asked:
        signs, used = states[one.id]
        run = run_of(trial(one.id, signs, used), NAMES, True)
        state = RunState.TRIGGERED if used else run.state
        queries.append(judge_query(one, [replace(run, state=state)], 1, 0.5))
    figures = by_class(queries)
    assert list(figures) == ["explicit", "implicit", "negative-control", ""]
    explicit, implicit, negative, other = figures.values()
    assert (explicit.queries, explicit.undecided, explicit.unseen, explicit.as_wanted.n) == (1, 1, 1, 0)
    assert (implicit.as_wanted.count, implicit.as_wanted.n, implicit.fired.count) == (1, 1, 1)
    assert implicit.as_wanted.interval is not None and implicit.as_wanted.interval.low < 0.3
    assert (negative.as_wanted.count, negative.fired.count) == (1, 0) and other.as_wanted.count == 0
    results = replace(found, queries=tuple(queries), by_class=figures)
    text = render_triggers(results)
    assert "class of prompts" in text and "unknown" in text and "1 run without a sign" in text
    assert [line.split()[:4] for line in text.splitlines() if line.startswith("  negative-control")] == [
        ["negative-control", "1", "1", "of"]
    ]
    assert "called by name, which leaves no sign" in text
    page = triggers_page(results)
    assert "By class of prompts" in page and "negative-control" in page and "no class" in page
    record = json.loads(json.dumps(results_record(results)))
    assert [one["class"] for one in record["by_class"]] == ["explicit", "implicit", "negative-control", None]
    assert record["by_class"][0]["as_wanted"]["value"] is None and record["summary"]["left_out"]["unseen"] == 1
    assert not by_class(queries[3:]) and "by_class" not in results_record(found)


def test_what_can_not_be_seen_does_not_make_an_evaluation_incomplete(found) -> None:
    class Ran:
        stopped = Stopped(Ending.DONE)

    unseen = judge_query(Query("1", "x", True), [run_of(trial("1", False, None), NAMES, True)], 1, 0.5)
    good = found.queries[:3]
    assert exit_code(Ran(), replace(found, queries=(*good, unseen))) == 0  # type: ignore[arg-type]
    lost = judge_query(Query("2", "x", True), [run_of(trial("2", None, None), NAMES, True)], 1, 0.5)
    assert exit_code(Ran(), replace(found, queries=(*good, lost))) == 3  # type: ignore[arg-type]
