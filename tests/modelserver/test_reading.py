"""Scripts written as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from skill_assay.errors import InputError
from skill_assay.model.transcript import Tokens
from skill_assay.modelserver import Cut, Error, Hang, Rule, Script, Text, ToolUse, Turn, Wait
from skill_assay.modelserver.reading import script_from


def test_every_part_of_a_script_can_be_written() -> None:
    turn = {
        "items": [{"text": "t"}, {"tool": "Bash", "input": {"command": "ls"}}, {"wait": 1}, {"hang": True}],
        "error": {"status": 529, "count": 1, "retry_after": 2},
        "cut": {"after": 3},
        "stop_reason": "refusal",
        "usage": {"input": 5},
    }
    data = {"rules": [{"when": {"prompt": "p", "without": "s"}, "turns": [turn, [{"tool": "Skill"}]]}]}
    first = Turn(
        (Text("t"), ToolUse("Bash", {"command": "ls"}), Wait(1.0), Hang()),
        Error(529, count=1, retry_after=2),
        Cut(3),
        "refusal",
        Tokens(5),
    )
    rule = Rule((first, Turn((ToolUse("Skill"),))), prompt="p", without="s")
    assert script_from(data) == Script((rule,), ("scripted",))


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ([], "$"),
        ({}, "$.rules"),
        ({"rules": [], "x": 1}, "$.x"),
        ({"rules": [{"turns": []}]}, "$.rules[0].turns"),
        ({"rules": [{"when": {"promt": "x"}, "turns": [[]]}]}, "$.rules[0].when.promt"),
        ({"rules": [{"when": {"prompt": 1}, "turns": [[]]}]}, "$.rules[0].when.prompt"),
        ({"rules": [{"turns": [[{"say": "x"}]]}]}, "$.rules[0].turns[0][0]"),
        ({"rules": [{"turns": [{"items": [{"wait": "x"}]}]}]}, "$.rules[0].turns[0].items[0]"),
        ({"rules": [{"turns": [{"error": {"code": 1}}]}]}, "$.rules[0].turns[0].error"),
        ({"rules": [{"turns": ["x"]}]}, "$.rules[0].turns[0]"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(data: Any, place: str) -> None:
    with pytest.raises(InputError) as error:
        script_from(data, file="script.json")
    assert (error.value.json_path, error.value.file) == (place, "script.json")
