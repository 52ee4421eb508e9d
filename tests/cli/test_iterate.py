"""`assay iterate`: a new version is kept only when it is better, and the skill loses nothing on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.iterate import command
from skill_assay.errors import AssayError, ConfirmationError, IncompleteError
from skill_assay.workspace.store import Workspace
from tests.cli.test_improve import ANALYST, BETTER
from tests.runner.small import BODY, PLAY, write_skill

GOOD = PLAY["evals"]["*"]["with_skill"]
BAD = PLAY["evals"]["*"]["*"]
WINS = {"evals": {"*": {"with_skill": GOOD, "old_skill": BAD, "*": BAD}}}
SAME = {"evals": {"*": {"*": GOOD}}}
WORSE = {"evals": {"*": {"with_skill": BAD, "old_skill": GOOD, "*": GOOD}}}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def model(folder: Path, *more: dict[str, Any]) -> str:
    changes = [{"path": "SKILL.md", "content": BETTER, "reason": "It says why."}]
    rules = [
        *more,
        {"when": "You explain why runs", "reply": ANALYST},
        {"when": "You improve an Agent Skill", "reply": {"changes": changes, "summary": "It says why."}},
    ]
    (folder / "model.json").write_text(json.dumps(rules), encoding="utf-8")
    return f"scripted: {folder / 'model.json'}"


def iterate(tmp_path: Path, play: Any, *more: str) -> tuple[Path, Workspace, Result]:
    skill = write_skill(tmp_path, play=play, count=8)
    options = ("--agent", "simulated", "--trials", "2", "--rounds", "1", "--improver", model(tmp_path), "--no-progress")
    result = run(str(skill), *options, "--yes", *more)
    return skill, Workspace(tmp_path / "hello-note-workspace"), result


def rows(workspace: Workspace) -> list[tuple[Any, ...]]:
    history = json.loads((workspace.path / "history.json").read_text())
    keys = ("version", "parent", "grading_result", "is_current_best", "verdict")
    return [tuple(row[key] for key in keys) for row in history["iterations"]]


@pytest.mark.slow
def test_a_better_version_is_kept(tmp_path: Path) -> None:
    skill, workspace, result = iterate(tmp_path, WINS)
    assert (skill / "SKILL.md").read_text() == BETTER, result.output
    assert rows(workspace) == [("v0", None, "baseline", False, "better"), ("v1", "v0", "won", True, "better")]
    second = workspace.iterations()[1]
    plan = second.read_plan()
    assert plan.skill_path == str(skill) and {arm.role for arm in plan.arms} == {"primary", "baseline"}
    assert (workspace.iterations()[0].candidate_path / "before.tar").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("play", "outcome"), [(SAME, "tie"), (WORSE, "lost")])
def test_any_other_version_is_not(tmp_path: Path, play: Any, outcome: str) -> None:
    skill, workspace, result = iterate(tmp_path, play)
    assert (skill / "SKILL.md").read_text() == BODY, result.output
    assert [row[2] for row in rows(workspace)] == ["baseline", outcome]
    assert [row[3] for row in rows(workspace)] == [True, False]


@pytest.mark.slow
def test_the_budget_covers_the_whole(tmp_path: Path) -> None:
    """32 trials and 2 questions are the first measurement and the proposal; nothing is left for a second run."""
    with pytest.raises(IncompleteError, match="budget is spent"):
        iterate(tmp_path, WINS, "--budget", "34trials", "--rounds", "5")
    workspace = Workspace(tmp_path / "hello-note-workspace")
    assert sum(len(list(one.trials())) for one in workspace.iterations()) == 32
    assert (tmp_path / "hello-note" / "SKILL.md").read_text() == BODY


def test_without_a_person_it_does_not_pass_a_turning_point(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, count=1)
    with pytest.raises(ConfirmationError, match="Are the evals right"):
        run(str(skill), "--agent", "simulated", "--improver", model(tmp_path))


@pytest.mark.slow
def test_evals_alone_are_enough_to_begin(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, play=PLAY, count=2)
    (skill / "SKILL.md").unlink()
    triggers = [{"query": "a", "should_trigger": True}, {"query": "b", "should_trigger": False}]
    draft = {
        "skill_md": BODY,
        "evals": [{"id": "x", "prompt": "p", "expectations": [{"text": "t"}]}],
        "triggers": triggers,
    }
    spec = model(tmp_path, {"when": "You draft an Agent Skill", "reply": draft})
    evals = (skill / "evals/evals.json").read_bytes()
    options = ("--agent", "simulated", "--trials", "1", "--rounds", "1", "--improver", spec, "--no-progress", "--yes")
    assert "Drafted" in run(str(skill), *options).output
    assert (skill / "SKILL.md").read_text() == BODY
    assert (skill / "evals/evals.json").read_bytes() == evals
