"""JSON texts: what is told of one that is broken, whichever Python reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skill_assay.errors import InputError
from skill_assay.formats.jsontext import parse_json


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_json(text, "evals.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The file is empty."),
        ('{"a": 1,}', "Remove the comma before the closing bracket."),
        ("[1, 2,\n]", "Remove the comma before the closing bracket."),
        ('{"a": 1 // one\n}', "JSON has no comments"),
        ("{'a': 1}", "JSON strings stand in double quotes."),
        ('{"a": 1\n"b": 2}', "A comma is missing before this."),
        ('{"a": "one\ntwo"}', r"write \n for a line end"),
    ],
)
def test_what_is_likely_wrong_is_said(text: str, words: str) -> None:
    assert words in refused(text)


@pytest.mark.parametrize("text", ['{"a": 1 , }', "[1, 2 ,\n]", "[1,,]", '[{"b": [2],\n\n}]'])
def test_a_comma_too_many_is_told_alike_by_every_python(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 points to the comma, earlier ones to what follows it."""
    told = refused(text)

    def other(given: str, **options: Any) -> None:
        raise json.JSONDecodeError("Illegal trailing comma before end of object", given, given.rindex(","))

    monkeypatch.setattr("skill_assay.formats.jsontext.json.loads", other)
    assert refused(text) == told
    at = text.rindex(",")
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    assert f"evals.json:{line}: is not JSON: a comma too many, column {column}" in told
    assert "Remove the comma before the closing bracket." in told
