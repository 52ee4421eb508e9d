"""`evals/checks.py` functions matched to expectations by text or id."""

from dataclasses import replace

import pytest

from skill_assay.errors import InputError
from skill_assay.graders.author import run_driver
from skill_assay.graders.functions import read_functions
from skill_assay.graders.script import ScriptGrader, script_covers, unmatched_keys
from skill_assay.model.evals import Check, Eval, Expectation

CHECKS = """
def short(context):
    return len(context.answer) < 100, f"{len(context.answer)} characters"

def the_video_exists(context):
    return True

def check_has_sources(context):
    return False, "no sources"

def broken(context):
    return 1 / 0

def die(context):
    import os
    os._exit(1)

def takes_more(context, size):
    return True

CHECKS = {"The answer  is short.": short, "e-7": broken}
"""

SHORT = Expectation("The answer is short.")
VIDEO = Expectation("The video exists.")
SOURCES = Expectation("It names where the facts are from.", id="has-sources")
BROKEN = Expectation("It is profound.", id="e-7")
NONE = Expectation("The tone is friendly.")
CHINESE = Expectation("视频存在")
MORE = Expectation("Takes more")
CHECKED = Expectation("The video exists.", (Check("file_exists", {"path": "v"}),))


@pytest.fixture
def project(desk):
    desk.eval = Eval("1", "Do it.", (SHORT, VIDEO, SOURCES, BROKEN, NONE, CHINESE, MORE, CHECKED))
    return desk.evals_file("checks.py", CHECKS).says("hello")


def grades_of(desk, ledger, expectations=None):
    wanted = expectations or dict(enumerate(desk.eval.expectations))

    async def run():
        return await ScriptGrader(desk.evals_root).grade(wanted, desk.work, ledger)

    return desk.wait(run)


def test_which_expectations_have_a_function_is_known_without_running_it(project):
    project.evals_file("checks.py", "raise SystemExit('ran!')\n" + CHECKS)
    assert script_covers(project.evals_root, project.eval) == {0, 1, 2, 3}
    assert ScriptGrader(project.evals_root).covers(project.eval) == {0, 1, 2, 3}
    assert script_covers(None, project.eval) == set()


def test_each_is_decided_by_its_function_in_one_launch(project, ledger):
    grades = grades_of(project, ledger)
    assert {index: str(grade.decision) for index, grade in grades.items()} == {
        0: "passed",
        1: "passed",
        2: "failed",
        3: "error",
        7: "passed",
    }
    assert all(grade.grader == "script" and grade.evidence for grade in grades.values())
    assert "5 characters" in grades[0].evidence
    assert "ZeroDivisionError" in grades[3].evidence
    assert project.code.runs == 1


def test_one_that_ends_the_process_leaves_the_others_decided(project, ledger):
    project.evals_file("checks.py", CHECKS.replace('"e-7": broken', '"e-7": die'))
    grades = grades_of(project, ledger)
    assert str(grades[0].decision) == "passed"
    assert str(grades[3].decision) == "error"
    assert "exit code 1" in grades[3].evidence


@pytest.mark.slow
def test_one_that_takes_all_the_time_is_named_to_those_after_it(desk, ledger, monkeypatch):
    source = """
def first(context):
    return True

def slow(context):
    import time
    time.sleep(60)

def last(context):
    return True
"""
    desk.eval = Eval("1", "Do it.", (Expectation("First"), Expectation("Slow"), Expectation("Last")))
    desk.evals_file("checks.py", source).says("hello")

    async def impatient(work, request):
        return await run_driver(work, request, timeout=3)

    monkeypatch.setattr("skill_assay.graders.script.run_driver", impatient)
    grades = grades_of(desk, ledger)
    assert [str(grades[index].decision) for index in range(3)] == ["passed", "error", "error"]
    assert "took more than 3 seconds" in grades[1].evidence and "not called" not in grades[1].evidence
    assert "not called: slow() came before it, and it took more than 3 seconds" in grades[2].evidence


def test_keys_that_name_no_expectation_are_told(project):
    assert unmatched_keys(project.evals_root, (project.eval,)) == []
    lost = replace(project.eval, expectations=(VIDEO,))
    assert unmatched_keys(project.evals_root, (lost,)) == ["The answer  is short.", "e-7"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("CHECKS = dict(a=1)\n", "plain table"),
        ("CHECKS = {name(): f}\n", "plain table"),
        ("CHECKS: dict = {1: f}\n", "plain table"),
        ("CHECKS = {**others}\n", "plain table"),
        ("def f(:\n", "not valid Python"),
        ("x = '\0'\n", "checks.py"),
    ],
)
def test_a_file_that_can_not_be_read_is_refused(desk, source, words):
    desk.evals_file("checks.py", source)
    with pytest.raises(InputError, match=words):
        read_functions(desk.evals_root)


def test_no_file_decides_nothing(desk, ledger):
    desk.eval = Eval("1", "Do it.", (VIDEO,))
    assert grades_of(desk, ledger) == {}
    assert desk.code.runs == 0
