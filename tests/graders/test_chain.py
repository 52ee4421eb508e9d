"""From expectations to grades."""

import pytest

from skill_assay.graders.chain import grade_all
from skill_assay.graders.checks import CheckGrader
from skill_assay.graders.script import ScriptGrader
from skill_assay.model.evals import Check, Eval, Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.trial import State, Trial

HAS = Expectation("There is a report.", (Check("file_exists", {"path": "report.md"}),))
BY_SCRIPT = Expectation("The answer is short.", id="short")
OPINION = Expectation("It reads well.")
USED = Expectation("The skill is used.", (Check("skill_used", {"expected": True}),))
CHEAP = Expectation("It is cheap.", (Check("max_cost", {"limit": 1}),))
INFO = Expectation("There is a note.", (Check("file_exists", {"path": "note.md"}),), severity="info")
WRONG = Expectation("It is odd.", (Check("python", {"function": "explode"}),))
ALL = (HAS, BY_SCRIPT, OPINION, USED, CHEAP, INFO, WRONG)


SCRIPT = """
def short(context):
    return True, "short"

def explode(context):
    raise OSError("boom")
"""


class Fixed:
    """A grader that says the same of whatever it is handed."""

    name = "judge"

    def __init__(self, decision=Decision.PASSED, evidence="seen", error=None):
        self.decision, self.evidence, self.error = decision, evidence, error
        self.asked = []

    async def grade(self, expectations, work, ledger):
        self.asked.append(sorted(expectations))
        if self.error:
            raise self.error
        return {i: Grade(one.text, self.decision, self.evidence, "judge") for i, one in expectations.items()}


@pytest.fixture
def project(desk):
    desk.evals_file(
        "checks.py",
        "def short(context):\n    return True, 'short'\n\ndef explode(context):\n    raise OSError('boom')\n",
    )
    desk.eval = Eval("1", "Do it.", ALL)
    return desk.file("report.md").says("hello", skill_used=True)


def grade(desk, ledger, *graders):
    async def run():
        return await grade_all(desk.eval, desk.work, graders, ledger)

    return desk.wait(run)


def machine(desk):
    return CheckGrader(desk.evals_root), ScriptGrader(desk.evals_root)


def test_each_in_its_turn_and_in_order(project, ledger):
    grades = grade(project, ledger, *machine(project))
    assert [one.text for one in grades] == [one.text for one in ALL]
    assert [str(one.decision) for one in grades] == [
        "passed",
        "passed",
        "ungraded",
        "passed",
        "ungraded",
        "failed",
        "error",
    ]
    assert [one.grader for one in grades] == ["check", "script", "none", "check", "check", "check", "check"]
    assert all(one.evidence for one in grades)


def test_the_undecided_say_so_in_their_first_word(project, ledger):
    for one in grade(project, ledger, *machine(project)):
        assert one.evidence.startswith("Ungraded:") is (one.passed is None)


def test_fault_32_what_counts(project, ledger):
    grades = grade(project, ledger, *machine(project))
    assert [one.counted for one in grades] == [True, True, False, False, False, False, False]
    trial = Trial(project.work.id, State.COMPLETED, grades=grades)
    assert trial.score == 1.0


def test_a_later_grader_is_handed_only_what_is_left(project, ledger):
    judge = Fixed()
    grades = grade(project, ledger, *machine(project), judge)
    assert judge.asked == [[2]]
    assert (grades[2].passed, grades[2].counted) == (True, True)


def test_a_grader_that_raises_is_an_error_never_a_fail(project, ledger):
    grades = grade(project, ledger, *machine(project), Fixed(error=RuntimeError("out of order")))
    assert str(grades[2].decision) == "error"
    assert "RuntimeError: out of order" in grades[2].evidence
    assert grades[0].passed


def test_a_grader_that_raises_spoils_only_what_it_was_meant_to_decide(project, ledger):
    failing, judge = Fixed(error=RuntimeError("out of order")), Fixed()
    failing.covers = lambda one: {0}
    grades = grade(project, ledger, failing, judge)
    assert [str(one.decision) for one in grades] == ["error", *["passed"] * 6]


def test_a_grader_that_can_not_even_say_what_it_was_meant_to_decide(project, ledger):
    project.evals_file("checks.py", "def short(:\n")
    grades = grade(project, ledger, ScriptGrader(project.evals_root))
    assert {str(one.decision) for one in grades} == {"error"}
    assert "not valid Python" in grades[0].evidence


def test_fault_27_a_pass_without_evidence_is_none(project, ledger):
    grades = grade(project, ledger, *machine(project), Fixed(evidence="  "))
    assert str(grades[2].decision) == "error"
    assert "without any evidence" in grades[2].evidence


def test_no_grader_leaves_all_ungraded(project, ledger):
    grades = grade(project, ledger)
    assert {str(one.decision) for one in grades} == {"ungraded"}
    assert not any(one.counted for one in grades)


def test_several_checks_must_all_hold(desk):
    desk.file("a.txt", "hello")
    yes, no = {"file_exists": "a.txt"}, {"contains": "bye"}
    unknown, wrong = {"max_cost": 1}, {"command": "no-such-program"}
    assert desk.verdict(yes, yes) == "passed"
    assert desk.verdict(yes, no) == "failed"
    assert desk.verdict(yes, unknown) == "ungraded"
    assert desk.verdict(yes, wrong, unknown) == "error"
    assert desk.verdict(no, wrong, unknown) == "failed"
    grade = desk.grade(yes, no, no)
    assert "(1 of 3 checks hold.)" in grade.evidence
    assert "a.txt is there" not in grade.evidence


def test_grading_again_says_the_same(project, ledger):
    once, again = (grade(project, ledger, *machine(project)) for _ in range(2))
    strip = [(one.text, one.decision, one.evidence, one.places) for one in once]
    assert strip == [(one.text, one.decision, one.evidence, one.places) for one in again]
