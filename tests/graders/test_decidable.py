"""What can be decided at all, known before anything is launched."""

from dataclasses import dataclass
from pathlib import Path

from skill_assay.graders.checks import CheckGrader
from skill_assay.graders.decidable import undecidable
from skill_assay.graders.program import ProgramGrader
from skill_assay.graders.script import ScriptGrader
from skill_assay.model.evals import Check, Eval, EvalSet, Expectation

FILE = Check("file_exists", {"path": "a"})
CHECKED = Eval("checked", "p", (Expectation("a", (FILE,)), Expectation("opinion")))
SCRIPTED = Eval("scripted", "p", (Expectation("It is short."),))
OPINION = Eval("opinion", "p", (Expectation("It reads well."),))
ACTIVATION = Eval("activation", "p", (Expectation("used", (Check("skill_used", {}),)),))
INFO = Eval("info", "p", (Expectation("a", (FILE,), severity="info"),))
EMPTY = Eval("empty", "p")


@dataclass
class Judge:
    name: str = "judge"


def of(desk, *evals, more=()):
    desk.evals_file("checks.py", "def it_is_short(context):\n    return True\n")
    graders = (CheckGrader(desk.evals_root), ScriptGrader(desk.evals_root), *more)
    return undecidable(EvalSet("s", evals, Path("evals.json"), ""), graders)


def test_evals_that_nothing_can_decide_are_named(desk):
    found = of(desk, CHECKED, SCRIPTED, OPINION, ACTIVATION, INFO, EMPTY)
    assert [name for name, _ in found.evals] == ["opinion", "activation", "info", "empty"]
    assert not found.all
    reasons = dict(found.evals)
    assert "no expectations" in reasons["empty"]
    assert "has a check" in reasons["opinion"]
    assert "activation" in reasons["activation"]


def test_all_of_them(desk):
    assert of(desk, OPINION, ACTIVATION).all
    assert not of(desk, CHECKED).evals


def test_a_judge_or_a_program_can_decide_what_checks_can_not(desk):
    assert not of(desk, OPINION, more=[Judge()]).evals
    assert not of(desk, OPINION, more=[ProgramGrader("grade", None)]).evals
    assert of(desk, EMPTY, more=[Judge()]).all
