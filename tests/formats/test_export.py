from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.formats.evals import examine_evals
from skill_assay.formats.export import Exported, codex_table, eval_set
from skill_assay.formats.export_graders import graders_of
from skill_assay.formats.export_suite import export_suite
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.triggers import load_queries
from skill_assay.model.evals import Check, Eval, EvalSet, Expectation
from skill_assay.model.findings import Severity
from skill_assay.model.prompt_classes import class_of
from skill_assay.model.triggers import Query, QuerySet

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).map(str.strip)
TEXT = WORDS.filter(bool)
NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
FILE = st.from_regex(r"[a-z]{1,6}(/[a-z]{1,6})?\.md", fullmatch=True)
PATTERN = st.from_regex(r"(\^)?([a-z ]{1,5}|\\d\+|\[[a-c]\]|\(\?:x\|y\)|\$|\\Z){1,4}", fullmatch=True)


def check(kind: str, arguments: dict[str, Any], **more: Any) -> Check:
    return Check(kind, {key: value for key, value in arguments.items() if value is not None}, **more)


STEP = st.builds(
    lambda tool, given: {"tool": tool, "input_matches": given}, NAME, st.from_regex(r"[a-z]{1,5}", fullmatch=True)
)
EXACT = st.one_of(
    st.builds(
        lambda pattern, where, flags, negated: check(
            "matches", {"pattern": pattern, "in": where, "flags": flags}, negated=negated
        ),
        PATTERN,
        st.one_of(st.just("answer"), FILE.map(lambda path: f"./{path}")),
        st.sampled_from([None, "i", "s", "is"]),
        st.booleans(),
    ),
    st.builds(lambda path: Check("file_exists", {"path": path, "min_bytes": 0}), FILE),
    st.builds(lambda path: Check("file_absent", {"path": f"./{path}"}), FILE),
    st.builds(
        lambda step, most: check("tool_called", {**step, "min": 1, "max": most}), STEP, st.sampled_from([None, 2])
    ),
    st.builds(lambda step: Check("tool_not_called", step), STEP),
    st.builds(lambda one, two: Check("tool_order", {"tools": [one, two]}), NAME, STEP),
)
EXPECTATION = st.builds(
    lambda text, one, severity: Expectation(text, (one,) if one else (), severity),
    TEXT,
    st.one_of(st.none(), EXACT),
    st.sampled_from(["required", "info"]),
)
EVAL = st.builds(
    Eval,
    id=st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True).filter(
        lambda name: name not in ("results", "mocks", "con", "nul", "aux", "prn")
    ),
    prompt=TEXT,
    expectations=st.lists(EXPECTATION, min_size=1, max_size=3).map(tuple),
    name=st.one_of(st.none(), TEXT.map(lambda text: f"{text} (named)")),
    expected_output=st.one_of(st.none(), TEXT),
    tags=st.lists(TEXT, max_size=2).map(tuple),
    setup=st.one_of(st.none(), st.just("git init -q\ntouch a")),
    timeout_seconds=st.one_of(st.none(), st.integers(1, 3600).map(float)),
)


def put(exported: Exported, root: Path) -> Path:
    for name, text in exported.texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode("utf-8"))
    for name, source in exported.copies.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(source.read_bytes())
    return root


def written(evals: list[Eval], root: Path) -> tuple[EvalSet, Exported]:
    """What is read back, and what was written."""
    exported = export_suite(
        EvalSet("hello", tuple(evals), root / "evals.json", ""), skill_name="hello", skill_root=root
    )
    return examine_evals(put(exported, root / "evals"), skill_root=root)[0], exported


def bare(one: Eval) -> Eval:
    """Without what only says where it stood."""
    expectations = tuple(replace(each, id=None, place="") for each in one.expectations)
    return replace(one, expectations=expectations, extra={})


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(EVAL, min_size=1, max_size=3, unique_by=lambda one: one.id.lower()))
def test_a_suite_that_is_written_is_read_as_it_was(evals: list[Eval]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, _ = written(evals, Path(folder))
        assert not [one for one in found.findings if one.severity is Severity.ERROR]
        assert {one.id: bare(one) for one in found.evals} == {one.id: one for one in evals}


ANY_CHECK = st.one_of(
    EXACT,
    st.builds(
        lambda text, where: check("contains", {"text": text, "in": where}),
        TEXT,
        st.sampled_from([None, "answer", "files", "*.md"]),
    ),
    st.builds(lambda size: Check("file_exists", {"path": "a.md", "min_bytes": size}), st.integers(0, 3)),
    st.just(Check("max_seconds", {"limit": 3})),
    st.just(Check("tool_called", {"tool": "mcp__*"}, negated=True)),
    st.just(Check("matches", {"pattern": r"\Aa", "in": "answer"})),
    st.builds(lambda no: Check("skill_used", {}, negated=no), st.booleans()),
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.builds(Expectation, TEXT, st.lists(ANY_CHECK, max_size=3).map(tuple)), max_size=4))
def test_nothing_is_lost_without_being_named(expectations: list[Expectation]) -> None:
    one = Eval("a", "Do it.", (*expectations, Expectation("It is done.")))
    with tempfile.TemporaryDirectory() as folder:
        found, exported = written([one], Path(folder))
        assert not [each for each in found.findings if each.severity is Severity.ERROR]
        kept = [int((each.id or "0")[:2]) for each in found.evals[0].expectations]
        for index, expectation in enumerate(one.expectations, 1):
            lost = [loss for loss in exported.losses if loss.place == f"eval a, expectation {index}"]
            assert kept.count(index) == max(1, len(expectation.checks)) or lost


def test_fixtures_and_setup_come_back(tmp_path: Path) -> None:
    (tmp_path / "evals/files/sub").mkdir(parents=True)
    (tmp_path / "evals/files/sub/a.csv").write_text("a", encoding="utf-8")
    (tmp_path / "b.csv").write_text("b", encoding="utf-8")
    one = Eval("a", "Do it.", (Expectation("x"),), files=("evals/files/sub/a.csv", "b.csv"), setup="git init -q")
    found, exported = written([one], tmp_path)
    assert found.evals[0].setup == "git init -q"
    assert sorted(place for _, place in resolve_fixtures(found.evals[0], tmp_path)) == ["b.csv", "sub/a.csv"]
    assert "its files and setup are laid out by a script there, which runs only with --scaffold" in [
        loss.reason for loss in exported.losses
    ]


@pytest.mark.parametrize(
    ("one", "keys"),
    [
        (Check("contains", {"text": "1.5 (a)", "in": "answer"}), {"type": "regex", "pattern": r"1\.5 \(a\)"}),
        (
            Check("matches", {"pattern": "(?i)a", "in": "answer"}),
            {"type": "regex", "pattern": "a", "flags": "i"},
        ),
        (Check("file_exists", {"path": "a.md", "min_bytes": 0}), {"type": "file_exists", "path": "**/a.md"}),
        (
            Check("file_exists", {"path": "./a.md"}, negated=True),
            {"type": "file_exists", "path": "a.md", "exists": False},
        ),
        (
            Check("tool_called", {"tool": "Read"}, negated=True),
            {"type": "tool_used", "tool": "Read", "min": 0, "max": 0},
        ),
        (
            Check("skill_used", {"expected": False}),
            {
                "type": "tool_used",
                "tool": "Skill",
                "input_match": r'"skill"\s*:\s*"(?:[\w-]+:)?hello"',
                "min": 0,
                "max": 0,
            },
        ),
    ],
)
def test_a_check_becomes_its_grader(one: Check, keys: dict[str, Any]) -> None:
    graders, reasons = graders_of(Expectation("x", (one,)), "hello")
    assert (dict(graders[0].keys), reasons) == (keys, [])


def test_so_many_matches_and_no_more_is_one_grader() -> None:
    arguments = {"pattern": "a", "in": "answer"}
    checks = (
        Check("matches", {**arguments, "min_count": 2}),
        Check("matches", {**arguments, "min_count": 3}, negated=True),
    )
    graders, _ = graders_of(Expectation("x", checks), "hello")
    assert [one.keys["match"] for one in graders] == ["count:2"]


@pytest.mark.parametrize(
    "one",
    [
        Check("json_path", {"path": "$.a", "equals": 1}),
        Check("matches", {"pattern": "a", "in": "*.md"}),
        Check("matches", {"pattern": "a", "in": ["answer", "a.md"]}),
        Check("matches", {"pattern": "a", "in": "answer", "min_count": 2}),
        Check("matches", {"pattern": "a", "in": "answer", "flags": "x"}),
        Check("file_exists", {"path": "a.{png,jpg}"}),
        Check("file_exists", {"path": "a.md", "min_bytes": 100}),
        Check("tool_called", {"tool": "mcp__*"}),
        Check("tool_order", {"tools": ["A", "B", "C"]}),
        Check("command_ran", {"pattern": "pytest"}),
    ],
)
def test_what_no_grader_decides_becomes_none(one: Check) -> None:
    graders, reasons = graders_of(Expectation("x", (one,)), "hello")
    assert (graders, len(reasons)) == ([], 1)


def test_a_case_that_nothing_decides_is_left_out_and_none_at_all_is_refused(tmp_path: Path) -> None:
    lost = Eval("a", "Do it.", (Expectation("x", (Check("max_cost", {"limit": 1}),)),))
    found, exported = written([lost, Eval("b", "Do it.", (Expectation("y"),))], tmp_path)
    assert [one.id for one in found.evals] == ["b"]
    assert [loss.reason for loss in exported.losses if loss.place == "eval a"] == [
        "left out: no grader there decides any of it"
    ]
    with pytest.raises(InputError, match="no eval"):
        written([lost], tmp_path / "other")


def test_an_id_that_names_no_folder_gets_one(tmp_path: Path) -> None:
    evals = [Eval("../a", "x", (Expectation("y"),)), Eval("results", "x", (Expectation("y"),))]
    found, exported = written(evals, tmp_path)
    assert {one.id for one in found.evals} == {"eval-a", "eval-results"}
    assert all(not name.startswith((".", "/")) for name in exported.texts)


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="half a character"):
        written([Eval("a", "\ud800", (Expectation("y"),))], tmp_path)


QUERY = st.builds(Query, id=st.just(""), text=TEXT, should_trigger=st.booleans())


@settings(max_examples=30, deadline=None)
@given(st.lists(QUERY, min_size=1, max_size=5, unique_by=lambda one: " ".join(one.text.split())))
def test_trigger_sets_are_read_as_they_were(queries: list[Query]) -> None:
    numbered = [replace(one, id=str(number)) for number, one in enumerate(queries, 1)]
    with tempfile.TemporaryDirectory() as folder:
        given_set = QuerySet(tuple(numbered), Path(folder) / "t.json", "")
        for exported in (codex_table(given_set, "hello"), eval_set(given_set)):
            assert exported.losses == ()
            put(exported, Path(folder))
            read = load_queries(Path(folder) / next(iter(exported.texts)))
            assert [(one.id, one.text, one.should_trigger) for one in read.queries] == [
                (one.id, one.text, one.should_trigger) for one in numbered
            ]


def test_the_class_of_a_prompt_is_written_and_read_again(tmp_path: Path) -> None:
    tags = [("explicit",), ("implicit", "near"), (), ("negative-control",)]
    queries = tuple(Query(f"q{n}", f"do {n}", n < 3, tags=said) for n, said in enumerate(tags))
    exported = codex_table(QuerySet(queries, Path("t.json"), ""), "hello")
    assert exported.texts["hello.prompts.csv"].splitlines()[0] == "id,should_trigger,prompt,class"
    assert [(loss.place, loss.reason) for loss in exported.losses] == [("query q1", "tags is not written")]
    put(exported, tmp_path)
    read = load_queries(tmp_path / "hello.prompts.csv").queries
    assert [class_of(one.tags) for one in read] == ["explicit", "implicit", None, "negative-control"]


def test_what_a_query_says_beyond_its_label_is_named() -> None:
    query = Query("a", "x", True, split="test", tags=("t",), turns=("before",))
    exported = eval_set(QuerySet((query,), Path("t.json"), ""))
    assert json.loads(exported.texts["eval_set.json"]) == [{"query": "x", "should_trigger": True}]
    assert [loss.reason.split()[0] for loss in exported.losses] == ["id", "split", "context", "tags"]
