"""Runs with a judge: asked through the run's own budget and journal, kept beside the work, taken up again later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.agents.simulated import SimulatedAgent
from skill_assay.errors import InputError
from skill_assay.graders.decidable import undecidable
from skill_assay.runner.execute import make_graders
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.judging import judge_purposes, make_voice, with_judge
from skill_assay.runner.sandbox import NoSandbox
from skill_assay.runner.settings import Budget, RunSettings
from skill_assay.workspace.journal import replay
from tests.runner.small import CHECK, open_small, run_small, settings, trials, write_skill

POLITE = "The greeting is polite."
EVALS: list[dict[str, Any]] = [{"id": 1, "prompt": "Greet.", "expectations": [CHECK, POLITE]}]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return write_skill(tmp_path, EVALS)


def judge(folder: Path, script: Any, name: str = "judge.json") -> str:
    (folder / name).write_text(json.dumps(script), encoding="utf-8")
    return f"scripted: {folder / name}"


def test_the_judge_decides_what_no_check_does(skill: Path, tmp_path: Path) -> None:
    spec = judge(tmp_path, {"verdicts": {POLITE: "pass"}})
    result = run_small(skill, tmp_path / "w", settings(judge=spec, trials=1))
    for trial in trials(result).values():
        assert [(grade.grader, grade.decision) for grade in trial.grades][1] == ("judge", "passed")
        folder = result.iteration.run_folder(trial.id)
        records = list(folder.judge_records())
        assert [record["kind"] for record in records][1:] == ["question", "verdicts"]
        assert records[0]["kind"] in ("question", "copy")
        graded = json.loads((folder.path / "grading.json").read_text())["expectations"][1]
        assert graded["grader"] == "judge" and graded["evidence_verified"] is True
        assert "hello" not in records[1]["request"] or trial.id.arm == "with_skill"
    assert result.spent.usd == pytest.approx(3 * 0.002), "one classification an eval, one question a trial"
    assert replay(result.iteration.journal_path()).unsettled.launches == 0


def test_the_prompts_to_the_judge_name_no_arm_skill_or_path(skill: Path, tmp_path: Path) -> None:
    spec = judge(tmp_path, {"verdicts": {POLITE: "pass"}})
    result = run_small(skill, tmp_path / "w", settings(judge=spec, trials=1))
    for trial in trials(result).values():
        for record in result.iteration.run_folder(trial.id).judge_records():
            asked = record.get("request", "")
            assert not any(word in asked for word in ("with_skill", "without_skill", "hello-note", str(tmp_path)))


def test_fault_27_an_outage_is_ungraded_and_graded_when_it_is_over(
    skill: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    import anyio

    from skill_assay.runner.regrade import regrade

    monkeypatch.setenv("ASSAY_RETRY_BASE_SECONDS", "0.001")
    spec = judge(tmp_path, [{"fail": "overloaded"}])
    result = run_small(
        skill, tmp_path / "w", settings(judge=spec, trials=1), environment={"ASSAY_RETRY_BASE_SECONDS": "0"}
    )
    for trial in trials(result).values():
        assert [grade.decision for grade in trial.grades][1] == "ungraded"
        assert trial.score is not None, "what a check decided stands"
    judge(tmp_path, {"verdicts": {POLITE: "pass"}})
    plan = result.iteration.read_plan()
    again = RunSettings(judge=str(plan.settings["judge"]))
    done = anyio.run(regrade, result.iteration, plan, load_inputs(skill), again)
    assert len(done.changed) == 2
    assert all(trial.grades[1].decision == "passed" for trial in trials(result).values())


def test_a_person_beats_the_judge_in_the_record(skill: Path, tmp_path: Path) -> None:
    import anyio

    from skill_assay.runner.regrade import regrade

    spec = judge(tmp_path, {"verdicts": {POLITE: "pass"}})
    result = run_small(skill, tmp_path / "w", settings(judge=spec, trials=1))
    review = {"run_id": "eval-1-with_skill-run-1", "expectations": [{"index": 1, "passed": False}]}
    result.iteration.feedback_path.write_text(json.dumps({"reviews": [review]}))
    anyio.run(regrade, result.iteration, result.iteration.read_plan(), load_inputs(skill), RunSettings(judge=spec))
    found = json.loads((result.iteration.path / "eval-1/with_skill/run-1/grading.json").read_text())["expectations"][1]
    assert (found["passed"], found["grader"]) == (False, "person")
    other = json.loads((result.iteration.path / "eval-1/without_skill/run-1/grading.json").read_text())["expectations"][
        1
    ]
    assert (other["passed"], other["grader"]) == (True, "judge")


def test_the_budget_holds_for_the_judge_too(skill: Path, tmp_path: Path) -> None:
    spec = judge(tmp_path, {"verdicts": {POLITE: "pass"}})
    capped = settings(judge=spec, trials=2, workers=1, budget=Budget(trials=3))
    result = run_small(skill, tmp_path / "w", capped)
    assert result.stopped.ending == "budget"
    resumed = run_small(skill, tmp_path / "w", settings(judge=spec, trials=2), "resume")
    assert len(trials(resumed)) == 4
    assert all(trial.grades[1].grader == "judge" for trial in trials(resumed).values())


def test_what_is_asked_of_a_judge_is_in_the_estimate(skill: Path, tmp_path: Path) -> None:
    spec = judge(tmp_path, {"verdicts": {}})
    chosen = settings(judge=spec, judge_votes=3, trials=2)
    with open_small(skill, tmp_path / "w", chosen) as session:
        graders = make_graders(session.settings, session.inputs.evals_root)
        assert len(judge_purposes(session.specs, session.settings, graders)) == 4 * 3 + 1
        assert not undecidable(session.inputs.evals, graders).evals


def test_auto_is_none_for_a_simulated_agent_and_where_nobody_is_signed_in(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho 2.0.0\n")
    program.chmod(0o755)
    env = {"ASSAY_CLAUDE_CODE": str(program), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    auto = RunSettings(judge="auto")
    assert with_judge(auto, SimulatedAgent(), {**env, "ANTHROPIC_API_KEY": "k"}).judge == "none"
    nobody = with_judge(auto, ClaudeCode(env=env), env)
    assert nobody.judge == "none" and "not signed in" in nobody.judge_note
    signed = {**env, "ANTHROPIC_API_KEY": "k"}
    assert with_judge(auto, ClaudeCode(env=env), signed).judge == "claude-code/sonnet"
    assert (
        with_judge(RunSettings(judge="auto", model="sonnet"), ClaudeCode(env=env), signed).judge == "claude-code/opus"
    )
    assert with_judge(auto, ClaudeCode(env=env), signed, recorded="none").judge == "none"
    same = with_judge(RunSettings(judge="claude-code/opus", model="opus"), ClaudeCode(env=env), signed)
    assert "own model" in same.judge_note


@pytest.mark.parametrize(
    ("spec", "word"),
    [("nobody", "no such judge"), ("simulated", "can't judge"), ("scripted: nowhere.json", "can't be read")],
)
def test_a_judge_that_can_not_be_had_is_said_before_anything_is_launched(spec: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make_voice(spec, NoSandbox(), {}, check=True)


def test_votes_are_odd() -> None:
    with pytest.raises(InputError, match="odd"):
        RunSettings(judge_votes=2)


def test_a_misspelt_judge_is_answered_with_the_judges_there_are() -> None:
    with pytest.raises(InputError, match=r"no such judge \(found scriptd:x, expected auto, none, claude-code/MODEL"):
        make_voice("scriptd:x", NoSandbox(), {})
