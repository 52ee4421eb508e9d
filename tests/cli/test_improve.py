"""`assay improve` as a person calls it, with a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.improve import command
from skill_assay.errors import AssayError, IncompleteError
from tests.runner.small import BODY, run_small, settings, write_skill

BETTER = BODY.replace("Write hello.txt.", "Write hello.txt, since the user reads nothing else.")
ANALYST: dict[str, Any] = {
    "winner_strengths": ["It wrote the file."],
    "loser_weaknesses": ["It wrote another."],
    "instruction_following": {"winner": {"score": 9, "issues": []}, "loser": {"score": 3, "issues": ["none read"]}},
    "improvement_suggestions": [
        {
            "priority": "high",
            "category": "instructions",
            "suggestion": "Say why.",
            "expected_impact": "It is done always.",
            "run": "eval-1/with_skill/run-1",
            "file": "outputs/hello.txt",
            "quote": "hello",
        },
        {
            "priority": "low",
            "category": "examples",
            "suggestion": "Made up.",
            "expected_impact": "None.",
            "run": "eval-1/with_skill/run-1",
            "file": "transcript.md",
            "quote": "this was never said by anybody",
        },
    ],
    "transcript_insights": {"winner_execution_pattern": "wrote", "loser_execution_pattern": "wrote too"},
}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def model(folder: Path, *changes: dict[str, str], analyst: dict[str, Any] = ANALYST) -> str:
    rules = [
        {"when": "You explain why runs", "reply": analyst},
        {"when": "You improve an Agent Skill", "reply": {"changes": list(changes), "summary": "It says why."}},
    ]
    (folder / "model.json").write_text(json.dumps(rules), encoding="utf-8")
    return f"scripted: {folder / 'model.json'}"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    made = write_skill(tmp_path)
    run_small(made, tmp_path / "hello-note-workspace", settings(trials=1))
    return made


def test_without_a_model_the_numbers_speak(skill: Path) -> None:
    result = run(str(skill), "--judge", "none")
    assert "1: hello.txt says hello: passes only with the skill" in result.output
    analysis = json.loads((skill.parent / "hello-note-workspace/iteration-1/analysis.json").read_text())
    assert {one["kind"] for one in analysis["findings"]} >= {"only_with"}
    assert not (skill.parent / "hello-note-workspace/iteration-1/candidate").exists()


def test_a_proposal_lies_beside_the_results_and_is_put_in_place_when_told(skill: Path, tmp_path: Path) -> None:
    spec = model(tmp_path, {"path": "SKILL.md", "content": BETTER, "reason": "The agent did not see why."})
    result = run(str(skill), "--judge", spec)
    assert "SKILL.md: The agent did not see why." in result.output
    assert (skill / "SKILL.md").read_text() == BODY
    folder = skill.parent / "hello-note-workspace/iteration-1"
    changes = json.loads((folder / "candidate/changes.json").read_text())
    assert changes["changes"] == [{"path": "SKILL.md", "kind": "changed", "reason": "The agent did not see why."}]
    assert "+Write hello.txt, since" in (folder / "candidate/changes.diff").read_text()
    analysis = json.loads((folder / "analysis.json").read_text())
    first, second = analysis["improvement_suggestions"]
    assert first["evidence_at"][0]["file"] == "eval-1/with_skill/run-1/outputs/hello.txt" and first["evidence_verified"]
    assert second["evidence_verified"] is False
    assert {"winner_strengths", "instruction_following", "transcript_insights", "findings"} <= set(analysis)
    assert "In place: SKILL.md" in run(str(skill), "--apply").output
    assert (skill / "SKILL.md").read_text() == BETTER and (folder / "candidate/before.tar").is_file()


def test_a_proposal_that_is_no_skill_is_sent_back_once_and_then_refused(skill: Path, tmp_path: Path) -> None:
    spec = model(tmp_path, {"path": "../../x", "content": "x", "reason": "r"})
    with pytest.raises(IncompleteError, match="no plain path"):
        run(str(skill), "--judge", spec)
    asked = (skill.parent / "hello-note-workspace/iteration-1/judge-1.jsonl").read_text().splitlines()
    assert sum("It could not be used" in line for line in asked) == 1
    assert (skill / "SKILL.md").read_text() == BODY


def test_feedback_and_failures_reach_the_model(skill: Path, tmp_path: Path) -> None:
    folder = skill.parent / "hello-note-workspace/iteration-1"
    review = {"run_id": "eval-1-with_skill-run-1", "feedback": "Too short for my taste."}
    (folder / "feedback.json").write_text(json.dumps({"reviews": [review]}))
    run(str(skill), "--judge", model(tmp_path, {"path": "SKILL.md", "content": BETTER, "reason": "r"}))
    asked = (folder / "judge-1.jsonl").read_text().splitlines()[-1]
    assert "Too short for my taste." in asked and "Generalise" in asked
