import pytest

from skill_assay.errors import InputError


def test_the_whole_content_counts(desk):
    desk.file("out/a.txt", "hello\n")
    assert desk.verdict({"equals": {"file": "a.txt", "value": "hello\n"}}) == "passed"
    grade = desk.grade({"equals": {"file": "a.txt", "value": "hello"}})
    assert grade.passed is False and "whitespace" in grade.evidence
    assert desk.verdict({"equals": {"file": "a.txt", "value": "hello", "normalise": "whitespace"}}) == "passed"
    assert desk.verdict({"not": {"equals": {"file": "a.txt", "value": "bye"}}}) == "passed"


def test_the_first_difference_is_named(desk):
    desk.file("a.txt", "one\ntwo\nthree\n")
    grade = desk.grade({"equals": {"file": "a.txt", "value": "one\n2\nthree\n"}})
    assert 'line 2: found "two", expected "2"' in grade.evidence


def test_a_reference_file(desk):
    desk.evals_file("expected/a.txt", "hello\r\n").file("a.txt", "hello\n")
    check = {"file": "a.txt", "reference_file": "expected/a.txt"}
    assert desk.verdict({"equals": check}) == "failed"
    assert desk.verdict({"equals": {**check, "normalise": "whitespace"}}) == "passed"
    desk.file("a.txt", "hello\r\n")
    assert desk.verdict({"equals": check}) == "passed"


def test_as_json(desk):
    desk.file("a.json", '{"b": 1.0, "a": [true]}')
    assert desk.verdict({"equals": {"file": "a.json", "value": {"a": [True], "b": 1}, "normalise": "json"}}) == "passed"
    assert desk.verdict({"equals": {"file": "a.json", "value": {"a": [1], "b": 1}, "normalise": "json"}}) == "failed"
    desk.file("a.json", "{")
    assert "is not JSON" in desk.grade({"equals": {"file": "a.json", "value": 1, "normalise": "json"}}).evidence


def test_one_of_several_files_is_enough(desk):
    desk.file("1/a.txt", "x").file("2/a.txt", "y")
    assert desk.verdict({"equals": {"file": "a.txt", "value": "y"}}) == "passed"


def test_a_missing_file_fails_inside_not_too(desk):
    check = {"equals": {"file": "a.txt", "value": "y"}}
    assert (desk.verdict(check), desk.verdict({"not": check})) == ("failed", "failed")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("a.txt", "exactly one of 'value' and 'reference_file'"),
        ({"file": "a.txt", "value": "x", "reference_file": "a.txt"}, "exactly one"),
        ({"file": "a.txt", "value": {"a": 1}}, '"normalise": "json"'),
        ({"file": "a.txt", "reference_file": "none.txt"}, "no such file"),
        ({"file": "a.txt", "reference_file": "../SKILL.md"}, "leaves the evals folder"),
        ({"file": "a.txt", "reference_file": "ref.txt", "normalise": "json"}, "is not JSON"),
        ({"file": "a.txt", "value": "x", "normalise": "jsn"}, 'Did you mean "json"?'),
    ],
)
def test_bad_arguments(desk, arguments, words):
    desk.evals_file("ref.txt", "no json").evals_file("a.txt", "x")
    with pytest.raises(InputError, match=words):
        desk.compile({"equals": arguments})
