from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.evals import examine_evals, find_evals, load_evals
from skill_assay.model.evals import Check, Environment, EvalSet


def write(tmp_path: Path, value: Any, name: str = "evals.json") -> Path:
    file = tmp_path / "evals" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return file


def load(tmp_path: Path, value: Any) -> EvalSet:
    return load_evals(write(tmp_path, value), skill_root=tmp_path)


def rules(found: EvalSet) -> list[str]:
    return [finding.rule for finding in found.findings]


FULL = {
    "skill_name": "my-skill",
    "evals": [
        {
            "id": 0,
            "name": "first",
            "prompt": "Do it.",
            "expected_output": "It is done.",
            "files": ["evals/files/a.csv"],
            "expectations": ["It holds.", {"text": "There.", "check": {"file_exists": "a"}, "severity": "info"}],
            "tags": ["t"],
            "environment": {"note": "Here.", "vars": ["HOME"]},
            "setup": "true",
            "timeout_seconds": 5,
            "weight": 2,
            "known_issue": "breaks",
            "turns": ["Hello."],
            "reference": "evals/reference",
            "should_trigger": True,
            "expected_skill": "my-skill",
            "_note": "mine",
        }
    ],
}


def test_the_canonical_form_is_read_whole_and_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "evals" / "files").mkdir(parents=True)
    (tmp_path / "evals" / "files" / "a.csv").write_text("a")
    found = load(tmp_path, FULL)
    (one,) = found.evals
    assert not found.findings
    assert found.skill_name == "my-skill" and found.root == tmp_path / "evals"
    assert (one.id, one.original_id, one.name, one.prompt, one.folder) == ("0", 0, "first", "Do it.", "eval-0")
    assert one.expected_output == "It is done." and one.files == ("evals/files/a.csv",) and one.tags == ("t",)
    assert one.environment == Environment("Here.", ("HOME",))
    assert (one.setup, one.timeout_seconds, one.weight, one.known_issue) == ("true", 5.0, 2.0, "breaks")
    assert (one.turns, one.reference, one.should_trigger) == (("Hello.",), "evals/reference", True)
    assert one.extra == {"_note": "mine"}
    text, checked = one.expectations
    assert (text.text, text.checks, text.place) == ("It holds.", (), "$.evals[0].expectations[0]")
    assert checked.checks == (Check("file_exists", {"path": "a"}),) and checked.severity == "info"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_marks_and_line_ends_do_not_matter(tmp_path: Path, newline: str) -> None:
    file = write(tmp_path, {})
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(FULL, indent=1).replace("\n", newline).encode())
    assert load_evals(file, skill_root=tmp_path).evals[0].prompt == "Do it."


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ([{"id": 1, "prompt": "p", "expectations": ["e"]}], "top-level-list"),
        ({"cases": [{"id": 1, "prompt": "p", "expectations": ["e"]}]}, "list-key"),
        ({"expects": [{"id": 1, "prompt": "p", "checks": ["e"]}]}, "list-key"),
        ({"id": 1, "prompt": "p", "expectations": ["e"]}, "single-eval"),
        ({"evals": [{"eval_id": 1, "prompt": "p", "expectations": ["e"]}]}, "key-alias"),
        ({"evals": [{"id": 1, "query": "p", "expectations": ["e"]}]}, "key-alias"),
        ({"evals": [{"id": 1, "question": "p", "expectations": ["e"]}]}, "key-alias"),
        ({"evals": [{"prompt": "p", "expectations": ["e"]}]}, "no-id"),
        ({"evals": [{"id": 1, "prompt": "p", "assertions": ["e"]}]}, "criteria-key"),
        ({"evals": [{"id": 1, "prompt": "p", "expected_behavior": "e"}]}, "criteria-key"),
        ({"evals": [{"id": 1, "prompt": "p", "expected_behaviors": ["e"]}]}, "criteria-key"),
        ({"evals": [{"id": 1, "prompt": "p", "success_criteria": ["e"]}]}, "criteria-key"),
        ({"evals": [{"id": 1, "prompt": "p", "expectations": [{"description": "e"}]}]}, "criterion-key"),
        ({"evals": [{"id": 1, "prompt": "p", "expectations": [{"name": "e"}]}]}, "criterion-key"),
        ({"evals": [{"id": 1, "prompt": "p", "expectations": [{"criterion": "e"}]}]}, "criterion-key"),
        ({"evals": [{"id": 1, "prompt": "p", "expectations": [{"check": "e"}]}]}, "foreign-text"),
    ],
)
def test_every_dialect_is_read_and_named(tmp_path: Path, value: Any, rule: str) -> None:
    found = load(tmp_path, value)
    (one,) = found.evals
    assert (one.id, one.prompt, [each.text for each in one.expectations]) == ("1", "p", ["e"])
    assert rule in rules(found)


@pytest.mark.parametrize(
    ("criterion", "check"),
    [
        ({"check": "string_match", "value": "x"}, Check("contains", {"text": "x"})),
        ({"type": "string_match", "pattern": "x.y"}, Check("matches", {"pattern": "x.y"})),
        ({"type": "not_contains", "value": "x"}, Check("contains", {"text": "x"}, negated=True)),
        ({"type": "regex", "pattern": "x+"}, Check("matches", {"pattern": "x+"})),
        ({"type": "file_exists", "path": "a/b"}, Check("file_exists", {"path": "a/b"})),
        ({"pattern": "x+"}, Check("matches", {"pattern": "x+"})),
        ({"phrase": "x"}, Check("contains", {"text": "x"})),
        ({"needle": "x"}, Check("contains", {"text": "x"})),
        ({"check": "contains('<video')"}, Check("contains", {"text": "<video"})),
    ],
)
def test_other_tools_machine_parts_become_checks_where_only_one_reading_is_possible(
    tmp_path: Path, criterion: dict[str, Any], check: Check
) -> None:
    found = load(tmp_path, [{"id": 1, "prompt": "p", "assertions": [{"text": "t", **criterion}]}])
    assert found.evals[0].expectations[0].checks == (check,)
    assert "foreign-check" in rules(found)


@pytest.mark.parametrize(
    "criterion",
    [
        {"value": "x"},
        {"path": "a"},
        {"type": "regex", "pattern": "("},
        {"check": "ffprobe x | grep y"},
        {"type": "odd"},
    ],
)
def test_what_could_mean_several_things_stays_a_text(tmp_path: Path, criterion: dict[str, Any]) -> None:
    found = load(tmp_path, [{"id": 1, "prompt": "p", "assertions": [{"text": "t", **criterion}]}])
    assert found.evals[0].expectations[0].checks == ()
    assert "foreign-text" in rules(found)


def test_both_halves_of_a_criterion_are_kept(tmp_path: Path) -> None:
    criterion = {"name": "n", "description": "short", "type": "llm_judge", "criterion": "long"}
    found = load(tmp_path, [{"id": 1, "prompt": "p", "assertions": [criterion]}])
    each = found.evals[0].expectations[0]
    assert (each.text, each.id, each.checks) == ("short — long", "n", ())
    assert "foreign-text" not in rules(found)


@pytest.mark.parametrize(
    ("value", "path", "line", "words"),
    [
        ("[]", "$", 1, "no evals"),
        ('{"evals": []}', "$", 1, "no evals"),
        ('{"evals": 3}', "$.evals", 1, "a list of evals"),
        ('{"eval": []}', "$", 1, 'Did you mean "evals"'),
        ('"text"', "$", 1, "no evals"),
        ('[{"id": 1}]', "$[0]", 1, "no prompt"),
        ('[\n{"id": 1,\n"prompt": " "}]', "$[0].prompt", 3, "no prompt"),
        ('[{"id": 1, "prompt": 3}]', "$[0].prompt", 1, "found 3"),
        ('[{"id": "", "prompt": "p"}]', "$[0].id", 1, "the id is empty"),
        ('[{"id": true, "prompt": "p"}]', "$[0].id", 1, "a whole number"),
        ('[{"id": 1.5, "prompt": "p"}]', "$[0].id", 1, "a whole number"),
        ('[3]', "$[0]", 1, "an object with a prompt"),
        ('[{"prompt": "p", "expectations": [""]}]', "$[0].expectations[0]", 1, "no text"),
        ('[{"prompt": "p", "expectations": [{}]}]', "$[0].expectations[0]", 1, "no text"),
        ('[{"prompt": "p", "expectations": [3]}]', "$[0].expectations[0]", 1, "found 3"),
        ('[{"prompt": "p", "expectations": 3}]', "$[0].expectations", 1, "a list of texts"),
        ('[{"prompt": "p", "weight": 0}]', "$[0].weight", 1, "above 0"),
        ('[{"prompt": "p", "weight": true}]', "$[0].weight", 1, "above 0"),
        ('[{"prompt": "p", "timeout_seconds": "5"}]', "$[0].timeout_seconds", 1, "above 0"),
        ('[{"prompt": "p", "should_trigger": "false"}]', "$[0].should_trigger", 1, "without quotes"),
        ('[{"prompt": "p", "files": [{}]}]', "$[0].files", 1, "a list of texts"),
        ('[{"prompt": "p", "environment": []}]', "$[0].environment", 1, "note"),
        ('[{"prompt": "p", "expectations": [{"text": "t", "severity": "high"}]}]',
         "$[0].expectations[0].severity", 1, "info"),
        ('[{"prompt": "p",\n"expectations": [{"text": "t", "check": {"file_exist": "a"}}]}]',
         "$[0].expectations[0].check", 2, 'Did you mean "file_exists"'),
        ('[{"prompt": "p", "expectations": [{"text": "t", "check": {"json_path": "$.a", "equals": 3}}]}]',
         "$[0].expectations[0].check", 1, "arguments go inside"),
        ('[{"prompt": "p", "expectations": [{"text": "t", "check": [3]}]}]',
         "$[0].expectations[0].check[0]", 1, "found 3"),
        ('[{"prompt": "p", "expectations": [{"text": "t", "check": []}]}]',
         "$[0].expectations[0].check", 1, "decides nothing"),
        ('[{"prompt": "p", "expectations": [{"text": "t", "check": 3}]}]', "$[0].expectations[0].check", 1, "found 3"),
    ],
)  # fmt: skip
def test_errors_name_file_path_line_and_what_was_expected(
    tmp_path: Path, value: str, path: str, line: int, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, value)
    assert (caught.value.json_path, caught.value.line) == (path, line)
    assert caught.value.file and caught.value.file.endswith("evals.json")
    assert words in str(caught.value)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, "1"), ("a", "a"), ("A b", "a-b")])
def test_duplicate_ids_are_an_error_that_names_both(tmp_path: Path, first: Any, second: Any) -> None:
    value = [{"id": first, "prompt": "do one"}, {"id": second, "prompt": "do two"}]
    with pytest.raises(InputError) as caught:
        load(tmp_path, value)
    assert "do one" in str(caught.value) and "do two" in str(caught.value)
    assert caught.value.json_path == "$[1].id"


def test_fault_2_all_errors_are_counted_and_the_first_is_told(tmp_path: Path) -> None:
    value = [{"id": 1, "prompt": ""}, {"id": 2, "prompt": 3}, {"id": "", "prompt": "p"}]
    with pytest.raises(InputError, match="2 more errors"):
        load(tmp_path, value)
    assert (
        sum(finding.severity == "error" for finding in examine_evals(write(tmp_path, value), skill_root=tmp_path)[1])
        == 3
    )


def test_unknown_keys_are_kept_and_told_once(tmp_path: Path) -> None:
    value = {"skill_name": "s", "evals": [{"id": i, "prompt": "p", "timeout_second": 5} for i in range(3)], "odd": 1}
    found = load(tmp_path, value)
    unknown = [finding for finding in found.findings if finding.rule == "unknown-key"]
    assert [finding.json_path for finding in unknown] == ["$.odd", "$.evals[0].timeout_second"]
    assert 'Did you mean "timeout_seconds"' in unknown[1].remedy
    assert found.evals[2].extra == {"timeout_second": 5} and found.extra == {"odd": 1}


def test_numbers_are_given_where_none_is_taken(tmp_path: Path) -> None:
    found = load(tmp_path, [{"prompt": "a"}, {"id": 1, "prompt": "b"}, {"prompt": "c"}])
    assert [one.id for one in found.evals] == ["2", "1", "3"]


def test_a_null_skill_means_silence(tmp_path: Path) -> None:
    found = load(tmp_path, [{"id": 1, "prompt": "p", "expected_skill": None}, {"id": 2, "prompt": "p"}])
    assert [one.should_trigger for one in found.evals] == [False, None]


def test_short_and_long_checks(tmp_path: Path) -> None:
    checks: list[Any] = [
        {"file_exists": {"path": "a", "min_bytes": 2}},
        {"not": {"contains": "x"}},
        {"not": {"not": {"contains": "x"}}},
        {"json_path": [{"path": "$.a"}]},
        {"tool_order": ["Read", "Write"]},
        {"skill_used": False},
        {"max_tokens": 5},
        {"command": ["a", "b"]},
    ]
    found = load(tmp_path, [{"id": 1, "prompt": "p", "expectations": [{"text": "t", "check": checks}]}])
    assert found.evals[0].expectations[0].checks == (
        Check("file_exists", {"path": "a", "min_bytes": 2}),
        Check("contains", {"text": "x"}, negated=True),
        Check("contains", {"text": "x"}),
        Check("json_path", {"fields": [{"path": "$.a"}]}),
        Check("tool_order", {"tools": ["Read", "Write"]}),
        Check("skill_used", {"expected": False}),
        Check("max_tokens", {"limit": 5}),
        Check("command", {"run": ["a", "b"]}),
    )


def test_find_evals(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="assay init"):
        find_evals(tmp_path)
    single = [{"id": 1, "prompt": "p", "expectations": ["e"]}]
    first = write(tmp_path, single, "license.json")
    write(tmp_path, [{"query": "q", "should_trigger": True}], "triggers.json")
    assert find_evals(tmp_path) == first
    write(tmp_path, single, "other.json")
    assert find_evals(tmp_path) == tmp_path / "evals"
    joined = load_evals(find_evals(tmp_path), skill_root=tmp_path)
    assert [one.id for one in joined.evals] == ["license-1", "other-1"]
    assert joined.root == tmp_path / "evals" and "id-prefixed" in rules(joined)
    assert find_evals(tmp_path).is_dir()
    write(tmp_path, single)
    assert find_evals(tmp_path) == tmp_path / "evals" / "evals.json"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["evals", "id", "prompt", "expectations", "check", "checks", "text", "type", "pattern", "files", "not",
             "contains", "environment", "turns", "skills", "expected_skill", "weight", "a.b"]
        )
        | st.text(max_size=4),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        JSON, JSON.map(lambda item: {"evals": [item]}), JSON.map(lambda item: [{"prompt": "p", "expectations": [item]}])
    )
)
def test_any_json_gives_evals_or_an_input_error(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = load(Path(folder), value)
        except InputError as error:
            assert str(error)
        else:
            assert found.evals and all(one.id and one.prompt for one in found.evals)
            assert len({one.folder for one in found.evals}) == len(found.evals)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_give_evals_or_an_input_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "evals.json"
        file.write_bytes(data)
        with pytest.raises(InputError):
            load_evals(file, skill_root=Path(folder))


REFUSED = {
    "NVIDIA__skills/skills/mcore-linting-and-formatting/evals/evals.json": "no evals",
    "vinodjohnson__claude-lustre-testing-skills/evals/evals.json": "no prompt",
}


def test_all_real_evals_load_or_are_refused_with_the_reason(shared_data: Path) -> None:
    root = shared_data / "evals"
    files = [path for path in sorted(root.rglob("*.json")) if path.is_file()]
    assert len(files) > 100
    refused = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        try:
            found = load_evals(path, skill_root=path.parent.parent)
        except InputError as error:
            assert error.file == str(path) and error.line and error.json_path
            refused[name] = error.message
        else:
            assert found.evals and all(one.prompt.strip() for one in found.evals)
            assert all(finding.line for finding in found.findings if finding.json_path)
    assert set(refused) == set(REFUSED)
    assert all(REFUSED[name] in message for name, message in refused.items())


def test_real_files_that_do_not_parse_are_refused_with_line_and_remedy(shared_data: Path) -> None:
    for path in (shared_data / "malformed" / "mongodb__agent-skills").iterdir():
        with pytest.raises(InputError, match=r"is not JSON(.|\n)*Remove the comma") as caught:
            load_evals(path, skill_root=path.parent)
        assert caught.value.line == 40, "where the comma is"
