"""What decides is fixed when a session begins: all its trials are decided by the same, whatever is edited meanwhile."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from skill_assay.errors import InputError
from skill_assay.model.trial import Trial
from skill_assay.runner.execute import Result, execute
from skill_assay.runner.progress import Silent
from skill_assay.runner.settings import Budget
from tests.runner.small import open_small, run_small, settings, trials, write_skill

REFERENCE = {"text": "as it was", "check": {"equals": {"file": "hello.txt", "reference_file": "expected/hello.txt"}}}
ASKED = [REFERENCE, {"text": "by a function"}, {"text": "by a program"}]
PLAY = {"evals": {"*": {"*": {"write": {"hello.txt": "hello"}, "say": "Done."}}}}
FUNCTION = "def fine(context):\n    return {says}, 'looked'\n\nCHECKS = {{'by a function': fine}}\n"
PROGRAM = "import json\nprint(json.dumps([{{'text': 'by a program', 'passed': {says}, 'evidence': 'looked'}}]))\n"


def decide(skill: Path, says: bool) -> None:
    """What each of the three deciders will say from now on."""
    evals = skill / "evals"
    (evals / "expected").mkdir(exist_ok=True)
    (evals / "expected" / "hello.txt").write_text("hello" if says else "something else", encoding="utf-8")
    (evals / "checks.py").write_text(FUNCTION.format(says=says), encoding="utf-8")
    (evals / "grade.py").write_text(PROGRAM.format(says=says), encoding="utf-8")


class Editor(Silent):
    """An author who edits while the run goes on."""

    def __init__(self, skill: Path) -> None:
        self.skill = skill
        self.seen = 0

    def settled(self, trial: Trial) -> None:
        self.seen += 1
        decide(self.skill, says=False)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    made = write_skill(tmp_path, [{"id": 1, "prompt": "Greet.", "expectations": ASKED}], PLAY)
    decide(made, says=True)
    return made


CHOSEN = settings(grader="python evals/grade.py", workers=1)


def verdicts(result: Result) -> set[tuple[bool | None, ...]]:
    return {tuple(grade.passed for grade in trial.grades) for trial in trials(result).values()}


def test_an_edit_in_the_middle_of_a_run_changes_no_trial_of_it(skill: Path, tmp_path: Path) -> None:
    editor = Editor(skill)
    with open_small(skill, tmp_path / "ws", CHOSEN) as session:
        result = anyio.run(execute, session, editor)
    assert editor.seen == 4 and verdicts(result) == {(True, True, True)}
    assert verdicts(run_small(skill, tmp_path / "other", CHOSEN)) == {(False, False, False)}, "the edit does decide"


@pytest.mark.parametrize("edited", ["checks.py", "grade.py", "expected/hello.txt"])
def test_an_edited_decider_is_not_gone_on_with(skill: Path, tmp_path: Path, edited: str) -> None:
    run_small(skill, tmp_path / "ws", settings(grader=CHOSEN.grader, workers=1, budget=Budget(trials=2)))
    with (skill / "evals" / edited).open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(InputError, match="graders"):
        open_small(skill, tmp_path / "ws", CHOSEN, mode="resume")
