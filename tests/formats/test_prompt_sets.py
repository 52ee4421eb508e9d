"""Tables of prompts in four classes, as OpenAI's guide to evaluating skills has them: as evals and as trigger sets."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.formats.evals import find_evals, load_evals
from skill_assay.formats.lint.examine import lint
from skill_assay.formats.sniff import Kind, sniff
from skill_assay.formats.triggers import find_queries, load_queries
from skill_assay.model.prompt_classes import CLASSES, calls_by_name, class_of, class_word

GUIDE = """id,should_trigger,prompt
t-1,true,"Write a card with the $cards skill"
t-2,true,"Write a birthday card for my aunt"
t-3,false,"Which day is it?"
"""


def put(tmp_path: Path, text: str, name: str = "cards.prompts.csv") -> Path:
    folder = tmp_path / "cards" / "evals"
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "SKILL.md").write_text("---\nname: cards\ndescription: Writes cards.\n---\nWrite.\n", "utf-8")
    (folder / name).write_text(text, "utf-8")
    return folder / name


def classes(path: Path) -> list[str | None]:
    return [class_of(query.tags) for query in load_queries(path).queries]


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("explicit", "explicit"),
        ("Implicit invocation", "implicit"),
        ("contextual", "contextual"),
        ("negative_control", "negative-control"),
        ("Negative Control", "negative-control"),
        ("negative", "negative-control"),
        ("smoke", None),
        ("", None),
    ],
)
def test_words_for_the_classes(word: str, named: str | None) -> None:
    assert class_word(word) == named


@pytest.mark.parametrize(
    ("prompt", "names", "called"),
    [
        ("Use $cards now", ("cards",), True),
        ("Use $cards.", ("cards",), True),
        ("Use $cards-pro", ("cards",), False),
        ("Use cards", ("cards",), False),
        ("it costs $5 in $HOME", (), False),
        ("use the $other skill", (), True),
        (r"escaped \$cards", ("cards",), False),
        ("US$cards", ("cards",), False),
    ],
)
def test_calls_by_name(prompt: str, names: tuple[str, ...], called: bool) -> None:
    assert calls_by_name(prompt, names) is called


def test_the_guides_three_columns_say_two_classes(tmp_path: Path) -> None:
    path = put(tmp_path, GUIDE)
    found = load_queries(path)
    assert [query.id for query in found.queries] == ["t-1", "t-2", "t-3"] and not found.findings
    assert classes(path) == ["explicit", None, "negative-control"]
    assert find_queries(path.parent.parent) == path == find_evals(path.parent.parent)
    evals = load_evals(path, skill_root=path.parent.parent).evals
    assert [(one.id, one.should_trigger, class_of(one.tags)) for one in evals] == [
        ("t-1", True, "explicit"),
        ("t-2", True, None),
        ("t-3", False, "negative-control"),
    ]


@pytest.mark.parametrize("column", ["class", "category", "check_type", "kind"])
def test_a_column_says_the_class_under_the_names_that_are_used(tmp_path: Path, column: str) -> None:
    rows = "a,true,explicit,x\nb,true,Implicit invocation,y\nc,true,contextual,z\nd,false,negative control,w\n"
    path = put(tmp_path, f"id,should_trigger,{column},prompt\n{rows}")
    assert classes(path) == list(CLASSES)
    noted = [finding.rule for finding in load_queries(path).findings]
    assert noted == ([] if column == "class" else ["class-key"])
    evals = load_evals(path, skill_root=path.parent.parent)
    assert [class_of(one.tags) for one in evals.evals] == list(CLASSES) and not evals.evals[0].extra


def test_a_column_of_another_meaning_stays_what_it_was(tmp_path: Path) -> None:
    path = put(tmp_path, "id,should_trigger,kind,prompt\na,true,smoke,x\nb,false,smoke,y\n")
    assert classes(path) == [None, None]
    assert "unknown-key" in [finding.rule for finding in load_queries(path).findings]


def test_a_plain_table_gets_no_classes(tmp_path: Path) -> None:
    assert classes(put(tmp_path, "prompt,should_trigger\na,true\nb,false\n")) == [None, None]


def test_tags_and_json_say_it_too(tmp_path: Path) -> None:
    text = '[{"query": "x", "should_trigger": true, "tags": ["implicit"]}, {"prompt": "y", "should_trigger": false, '
    path = put(tmp_path, text + '"category": "negative"}]', "triggers.json")
    assert classes(path) == ["implicit", "negative-control"]


@pytest.mark.parametrize("read", ["queries", "evals"])
def test_a_negative_control_that_should_trigger_is_an_error(tmp_path: Path, read: str) -> None:
    path = put(tmp_path, "id,should_trigger,class,prompt\na,true,negative,x\n")
    with pytest.raises(InputError, match="a negative control that should trigger") as caught:
        load_queries(path) if read == "queries" else load_evals(path, skill_root=tmp_path)
    assert caught.value.line == 2


def test_a_table_with_statements_is_evals(tmp_path: Path) -> None:
    text = "id,should_trigger,prompt,pass_criteria,fixture,expected_outcome\n"
    text += 'a,true,"Do it","Says hello; Names Ann",evals/files/a.txt,A card\nb,,"Do that",Is short,,\n'
    path = put(tmp_path, text, "evals.csv")
    (path.parent / "files").mkdir()
    (path.parent / "files" / "a.txt").write_text("a")
    assert sniff(path) is Kind.EVALS
    first, second = load_evals(find_evals(path.parent.parent), skill_root=path.parent.parent).evals
    assert [each.text for each in first.expectations] == ["Says hello", "Names Ann"]
    assert (first.files, first.expected_output) == (("evals/files/a.txt",), "A card")
    assert (second.should_trigger, [each.text for each in second.expectations]) == (None, ["Is short"])
    (report,) = [one for one in lint(path, lambda *_: ()) if one.kind is Kind.EVALS]
    assert report.understood.startswith("2 evals, 3 expectations")


def test_evals_json_wins_and_several_tables_must_be_named(tmp_path: Path) -> None:
    path = put(tmp_path, GUIDE)
    put(tmp_path, GUIDE, "more.prompts.csv")
    root = path.parent.parent
    with pytest.raises(InputError, match="several tables of prompts"):
        find_evals(root)
    own = put(tmp_path, '[{"prompt": "x"}]', "evals.json")
    assert find_evals(root) == own


def test_a_label_that_is_none_has_its_line(tmp_path: Path) -> None:
    path = put(tmp_path, "id,should_trigger,prompt\na,true,x\nb,maybe,y\n")
    with pytest.raises(InputError) as caught:
        load_evals(path, skill_root=tmp_path)
    assert (caught.value.line, caught.value.found) == (3, '"maybe"')


COLUMNS = st.sampled_from(["id", "prompt", "should_trigger", "class", "category", "tags", "files", "expectations", "x"])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.text(max_size=12), max_size=5), max_size=5), st.lists(COLUMNS, max_size=5))
def test_no_table_ends_in_anything_but_a_message(rows: list[list[str]], header: list[str]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([header, *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evals.csv"
        path.write_bytes(buffer.getvalue().encode("utf-8", "surrogatepass"))
        for read in (load_queries, lambda file: load_evals(file, skill_root=Path(folder)), lambda file: sniff(file)):
            try:
                read(path)
            except InputError as error:
                assert str(error)


def test_real_prompt_sets_are_read(shared_data: Path) -> None:
    seen = {}
    for path in sorted((shared_data / "triggers").glob("*/evals/*.csv")):
        if sniff(path) is Kind.TRIGGERS:
            found = load_queries(path)
            seen[path.parts[-3]] = {class_of(query.tags) for query in found.queries}
        load_evals(path, skill_root=path.parent.parent)
    assert len(seen) >= 4
    assert sum({"explicit", "implicit", "negative-control"} <= found for found in seen.values()) >= 2
