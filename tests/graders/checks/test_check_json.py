import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.graders.json_text import NotJson, json_equal, parse_json

DATA = {
    "title": "Trip",
    "ratio": "9:16",
    "scenes": [{"seconds": 5, "tag": "a"}, {"seconds": 7.5, "tag": "b"}],
    "done": True,
    "note": None,
}


@pytest.fixture
def manifest(desk):
    return desk.file("2026-01/manifest.json", json.dumps(DATA))


@pytest.mark.parametrize(
    ("arguments", "verdict", "negated"),
    [
        ("$.title", "passed", "failed"),
        ("$.missing", "failed", "passed"),
        ({"path": "$.title", "equals": "Trip"}, "passed", "failed"),
        ({"path": "$.title", "equals": "Trap"}, "failed", "passed"),
        ({"path": "$.missing", "equals": "Trip"}, "failed", "failed"),
        ({"path": "$.done", "equals": True}, "passed", "failed"),
        ({"path": "$.done", "equals": 1}, "failed", "passed"),
        ({"path": "$.note", "equals": None}, "passed", "failed"),
        ({"path": "$.title", "equals": None}, "failed", "passed"),
        ({"path": "$.scenes[0].seconds", "equals": 5.0}, "passed", "failed"),
        ({"path": "$.ratio", "matches": r"^\d+:\d+$"}, "passed", "failed"),
        ({"path": "$.scenes[0].seconds", "matches": "5"}, "failed", "passed"),
        ({"path": "$.scenes[*]", "count": 2}, "passed", "failed"),
        ({"path": "$.scenes[*]", "count": 3}, "failed", "passed"),
        ({"path": "$.gone", "count": 0}, "passed", "failed"),
        ({"path": "$.gone", "exists": False}, "passed", "failed"),
        ({"path": "$.title", "exists": False}, "failed", "passed"),
        ({"path": "$.note", "exists": True}, "passed", "failed"),
        ({"path": "$.scenes[*].seconds", "min": 5, "max": 7.5}, "passed", "failed"),
        ({"path": "$.scenes[*].seconds", "max": 7}, "failed", "passed"),
        ({"path": "$.scenes[*].seconds", "min": 12345678}, "failed", "passed"),
        ({"path": "$.done", "min": 0}, "failed", "passed"),
        ({"path": "$.scenes", "type": "array"}, "passed", "failed"),
        ({"path": "$.scenes[0].seconds", "type": "integer"}, "passed", "failed"),
        ({"path": "$.scenes[0].seconds", "type": "number"}, "passed", "failed"),
        ({"path": "$.scenes[1].seconds", "type": "integer"}, "failed", "passed"),
        ({"path": "$.done", "type": "integer"}, "failed", "passed"),
        ({"path": "$.note", "type": "null"}, "passed", "failed"),
        ({"path": "$.scenes[?@.tag == 'b'].seconds", "equals": 7.5}, "passed", "failed"),
        ({"path": "$.title", "exists": True, "equals": "Trap"}, "failed", "passed"),
        ({"path": "$.scenes[*].tag", "count": 2, "equals": "a"}, "failed", "passed"),
        ({"path": "$.title", "file": "other.json", "equals": "Trip"}, "failed", "failed"),
        ({"fields": ["$.title", {"path": "$.done", "equals": True}], "file": "manifest.json"}, "passed", "failed"),
        ({"fields": ["$.title", {"path": "$.done", "equals": False}]}, "failed", "passed"),
    ],
)
def test_json_path(manifest, arguments, verdict, negated):
    assert manifest.verdict({"json_path": arguments}) == verdict
    assert manifest.verdict({"not": {"json_path": arguments}}) == negated


def test_json_path_holds_when_one_of_several_files_has_all_fields(desk):
    desk.file("a/meta.json", '{"x": 1, "y": 1}').file("b/meta.json", '{"x": 2, "y": 2}')
    both = [{"path": "$.x", "equals": 2}, {"path": "$.y", "equals": 2}]
    mixed = [{"path": "$.x", "equals": 1}, {"path": "$.y", "equals": 2}]
    assert desk.grade({"json_path": both}).places[0].file == "outputs/b/meta.json"
    assert desk.verdict({"json_path": mixed}) == "failed"


def test_json_lines_are_a_list(desk):
    desk.file("log.jsonl", '{"n": 1}\n\n{"n": 2}\n')
    assert desk.verdict({"json_path": {"path": "$[1].n", "file": "log.jsonl", "equals": 2}}) == "passed"


@pytest.mark.parametrize("content", ["", "{", "nul", '{"a": NaN}', "[" * 100_000, "\0", '{"a": 1} trailing'])
def test_what_is_not_json_fails_inside_not_too(desk, content):
    desk.file("a.json", content)
    for check in ({"json_path": {"path": "$.a", "equals": 1}}, {"json_schema": {"schema": {}, "file": "a.json"}}):
        assert desk.verdict(check) == "failed"
        assert desk.verdict({"not": check}) == "failed"


@pytest.mark.slow
def test_a_regular_expression_inside_a_path_is_bounded_too(desk, monkeypatch):
    monkeypatch.setattr("skill_assay.graders.bounded.SECONDS", 1.5)
    desk.file("a.json", json.dumps({"list": ["a" * 60 + "!"]}))
    assert desk.verdict({"json_path": {"path": "$.list[*]", "matches": "^(a+)+$"}}) == "error"


SCHEMA = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}


def test_json_schema_inline_and_from_a_file(manifest):
    assert manifest.verdict({"json_schema": {"schema": SCHEMA, "file": "manifest.json"}}) == "passed"
    manifest.evals_file("schemas/trip.json", json.dumps(SCHEMA))
    assert manifest.verdict({"json_schema": "schemas/trip.json"}) == "passed"
    assert manifest.verdict({"json_schema": "evals/schemas/trip.json"}) == "passed"
    strict = {**SCHEMA, "required": ["author"]}
    grade = manifest.grade({"json_schema": {"schema": strict, "file": "manifest.json"}})
    assert grade.passed is False and "'author' is a required property" in grade.evidence
    assert manifest.verdict({"not": {"json_schema": {"schema": strict, "file": "manifest.json"}}}) == "passed"
    assert manifest.verdict({"not": {"json_schema": {"schema": strict, "file": "none.json"}}}) == "failed"


def test_json_schema_names_the_place_of_what_is_wrong(desk):
    desk.file("a.json", '{"items": [{"n": 1}, {"n": "two"}]}')
    schema = {"properties": {"items": {"items": {"properties": {"n": {"type": "number"}}}}}}
    assert "$.items[1].n" in desk.grade({"json_schema": {"schema": schema, "file": "a.json"}}).evidence


def test_json_schema_fetches_nothing(desk):
    desk.file("a.json", "{}")
    with pytest.raises(InputError, match="nothing is fetched"):
        desk.compile({"json_schema": {"schema": {"$ref": "https://example.com/schema.json"}, "file": "a.json"}})
    assert desk.verdict({"json_schema": {"schema": {"$ref": "other.json"}, "file": "a.json"}}) == "error"
    assert desk.verdict({"json_schema": {"schema": {"$ref": "#/$defs/none"}, "file": "a.json"}}) == "error"


def test_json_schema_fetches_nothing_by_a_relative_reference_either(desk):
    asked = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        schema = {"$id": f"http://127.0.0.1:{server.server_port}/root.json", "$ref": "other.json"}
        desk.file("a.json", "{}")
        assert desk.verdict({"json_schema": {"schema": schema, "file": "a.json"}}) == "error"
        server.shutdown()
    assert asked == []


@pytest.mark.parametrize(
    ("check", "place", "words"),
    [
        ({"json_path": "title"}, ".json_path", "not a JSON path"),
        ({"json_path": "$.a[?"}, ".json_path", "not a JSON path"),
        ({"json_path": {"file": "a.json"}}, ".json_path", "exactly one of 'path' and 'fields'"),
        ({"json_path": {"path": "$.a", "fields": ["$.b"]}}, ".json_path", "exactly one"),
        ({"json_path": {"fields": ["$.b"], "equals": 3}}, ".json_path", "inside each"),
        ({"json_path": {"path": "$.a", "equal": 3}}, ".json_path", 'Did you mean "equals"?'),
        ({"json_path": {"path": "$.a", "type": "text"}}, ".json_path.type", "string or number"),
        ({"json_path": {"path": "$.a", "min": "3"}}, ".json_path.min", "a number"),
        ({"json_path": {"path": "$.a", "min": 3, "max": 2}}, ".json_path", "at least 3 and at most 2"),
        ({"json_path": {"path": "$.a", "exists": False, "equals": 3}}, ".json_path.exists", "besides"),
        ({"json_path": [{"path": "$.a"}, {"path": "b"}]}, ".json_path[1].path", "not a JSON path"),
        ({"json_path": []}, ".json_path", "a list, not empty"),
        ({"json_schema": "schemas/none.json"}, ".json_schema", "no such file"),
        ({"json_schema": "../../etc/passwd"}, ".json_schema", "leaves the evals folder"),
        ({"json_schema": {"schema": {"type": "text"}}}, ".json_schema", "no valid schema"),
        ({"json_schema": {"schema": 3}}, ".json_schema", "this is no schema"),
    ],
)
def test_bad_arguments(desk, check, place, words):
    with pytest.raises(InputError) as raised:
        desk.compile(check)
    assert raised.value.json_path == f"$.evals[0].expectations[0].check{place}"
    assert words in str(raised.value)


def test_a_schema_behind_a_link_out_of_the_evals_folder_is_refused(desk):
    outside = desk.folder / "outside.json"
    outside.write_text("{}")
    (desk.evals_root / "inside.json").symlink_to(outside)
    with pytest.raises(InputError, match="by a link"):
        desk.compile({"json_schema": "inside.json"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_a_value_is_equal_to_itself_written_and_read(value):
    assert json_equal(parse_json(json.dumps(value).encode()), value)


@given(JSON, JSON)
def test_equality_is_that_of_the_canonical_text_but_for_numbers(one, other):
    if json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert json_equal(one, other)
    assert json_equal(one, other) == json_equal(other, one)


@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_refused(data):
    try:
        parse_json(data)
    except NotJson as reason:
        assert str(reason).startswith("is not JSON")
