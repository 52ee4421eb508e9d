"""Whole evaluations with the simulated agent: states, errors, neighbours, descriptions, resume."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from skill_assay.errors import InputError
from skill_assay.model.trigger_results import RunState, TriggerResults
from skill_assay.runner.progress import Progress, Silent
from skill_assay.runner.settings import Budget
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.record import results_record
from skill_assay.workspace.trigger_store import TriggerWorkspace
from tests.triggering.asking import (
    DESCRIPTION,
    NAME,
    NO,
    YES,
    ask,
    opened,
    query,
    settings,
    write_neighbour,
    write_skill,
)


def states(found: TriggerResults) -> dict[str, list[str]]:
    return {one.query.text: [run.state.value for run in one.runs] for one in found.queries}


def test_a_good_description_passes_and_the_skill_is_measured_as_it_is(tmp_path: Path) -> None:
    """Fault 3: the real folder under its real name, without its evals."""
    skill = write_skill(tmp_path)
    found = ask(skill, tmp_path / "ws")
    assert states(found) == {YES: ["triggered"] * 2, NO: ["not_triggered"] * 2}
    assert [one.passed for one in found.queries] == [True, True] and found.scores.accuracy.value == 1.0
    assert {run.decided_by for run in found.queries[0].runs} == {"use"}
    assert {run.decided_by for run in found.queries[1].runs} == {"answer"}
    (folder,) = TriggerWorkspace(tmp_path / "ws").iterations()
    assert sorted(path.name for path in folder.path.iterdir() if path.name != "journal.lock") == [
        "journal.jsonl",
        "plan.json",
        "skill.tar",
        "streams",
    ]
    assert folder.extract_snapshot(tmp_path / "was").joinpath("SKILL.md").read_text("utf-8").count(DESCRIPTION) == 1


def test_fault_1_a_crashed_negative_does_not_pass(tmp_path: Path) -> None:
    play = {YES: 1, NO: {"fail": {"kind": "crashed"}}}
    found = ask(write_skill(tmp_path, play=play), tmp_path / "ws")
    negative = found.queries[1]
    assert states(found)[NO] == ["error"] * 2
    assert (negative.rate, negative.passed, negative.decided) == (None, None, 0)
    assert found.scores.accuracy.n == 1 and found.scores.specificity.value is None
    assert len(found.left_out) == 2


def test_a_time_out_is_no_silence(tmp_path: Path) -> None:
    from skill_assay.model.trial import Limits

    play = {YES: {"sleep": 30}, "*": 0}
    found = ask(
        write_skill(tmp_path, play=play), tmp_path / "ws", chosen=settings(trials=1, limits=Limits(seconds=0.5))
    )
    (run,) = found.queries[0].runs
    assert run.state is RunState.TIMEOUT and found.queries[0].passed is None


def test_a_failure_that_passes_is_retried_and_leaves_no_trace_in_the_rate(tmp_path: Path) -> None:
    play = {YES: {"fires": 1, "fail": {"kind": "overloaded", "attempts": 1}}, "*": 0}
    found = ask(write_skill(tmp_path, play=play), tmp_path / "ws")
    assert found.queries[0].rate == 1.0 and found.launches == 6


class _Slow(Silent):
    """Holds the whole event loop, so that children are long gone before their lines are read."""

    def update(self, progress: Progress) -> None:
        time.sleep(0.3)


@pytest.mark.slow
def test_fault_5_lines_of_a_child_that_is_gone_are_still_read(tmp_path: Path) -> None:
    found = ask(write_skill(tmp_path), tmp_path / "ws", chosen=settings(trials=1), display=_Slow())
    assert states(found) == {YES: ["triggered"], NO: ["not_triggered"]}


def test_another_description_is_tried_without_touching_the_skill(tmp_path: Path) -> None:
    play: dict[str, Any] = {YES: [{"when": "SALUTE", "fires": 1}, 0], "*": 0}
    skill = write_skill(tmp_path, play=play)
    before = (skill / "SKILL.md").read_bytes()
    own = ask(skill, tmp_path / "ws")
    tried = ask(skill, tmp_path / "ws", TriggerChoice(description="Use when someone wants a salute."))
    assert [own.queries[0].rate, tried.queries[0].rate] == [0.0, 1.0]
    assert (skill / "SKILL.md").read_bytes() == before
    assert tried.edited_description and tried.description == "Use when someone wants a salute."
    assert own.skill_digest != tried.skill_digest
    folders = TriggerWorkspace(tmp_path / "ws").iterations()
    assert len(folders) == 2
    kept = folders[1].extract_snapshot(tmp_path / "was") / "SKILL.md"
    assert "salute" in kept.read_text("utf-8")


def test_neighbours_are_installed_and_what_fires_instead_is_told(tmp_path: Path) -> None:
    queries = [query(YES, True), query("bill them", False, expected_skill="Bills"), query(NO, False)]
    play = {YES: {"instead": {"bills": 1}}, "bill them": {"instead": {"bills": 1}}, "*": {"instead": {"gone": 1}}}
    skill = write_skill(tmp_path / "a", queries, play)
    write_neighbour(tmp_path / "more", "bills", "Writes bills.", folder="Bills")
    found = ask(skill, tmp_path / "ws", TriggerChoice(catalog=(str(tmp_path / "more"),)))
    assert found.catalogue.skills == ("bills", NAME)
    assert [run.fired for run in found.queries[0].runs] == [("bills",)] * 2
    assert found.queries[2].runs[0].refused == ("gone",)
    assert found.matrix.columns == (NAME, "bills", None)
    rows = {row.wanted: (row.counts, row.runs) for row in found.matrix.rows}
    assert rows == {NAME: ((0, 2, 0), 2), "bills": ((0, 2, 0), 2), None: ((0, 0, 2), 2)}
    alone = ask(skill, tmp_path / "ws", TriggerChoice())
    assert [run.fired for run in alone.queries[0].runs] == [(), ()]


def test_a_namesake_in_the_catalogue_is_left_out_and_so_is_the_skill_itself(tmp_path: Path) -> None:
    """Faults 4 and 6: the user's own copy of the skill does not take its place."""
    skill = write_skill(tmp_path / "project")
    write_neighbour(tmp_path / "home" / "skills", NAME, "An older copy.")
    write_neighbour(tmp_path / "home" / "skills", "bills", "Writes bills.")
    with opened(skill, tmp_path / "ws", TriggerChoice(catalog=("installed", str(tmp_path / "project")))) as evaluation:
        assert [one.name for one in evaluation.subject.neighbours] == ["bills"]
        assert any("name of the skill under test" in note for note in evaluation.notes)


@pytest.mark.slow
def test_curtailing_launches_less_and_decides_the_same(tmp_path: Path) -> None:
    queries = [query(f"{word} {n}", word == "greet") for word in ("greet", "avoid") for n in range(4)]
    play = {**{f"greet {n}": 0.7 for n in range(4)}, "*": 0.2}
    skill = write_skill(tmp_path, queries, play)
    full = ask(skill, tmp_path / "ws", chosen=settings(trials=5))
    short = ask(skill, tmp_path / "ws", TriggerChoice(curtail=True), settings(trials=5))
    assert [one.passed for one in short.queries] == [one.passed for one in full.queries]
    assert short.launches < full.launches == 40
    assert any(one.curtailed and one.interval is None for one in short.queries)
    assert all(one.interval for one in full.queries)


def test_fault_8_a_budget_ends_it_and_resume_runs_only_what_is_missing(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    half = ask(skill, tmp_path / "ws", chosen=settings(budget=Budget(trials=2)))
    assert half.ending and len(half.every_run) == 2
    with pytest.raises(InputError, match="unfinished"):
        opened(skill, tmp_path / "ws")
    whole = ask(skill, tmp_path / "ws", mode="resume")
    assert not whole.ending and whole.launches == 4 and len(TriggerWorkspace(tmp_path / "ws").iterations()) == 1
    undisturbed = ask(skill, tmp_path / "other")
    assert states(whole) == states(undisturbed)


def test_going_on_with_another_description_or_rule_is_refused(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    ask(skill, tmp_path / "ws", chosen=settings(budget=Budget(trials=2)))
    with pytest.raises(InputError, match="what decides a run changed"):
        opened(skill, tmp_path / "ws", TriggerChoice(decide_after=None), mode="resume")
    with pytest.raises(InputError, match="the skill changed"):
        opened(skill, tmp_path / "ws", TriggerChoice(description="Use for salutes."), mode="resume")
    write_neighbour(tmp_path / "more", "bills", "Writes bills.")
    with pytest.raises(InputError, match="the catalogue changed"):
        opened(skill, tmp_path / "ws", TriggerChoice(catalog=(str(tmp_path / "more"),)), mode="resume")


def test_queries_and_runs_can_be_added(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    first = ask(skill, tmp_path / "ws", TriggerChoice(query_ids=("1",)), settings(trials=1))
    assert [one.query.id for one in first.queries] == ["1"]
    more = ask(skill, tmp_path / "ws", chosen=settings(trials=2), mode="add")
    assert [(one.query.id, len(one.runs)) for one in more.queries] == [("1", 2), ("2", 2)] and more.launches == 4


def test_turns_are_refused_where_the_agent_cannot_take_them(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [query(YES, True, context={"turns": ["Hello."]}), query(NO, False)])
    with pytest.raises(InputError, match="simulated can't be given earlier user messages, which 1 asks for"):
        opened(skill, tmp_path / "ws")


def test_files_of_a_query_lie_in_the_working_directory(tmp_path: Path) -> None:
    queries = [query(YES, True, context={"files": ["evals/files/a.csv"]}), query(NO, False)]
    skill = write_skill(tmp_path, queries, {YES: {"fires": 1, "run": "cp a.csv seen.csv"}, "*": 0})
    (skill / "evals" / "files").mkdir()
    (skill / "evals" / "files" / "a.csv").write_text("1,2\n", encoding="utf-8")
    with opened(skill, tmp_path / "ws", chosen=settings(trials=1)) as evaluation:
        assert [place for _, place in evaluation.session.specs[0].fixtures or evaluation.session.specs[1].fixtures] == [
            "a.csv"
        ]
    (skill / "evals" / "files" / "a.csv").unlink()
    with pytest.raises(InputError, match=r"triggers\.json"):
        opened(skill, tmp_path / "ws")


def test_an_agent_that_shows_no_skills_is_refused(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    with pytest.raises(InputError, match="so triggering can't be measured"):
        opened(skill, tmp_path / "ws", chosen=settings(agent="command: /bin/cat"))


def test_the_record_is_what_readers_of_run_eval_take(tmp_path: Path) -> None:
    play = {YES: 1, NO: {"fail": {"kind": "crashed"}}}
    found = ask(write_skill(tmp_path, play=play), tmp_path / "ws")
    record = json.loads(json.dumps(results_record(found), allow_nan=False))
    assert (record["skill_name"], record["description"]) == (NAME, DESCRIPTION)
    keys = ("query", "should_trigger", "trigger_rate", "triggers", "runs", "pass")
    assert [tuple(one[key] for key in keys) for one in record["results"]] == [
        (YES, True, 1.0, 2, 2, True),
        (NO, False, None, 0, 0, None),
    ]
    summary = {name: record["summary"][name] for name in ("total", "passed", "failed", "undecided", "left_out")}
    assert summary == {"total": 2, "passed": 1, "failed": 0, "undecided": 1, "left_out": {"timeout": 0, "error": 2}}
    assert record["summary"]["recall"] == {"value": 1.0, "count": 1, "n": 1, "interval": [0.2065, 1.0]}
