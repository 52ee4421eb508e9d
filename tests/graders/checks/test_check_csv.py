import pytest

from skill_assay.errors import InputError

TABLE = "name,amount,note\nAnna,12.50,first\nBen,7,\nCleo,3,last\n"


@pytest.mark.parametrize(
    ("arguments", "verdict", "negated"),
    [
        ({"columns": ["amount", "name"]}, "passed", "failed"),
        ({"columns": ["total"]}, "failed", "passed"),
        ({"min_rows": 3, "max_rows": 3}, "passed", "failed"),
        ({"min_rows": 4}, "failed", "passed"),
        ({"max_rows": 2}, "failed", "passed"),
        ({"cell": {"row": 1, "column": "amount", "equals": 12.5}}, "passed", "failed"),
        ({"cell": {"row": 1, "column": "amount", "equals": "12.5"}}, "failed", "passed"),
        ({"cell": {"row": 1, "column": 1, "equals": "Anna"}}, "passed", "failed"),
        ({"cell": {"row": -1, "column": "note", "matches": "^la"}}, "passed", "failed"),
        ({"cell": {"row": 9, "column": "note", "equals": "x"}}, "failed", "passed"),
        ({"cell": {"row": 1, "column": "total", "equals": "x"}}, "failed", "passed"),
        ({}, "passed", "failed"),
    ],
)
def test_csv(desk, arguments, verdict, negated):
    desk.file("2026/out.csv", TABLE)
    check = {"csv": {"file": "out.csv", **arguments}}
    assert (desk.verdict(check), desk.verdict({"not": check})) == (verdict, negated)


@pytest.mark.parametrize(
    "table", [TABLE.replace(",", ";"), TABLE.replace(",", "\t"), "\ufeff" + TABLE.replace("\n", "\r\n")]
)
def test_other_separators_and_line_ends(desk, table):
    desk.file("out.csv", table)
    check = {"csv": {"file": "out.csv", "columns": ["name", "note"], "min_rows": 3, "max_rows": 3}}
    assert desk.verdict(check) == "passed"


def test_quoted_fields_hold_separators_and_line_ends(desk):
    desk.file("out.csv", 'name,note\n"Anna, B.","two\nlines"\n')
    cell = {"row": 1, "column": "name", "equals": "Anna, B."}
    assert desk.verdict({"csv": {"file": "out.csv", "max_rows": 1, "cell": cell}}) == "passed"


@pytest.mark.parametrize("content", ["", "\n\n", "\0\1"])
def test_no_table_fails_inside_not_too(desk, content):
    desk.file("out.csv", content)
    check = {"csv": {"file": "out.csv", "max_rows": 5}}
    assert (desk.verdict(check), desk.verdict({"not": check})) == ("failed", "failed")
    assert desk.verdict({"not": {"csv": "none.csv"}}) == "failed"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"columns": []}, "a list, not empty"),
        ({"min_rows": 3, "max_rows": 2}, "at least 3 and at most 2"),
        ({"cell": {"row": 0, "column": 1, "equals": "x"}}, "this is no row"),
        ({"cell": {"row": 1, "column": 0, "equals": "x"}}, "column"),
        ({"cell": {"row": 1, "column": 1}}, "exactly one of 'equals' and 'matches'"),
        ({"cell": {"row": 1, "column": 1, "matches": "("}}, "not a regular expression"),
        ({"cell": {"row": 1, "colum": 1, "equals": "x"}}, 'Did you mean "column"?'),
        ({"cell": {"row": 1, "column": 1, "equals": True}}, "a cell is never that"),
    ],
)
def test_bad_arguments(desk, arguments, words):
    with pytest.raises(InputError, match=words):
        desk.compile({"csv": {"file": "out.csv", **arguments}})
