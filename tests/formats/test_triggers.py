from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.triggers import find_queries, load_queries
from skill_assay.model.triggers import QuerySet

YES = {"query": "do it", "should_trigger": True}
NO = {"query": "do that", "should_trigger": False}


def load(tmp_path: Path, value: Any, name: str = "triggers.json", **more: Any) -> QuerySet:
    file = tmp_path / "evals" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return load_queries(file, **more)


def labels(found: QuerySet) -> list[tuple[str, bool]]:
    return [(query.text, query.should_trigger) for query in found.queries]


def test_the_canonical_form_is_read_whole_and_without_a_word(tmp_path: Path) -> None:
    context = {"files": ["a.csv"], "turns": ["Hello."]}
    query = {**NO, "id": 7, "split": "fresh", "expected_skill": "other", "context": context, "tags": ["near"]}
    found = load(tmp_path, [YES, query])
    first, second = found.queries
    assert not found.findings and len(found.digest) == 64
    assert (first.id, first.text, first.should_trigger, first.split) == ("1", "do it", True, None)
    assert (second.id, second.split, second.expected_skill, second.tags) == ("7", "fresh", "other", ("near",))
    assert (second.files, second.turns) == (("a.csv",), ("Hello.",))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("t.json", [{"prompt": "do it", "should_trigger": True}, {"prompt": "do that", "should_trigger": False}]),
        ("t.json", {"queries": [YES, NO]}),
        ("t.json", {"cases": [YES, NO]}),
        ("t.json", {"skill_name": "s", "evals": [YES, NO]}),
        ("t.json", {"trigger_evals": [YES, NO]}),
        ("t.json", {"should_trigger": ["do it"], "should_not_trigger": ["do that"]}),
        (
            "t.json",
            {"should_activate": [{"prompt": "do it"}], "should_not_activate": [{"id": "x", "query": "do that"}]},
        ),
        (
            "t.json",
            {"skill_name": "s", "cases": [{"prompt": "do it", "expect": "s"}, {"prompt": "do that", "expect": "o"}]},
        ),
        (
            "t.json",
            {"skill_name": "s", "cases": [{"prompt": "do it", "expect": "s"}, {"prompt": "do that", "expect": None}]},
        ),
        ("t.csv", "prompt,should_trigger\ndo it,true\ndo that,false\n"),
        ("t.csv", "id,expect_trigger,query\r\na,TRUE,do it\r\n\r\nb,False,do that\r\n"),
        ("t.csv", 'should_trigger;prompt\ntrue;"do it"\nfalse;do that\n'),
        ("t.yaml", "should_trigger_prompts:\n  - do it\nshould_not_trigger_prompts: [do that]\n"),
        ("t.yml", "- query: do it\n  should_trigger: true\n- {query: do that, should_trigger: false}\n"),
    ],
)
def test_every_dialect(tmp_path: Path, name: str, value: Any) -> None:
    assert labels(load(tmp_path, value, name)) == [("do it", True), ("do that", False)]


@pytest.mark.parametrize(
    ("name", "value", "line", "words"),
    [
        ("t.json", "[]", 1, "no queries"),
        ("t.json", '{"querys": []}', 1, 'Did you mean "queries"'),
        ("t.json", '[\n{"query": "a", "should_trigger": "false"}]', 2, 'found "false"'),
        ("t.json", '[{"query": "a", "should_trigger": 1}]', 1, "true or false"),
        ("t.json", '[{"query": "a", "should_trigger": null}]', 1, "true or false"),
        ("t.json", '[{"query": "a"}]', 1, "no label"),
        ("t.json", '[{"query": " ", "should_trigger": true}]', 1, "no text"),
        ("t.json", '[{"query": 3, "should_trigger": true}]', 1, "found 3"),
        ("t.json", '[{"query": "a", "should_trigger": true, "split": "dev"}]', 1, "train, test or fresh"),
        ("t.json", '["a"]', 1, "can't be read"),
        ("t.json", '[{"query": "a", "expect": "s"}]', 1, "which one is under test"),
        ("t.json", '{"should_trigger": [{"query": "a", "should_trigger": false}]}', 1, "says otherwise"),
        ("t.json", '[{"id": 1, "query": "a", "should_trigger": true},\n'
         '{"id": "1", "query": "b", "should_trigger": true}]',
         2, "stands twice"),
        ("t.csv", "prompt,should_trigger\na,true\nb,nda OR review\n", 3, "nda OR review"),
        ("t.csv", 'prompt,should_trigger\n"a\nb",true\nc,yes\n', 4, "yes"),
        ("t.csv", "prompt,should_trigger\na,\n", 2, "true or false"),
        ("t.csv", "prompt,should_trigger\na, b,true\n", 2, "a row is too long"),
        ("t.csv", "prompt,prompt\na,true\n", 1, "stands twice"),
        ("t.csv", 'prompt,should_trigger\n"a,true\n', 2, "is not CSV"),
        ("t.csv", "", None, "is empty"),
        ("t.yaml", "should_trigger_prompts: [a\n", None, "is not YAML"),
        ("t.yaml", "- query: a\n  should_trigger: 'true'\n", 2, "true or false"),
    ],
)  # fmt: skip
def test_errors_name_their_line(tmp_path: Path, name: str, value: str, line: int | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, value, name)
    assert words in str(caught.value)
    assert line is None or caught.value.line == line


def test_twice_the_same_query_is_one_with_a_warning(tmp_path: Path) -> None:
    found = load(tmp_path, [YES, NO, {**YES, "query": " do  it"}])
    assert labels(found) == [("do it", True), ("do that", False)]
    assert [(finding.rule, finding.found) for finding in found.findings] == [("duplicate-query", "$[0] and $[2]")]


def test_one_query_with_two_labels_is_an_error_naming_both(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"two labels \(found \$\[0\] and \$\[1\]\)"):
        load(tmp_path, [YES, {**YES, "should_trigger": False}])


def test_the_same_words_after_other_turns_are_another_query(tmp_path: Path) -> None:
    later = {**YES, "should_trigger": False, "context": {"turns": ["Before."]}}
    assert len(load(tmp_path, [YES, later]).queries) == 2


@pytest.mark.parametrize("name", ["validation", "val", "holdout", "Test"])
def test_other_names_of_the_test_split(tmp_path: Path, name: str) -> None:
    found = load(tmp_path, [{**YES, "split": name}])
    assert found.queries[0].split == "test"
    assert [finding.rule for finding in found.findings] == ["split-name"]


def test_which_skill_is_under_test_is_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\n")
    value = [{"query": "a", "expect": "s"}, {"query": "b", "expect": "t"}, {"query": "c", "expect": "none"}]
    found = load(tmp_path, value)
    assert [(query.should_trigger, query.expected_skill) for query in found.queries] == [
        (True, "s"),
        (False, "t"),
        (False, None),
    ]
    assert [query.should_trigger for query in load(tmp_path, value, skill_name="t").queries] == [False, True, False]


def test_find_queries(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="assay init"):
        find_queries(tmp_path)
    load(tmp_path, [YES, NO], "trigger-eval.json")
    assert find_queries(tmp_path).name == "trigger-eval.json"
    load(tmp_path, "prompt,should_trigger\na,true\n", "prompts.csv")
    with pytest.raises(InputError, match=r"prompts\.csv, trigger-eval\.json"):
        find_queries(tmp_path)
    load(tmp_path, [YES], "triggers.json")
    assert find_queries(tmp_path).name == "triggers.json"


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["t.json", "t.csv", "t.yaml"]),
    st.one_of(st.binary(max_size=80), st.text(max_size=80).map(str.encode)),
)
def test_any_bytes_give_queries_or_an_input_error(name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        try:
            found = load_queries(file, skill_name="s")
        except InputError as error:
            assert str(error)
        else:
            assert found.queries


def test_all_real_trigger_sets_load_or_are_refused_with_the_reason(shared_data: Path) -> None:
    root = shared_data / "triggers"
    refused, loaded = [], 0
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        try:
            found = load_queries(path)
        except InputError as error:
            assert error.file == str(path) and error.line and error.hint
            refused.append(path.relative_to(root).parts[0])
        else:
            loaded += len(found.queries)
    # The one has no column for a label, the other says for each query which of many skills should fire.
    assert refused == ["dososo__blcaptain-ppt-skill", "duthaho__skillhub"]
    assert loaded == 301
    catalogue = root / "duthaho__skillhub" / "evals" / "triggers.json"
    assert sum(query.should_trigger for query in load_queries(catalogue, skill_name="priorart").queries) == 5
