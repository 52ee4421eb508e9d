"""skill-creator's own viewer shows a workspace of ours complete, whatever became of its trials."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from skill_assay.cli.main import main
from skill_assay.workspace.store import Iteration
from tests.made import made_eval, made_iteration, made_plan, made_trial
from tests.runner.small import CHECK, NAME, run_small, write_skill
from tests.viewer.skill_creator_reader import Shown, benchmark_tab, read_runs

EVALS = [
    {"id": 1, "name": "greets", "prompt": "Greet one.\n\n## Not a heading of ours", "expectations": [CHECK]},
    {"id": 2, "name": "speaks", "prompt": "Only say it.", "expectations": [CHECK]},
    {"id": 3, "name": "fails", "prompt": "Greet three.", "expectations": [CHECK]},
    {"id": 10, "name": "judged", "prompt": "Greet ten.", "expectations": ["It is polite"]},
]
HELLO = {"use_skill": True, "write": {"hello.txt": "hello", "deep/more.txt": "more"}, "say": "Done.", "tokens": 1000}
PLAY = {
    "evals": {
        "2": {"*": {"say": "Hello from **here**.", "tokens": 500}},
        "3": {"with_skill": HELLO, "*": {"fail": {"kind": "bad_request"}, "write": {"half.txt": "half"}}},
        "*": {"with_skill": HELLO, "*": {"write": {"note.txt": "bye"}, "say": "Done.", "tokens": 800}},
    }
}
TRIALS = 11


@pytest.fixture(scope="module")
def iteration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run through the command line: answers only, excluded and ungraded trials, more than nine a cell."""
    place = tmp_path_factory.mktemp("shown")
    skill = write_skill(place, EVALS, PLAY)
    arguments = ["run", str(skill), "--agent", "simulated", "--trials", str(TRIALS), "--no-progress", "--yes"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["assay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code in (0, 3), "it was measured, whatever was left out"
    return place / f"{NAME}-workspace" / "iteration-1"


@pytest.fixture(scope="module")
def shown(iteration: Path) -> dict[str, Shown]:
    return {one.id: one for one in read_runs(iteration)}


@pytest.mark.slow
def test_every_run_that_ended_is_there_once_with_its_prompt(iteration: Path, shown: dict[str, Shown]) -> None:
    names = {"-".join(str(trial.id).split("/")) for trial in Iteration(iteration).trials()}
    assert len(names) == 4 * 2 * TRIALS
    prompts = {one["id"]: one["prompt"] for one in EVALS}
    for one in shown.values():
        assert one.prompt == prompts[one.eval_id], one.id
        assert one.badge in ("with_skill", "without_skill")
    for number in range(1, TRIALS + 1):
        for folder in ("eval-1", "eval-2", "eval-10"):
            for arm in ("with_skill", "without_skill"):
                assert f"{folder}-{arm}-run-{number}" in shown


@pytest.mark.slow
def test_what_was_made_is_shown_also_when_it_is_only_an_answer(shown: dict[str, Shown]) -> None:
    assert shown["eval-1-with_skill-run-11"].files == ("hello.txt",)
    assert shown["eval-2-without_skill-run-2"].files == ("answer.md",)


@pytest.mark.slow
def test_grades_are_shown_and_where_there_are_none_nothing_claims_any(shown: dict[str, Shown]) -> None:
    one = shown["eval-1-with_skill-run-3"]
    assert one.grades is not None and [(text, passed) for text, passed, _ in one.grades] == [(CHECK["text"], True)]
    assert one.headline == "100% 1 passed, 0 failed of 1"
    assert shown["eval-1-without_skill-run-3"].headline == "0% 0 passed, 1 failed of 1"
    assert shown["eval-10-with_skill-run-1"].grades is None


@pytest.mark.slow
def test_excluded_trials_neither_stop_it_nor_look_graded(iteration: Path, shown: dict[str, Shown]) -> None:
    excluded = [trial for trial in Iteration(iteration).trials() if trial.failure is not None]
    assert len(excluded) == TRIALS
    for number in range(1, TRIALS + 1):
        one = shown.get(f"eval-3-without_skill-run-{number}")
        assert one is None or one.grades is None


@pytest.mark.slow
def test_its_benchmark_tab_has_every_field(iteration: Path) -> None:
    tab = benchmark_tab(iteration / "benchmark.json")
    assert tab.columns == ("with_skill", "without_skill")
    assert set(tab.rows) == {"pass_rate", "time_seconds", "tokens"}
    assert tab.rows["pass_rate"][2].startswith("+")
    assert NAME in tab.head and tab.head.endswith(str(TRIALS))
    assert [len(tab.evals[name]) for name in ("greets", "speaks")] == [2 * TRIALS] * 2
    assert tab.evals["greets"][0][2].startswith("100% (1/1)")


def test_a_run_that_waits_for_its_grades_does_not_stop_it(tmp_path: Path) -> None:
    """A run collected and not yet graded (a judge is slow, a session was ended) has outputs already."""
    trials = [made_trial(arm=arm) for arm in ("with_skill", "without_skill")]
    iteration = made_iteration(tmp_path, made_plan(trials=2), trials)
    waiting = made_trial(repeat=2)
    run = iteration.run_folder(waiting.id)
    run.outputs.mkdir(parents=True)
    run.write_collected(waiting, made_eval())
    assert [(one.eval_id, one.prompt) for one in read_runs(iteration.path)][-1] == ("dates", "Do dates.")
    assert len(read_runs(iteration.path)) == 3


def test_ids_that_are_partly_numbers_do_not_stop_it(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [{**EVALS[0], "id": 7}, {**EVALS[1], "id": "by-name"}], PLAY)
    run_small(skill, tmp_path / "w")
    assert {one.eval_id for one in read_runs(tmp_path / "w/iteration-1")} == {"7", "by-name"}


def test_it_would_notice_what_breaks_it(tmp_path: Path) -> None:
    """The reader itself: a run nobody described has no order among those that are."""
    facts: dict[str, Any] = {"a/outputs/x": "x", "a/eval_metadata.json": json.dumps({"eval_id": 1, "prompt": "p"})}
    for name, text in (facts | {"b/outputs/x": "x"}).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with pytest.raises(TypeError):
        read_runs(tmp_path)
