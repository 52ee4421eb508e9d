"""`command` and `python`: the author's code, in a copy of the outputs."""

import os

import pytest

from skill_assay.errors import InputError
from skill_assay.graders import author
from skill_assay.model.transcript import Text, ToolCall

CHECKS = '''
import json
import os
import sys
import time

import helper

print("printed while importing")


def has_total(context, minimum=1):
    """Looks into the report."""
    print("chatter", file=sys.stdout)
    os.system("echo more chatter")
    text = (context.outputs / "report.md").read_text()
    return text.count("Total") >= minimum, f"Total stands {text.count('Total')} times in report.md"


def plain(context):
    return True


def plain_no(context):
    return False


def as_dict(context):
    return {"passed": True, "evidence": helper.WORD}


def cannot_tell(context):
    return None, "there is no internet here"


def looks_around(context):
    found = {
        "answer": context.answer,
        "eval": context.eval["id"],
        "prompt": context.eval["prompt"],
        "types": [event["type"] for event in context.transcript],
        "call": context.transcript[2]["input"],
        "expected": (context.evals / "expected" / "a.txt").read_text(),
        "beside": (__import__("pathlib").Path(__file__).parent / "expected" / "a.txt").read_text(),
        "files": sorted(path.name for path in context.outputs.rglob("*")),
        "secret": os.environ.get("ASSAY_TEST_SECRET"),
    }
    return True, json.dumps(found)


def changes_the_outputs(context):
    (context.outputs / "report.md").unlink()
    return True


def raises(context):
    raise ValueError("no such luck")


def nonsense(context):
    return "yes"


def empty_none(context):
    return None


def leaves(context):
    sys.exit(0)


def dies(context):
    os._exit(3)


def hangs(context):
    time.sleep(60)


def long(context):
    return True, "x" * 100_000


def noisy(context):
    for _ in range(20_000):
        print("chatter" * 10)
    return True, "heard through the noise"
'''


@pytest.fixture
def project(desk):
    desk.evals_file("checks.py", CHECKS).evals_file("helper.py", 'WORD = "from a neighbour"')
    desk.evals_file("expected/a.txt", "reference")
    return desk.file("report.md", "Total: 3").says("the answer", Text("hm"), ToolCall("1", "Bash", {"command": "ls"}))


@pytest.mark.parametrize(
    ("check", "verdict", "words"),
    [
        ("has_total", "passed", "Total stands 1 times"),
        ({"function": "has_total", "arguments": {"minimum": 2}}, "failed", "Total stands 1 times"),
        ("plain", "passed", "checks.py: plain(): returned True"),
        ("plain_no", "failed", "plain_no()"),
        ("as_dict", "passed", "from a neighbour"),
        ("cannot_tell", "ungraded", "no internet"),
        ("noisy", "passed", "heard through the noise"),
        ("raises", "error", "ValueError: no such luck (checks.py:57)"),
        ("nonsense", "error", "returned 'yes'; expected True, False"),
        ("empty_none", "error", "returned None"),
        ("leaves", "error", "SystemExit"),
        ("dies", "error", "exit code 3 before it decided anything"),
    ],
)
def test_python(project, check, verdict, words):
    grade = project.grade({"python": check})
    assert grade.decision == verdict
    assert words in grade.evidence


def test_a_not_around_an_exception_is_no_pass(project):
    assert project.verdict({"not": {"python": "raises"}}) == "error"
    assert project.verdict({"not": {"python": "dies"}}) == "error"
    assert project.verdict({"not": {"python": "cannot_tell"}}) == "ungraded"
    assert project.verdict({"not": {"python": "plain_no"}}) == "passed"


def test_what_a_function_sees(project, monkeypatch):
    monkeypatch.setenv("ASSAY_TEST_SECRET", "sesame")
    evidence = project.grade({"python": "looks_around"}).evidence
    assert '"answer": "the answer", "eval": "1", "prompt": "Write a report."' in evidence
    assert '"types": ["started", "text", "tool_call"], "call": {"command": "ls"}' in evidence
    assert '"expected": "reference", "beside": "reference", "files": ["report.md"], "secret": null' in evidence


def test_the_stored_outputs_are_not_touched(project):
    assert project.verdict({"python": "changes_the_outputs"}) == "passed"
    assert (project.outputs / "report.md").read_text() == "Total: 3"
    assert project.code.left_behind == []


@pytest.mark.slow
def test_a_function_that_hangs_is_an_error(project, monkeypatch):
    monkeypatch.setattr("skill_assay.graders.checks.code.run_driver", _impatient)
    grade = project.grade({"python": "hangs"})
    assert grade.decision == "error"
    assert "more than 1 seconds" in grade.evidence


async def _impatient(work, request):
    return await author.run_driver(work, request, timeout=1)


def test_evidence_is_bounded(project):
    assert len(project.grade({"python": "long"}).evidence) < 2_100


def test_it_works_without_any_outputs(desk):
    desk.evals_file("checks.py", "def none(context):\n    return not list(context.outputs.iterdir())\n")
    assert desk.verdict({"python": "none"}) == "passed"


def test_links_of_the_evals_folder_do_not_go_along(project):
    (project.folder / "outside.txt").write_text("secret")
    (project.evals_root / "expected" / "link.txt").symlink_to(project.folder / "outside.txt")
    project.evals_file("checks.py", "def there(context):\n    return (context.evals / 'expected/link.txt').exists()\n")
    assert project.verdict({"python": "there"}) == "failed"


def test_an_import_that_fails_is_an_error(desk):
    desk.evals_file("checks.py", "import not_there\n\ndef ok(context):\n    return True\n")
    grade = desk.grade({"python": "ok"})
    assert grade.decision == "error" and "No module named 'not_there'" in grade.evidence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("has_totals", 'Did you mean "has_total"?'),
        ("helper", "no such function"),
        ({"function": "plain", "arguments": {"x": 1}}, "takes no argument 'x'"),
        ({"function": "needs", "arguments": {}}, "needs the argument 'size'"),
        ({"function": "plain", "arguments": [1]}, "an object"),
        ({"function": "plain", "args": {}}, "no argument is called 'args'"),
    ],
)
def test_bad_functions_are_refused_without_running_the_file(project, arguments, words):
    project.evals_file("checks.py", CHECKS + "\nraise SystemExit\n\ndef needs(context, size):\n    return True\n")
    with pytest.raises(InputError) as raised:
        project.compile({"python": arguments})
    assert words in str(raised.value)
    assert ".check.python" in (raised.value.json_path or "")


def test_no_file_and_no_python(desk):
    with pytest.raises(InputError, match=r"there is no evals/checks\.py"):
        desk.compile({"python": "ok"})
    desk.evals_file("checks.py", "def ok(:\n")
    with pytest.raises(InputError, match="not valid Python"):
        desk.compile({"python": "ok"})


@pytest.mark.parametrize(
    ("arguments", "verdict", "words"),
    [
        ("test -f sub/a.txt", "passed", "exit code 0"),
        ("test -f b.txt", "failed", "exit code 1, expected 0"),
        ({"run": "exit 7", "exit": 7}, "passed", "exit code 7"),
        (["cat", "sub/a.txt"], "passed", 'It printed "hello"'),
        ({"run": "cat sub/a.txt", "stdout_matches": "^hel+o$"}, "passed", "hello"),
        ({"run": "cat sub/a.txt", "stdout_matches": "bye"}, "failed", "nothing that matches /bye/"),
        ({"run": "sleep 30", "timeout": 0.3}, "error", "more than 0.3 seconds"),
        ("no-such-program --x", "error", "not installed"),
        (["no-such-program", "--x"], "error", "not installed"),
        (["./missing.sh", "$HOME"], "failed", "exit code 127"),
        (["echo", "$HOME; a b"], "passed", "$HOME; a b"),
        ("./missing.sh", "failed", "exit code 127"),
        ({"run": "no-such-program", "exit": 127}, "passed", "exit code 127"),
    ],
)
def test_command(desk, arguments, verdict, words):
    desk.file("sub/a.txt", "hello")
    grade = desk.grade({"command": arguments})
    assert grade.decision == verdict
    assert words in grade.evidence


def test_command_not(desk):
    assert desk.verdict({"not": {"command": "exit 1"}}) == "passed"
    assert desk.verdict({"not": {"command": {"run": "sleep 30", "timeout": 0.3}}}) == "error"
    assert desk.verdict({"not": {"command": "no-such-program"}}) == "error"


def test_a_command_runs_in_a_copy_without_keys(desk, monkeypatch):
    monkeypatch.setenv("ASSAY_TEST_SECRET", "sesame")
    desk.file("a.txt", "hello")
    assert desk.verdict({"command": 'rm a.txt && test -z "$ASSAY_TEST_SECRET"'}) == "passed"
    assert (desk.outputs / "a.txt").read_text() == "hello"
    assert os.environ["ASSAY_TEST_SECRET"] == "sesame"


@pytest.mark.parametrize(
    "arguments",
    ["", [], ["a", 3], {"run": "x", "exit": "0"}, {"run": "x", "timeout": 0}, {"run": "x", "stdout_matches": "("}],
)
def test_bad_commands(desk, arguments):
    with pytest.raises(InputError):
        desk.compile({"command": arguments})
