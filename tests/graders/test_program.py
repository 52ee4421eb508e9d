"""A grader program and what it prints."""

import json

import pytest

from skill_assay.errors import InputError
from skill_assay.graders.program import ProgramGrader
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.transcript import Text

A, B, C = Expectation("A holds."), Expectation("B holds."), Expectation("C holds.")

PROGRAM = """
import json, pathlib, sys
outputs, transcript, eval_file = map(pathlib.Path, sys.argv[1:4])
one = json.loads(eval_file.read_text())
said = json.loads(transcript.read_text())
print("noise", file=sys.stderr)
print(json.dumps([
    {"text": one["expectations"][0], "passed": (outputs / "a.txt").read_text() == "x", "evidence": "a.txt holds x"},
    {"text": "B  holds.", "passed": False, "evidence": f"heard {said[1]['text']}"},
    {"text": "D holds.", "passed": True, "evidence": "nobody asked"},
]))
"""


@pytest.fixture
def project(desk):
    desk.eval = Eval("1", "Do it.", (A, B, C))
    return desk.file("a.txt", "x").says("done", Text("music")).evals_file("grade.py", PROGRAM)


def run(desk, ledger, command, **options):
    async def grade():
        grader = ProgramGrader(command, desk.evals_root, **options)
        return await grader.grade({0: A, 1: B, 2: C}, desk.work, ledger)

    return desk.wait(grade)


def printing(items, exit_code=0):
    text = items if isinstance(items, str) else json.dumps(items)
    return ["python3", "-c", f"import sys; print({text!r}); sys.exit({exit_code})"]


def test_it_decides_what_it_speaks_of(project, ledger):
    grades = run(project, ledger, "python3 evals/grade.py {outputs} {transcript} {eval}")
    assert {index: grade.passed for index, grade in grades.items()} == {0: True, 1: False}
    assert grades[1].evidence == "heard music"
    assert grades[0].grader == "script"
    assert project.code.left_behind == ["a.txt"]


def test_null_is_ungraded(project, ledger):
    grades = run(project, ledger, printing([{"text": "A holds.", "passed": None, "evidence": "too dark"}]))
    assert str(grades[0].decision) == "ungraded"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (printing("no json"), "printed no JSON"),
        (printing({"text": "A holds."}), "expected"),
        (printing([{"text": "A holds.", "passed": "yes", "evidence": "e"}]), "true, false or null"),
        (printing([{"text": "A holds.", "passed": True, "evidence": ""}]), "and evidence"),
        (printing([{"text": "A holds.", "passed": True}]), "and evidence"),
        (printing([{"text": "A holds.", "evidence": "e"}]), "passed"),
        (
            printing([{"text": "A holds.", "passed": value, "evidence": "e"} for value in (True, False)]),
            "says two things",
        ),
        (printing([], exit_code=2), "exit code 2"),
        (["no-such-program"], "No such file"),
        (["python3", "-c", "print('x' * 6_000_000)"], "printed more than"),
    ],
)
def test_one_that_fails_is_an_error_for_all_and_no_mark_against_the_agent(project, ledger, command, words):
    grades = run(project, ledger, command)
    assert [str(grade.decision) for grade in grades.values()] == ["error"] * 3
    assert words in grades[0].evidence


@pytest.mark.slow
def test_one_that_hangs_is_an_error(project, ledger):
    grades = run(project, ledger, ["sleep", "30"], timeout=1)
    assert "more than 1 seconds" in grades[0].evidence


def test_a_file_of_the_skill_beside_evals_is_found(project, ledger):
    script = project.evals_root.parent / "scripts" / "grade.py"
    script.parent.mkdir()
    script.write_text(PROGRAM)
    grades = run(project, ledger, "python3 scripts/grade.py {outputs} {transcript} {eval}")
    assert grades[0].passed


@pytest.mark.parametrize("command", ["", "  ", [], "python 'unclosed"])
def test_a_program_that_is_none_is_refused(command):
    with pytest.raises(InputError):
        ProgramGrader(command, None)
