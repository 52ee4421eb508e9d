"""The simulated agent's script: what is understood, and what is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.agents.simulated_script import Amount, Behaviour, Fail, _Reader, load_script
from skill_assay.errors import FailureKind, InputError, NotFoundError


def written(tmp_path: Path, data: Any) -> Path:
    path = tmp_path / "simulated.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_every_key_is_understood(tmp_path: Path) -> None:
    script = load_script(
        written(
            tmp_path,
            {
                "about": "a test",
                "arms": {"with_skill": {"tokens": [100, 5], "use_skill": True}},
                "evals": {
                    "a": {
                        "with_skill": [
                            {"weight": 3, "run": ["ls"], "write": {"x/y.txt": "hi"}, "say": "ok", "turns": 2},
                            {"repeats": [2], "tokens": 7, "seconds": [1, 0], "cost_usd": 0.1, "sleep": 0},
                        ],
                        "*": {"fail": {"kind": "overloaded", "attempts": 1, "message": "m", "retry_after": 2}},
                    }
                },
            },
        )
    )
    first, second = script.behaviours("a", "with_skill", installed=True)
    assert first == Behaviour(
        weight=3, use_skill=True, run=("ls",), write=(("x/y.txt", "hi"),), say="ok", tokens=Amount(100, 5), turns=2
    )
    assert second == Behaviour(
        repeats=(2,), use_skill=True, tokens=Amount(7), seconds=Amount(1, 0), cost_usd=Amount(0.1), sleep=0
    )
    (other,) = script.behaviours("a", "without_skill", installed=False)
    assert other == Behaviour(fail=Fail(FailureKind.OVERLOADED, 1, "m", 2))


def test_a_file_may_be_given_as_json(tmp_path: Path) -> None:
    script = load_script(written(tmp_path, {"evals": {"a": {"*": {"write": {"x.json": {"ü": [1]}}}}}}))
    (behaviour,) = script.behaviours("a", "with_skill", installed=True)
    assert behaviour.write == (("x.json", '{\n  "ü": [\n    1\n  ]\n}\n'),)


def test_the_nearest_entry_is_taken(tmp_path: Path) -> None:
    def says(text: str) -> list[dict[str, str]]:
        return [{"say": text}]

    evals = {
        "a": {"old_skill": says("a old"), "with_skill": says("a with")},
        "*": {"without_skill": says("any without"), "*": says("any any")},
    }
    script = load_script(written(tmp_path, {"evals": evals}))

    def said(eval_id: str, arm: str, installed: bool) -> str:
        return script.behaviours(eval_id, arm, installed)[0].say

    assert said("a", "old_skill", True) == "a old"
    assert said("a", "with_skill_again", True) == "a with"
    assert said("a", "bare", False) == "any without"
    assert said("b", "with_skill", True) == "any any"


def test_an_eval_that_is_not_scripted_is_an_error(tmp_path: Path) -> None:
    script = load_script(written(tmp_path, {"evals": {"a": {"with_skill": {"say": "x"}}}}))
    with pytest.raises(InputError, match="nothing about eval 'b'"):
        script.behaviours("b", "with_skill", installed=True)


def test_a_script_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    with_mark = load_script(written(tmp_path, '\ufeff{"evals": {}}'))
    assert with_mark == load_script(written(tmp_path, '{"evals": {}}'))


def test_a_missing_script_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="simulated: PATH"):
        load_script(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("behaviour", "place", "said"),
    [
        ({"weight": -1}, ".weight", "at least 0"),
        ({"weight": True}, ".weight", "number"),
        ({"weight": 0}, "", "add up to 0"),
        ({"wieght": 1}, "", 'Did you mean "weight"'),
        ({"run": 4}, ".run", "list of shell lines"),
        ({"run": ["a", 4]}, ".run[1]", "text"),
        ({"write": {"../x": "y"}}, ".write", "below the working directory"),
        ({"write": {"/x": "y"}}, ".write", "below the working directory"),
        ({"write": {"": "y"}}, ".write", "below the working directory"),
        ({"write": {"x.txt": 1}}, '.write["x.txt"]', "text"),
        ({"say": "\ud800"}, ".say", "text"),
        ({"tokens": [1]}, ".tokens", "standard deviation"),
        ({"tokens": [1, "x"]}, ".tokens[1]", "number"),
        ({"turns": 1.5}, ".turns", "whole number"),
        ({"repeats": [0]}, ".repeats[0]", "whole number"),
        ({"repeats": []}, ".repeats", "list of repeats"),
        ({"use_skill": 1}, ".use_skill", "true, false"),
        ({"fail": {"kind": "budget"}}, ".fail.kind", "No failure"),
        ({"fail": {"kind": []}}, ".fail.kind", "No failure"),
        ({"fail": {"kind": "crashed", "attempts": 0}}, ".fail.attempts", "whole number"),
        ({"fail": "crashed"}, ".fail", "object"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, behaviour: Any, place: str, said: str) -> None:
    path = written(tmp_path, {"evals": {"messy-dates": {"*": [behaviour]}}})
    with pytest.raises(InputError, match=said.replace("(", r"\(")) as caught:
        load_script(path)
    assert caught.value.file == str(path)
    start = '$.evals["messy-dates"]["*"]'
    assert caught.value.json_path in (start + "[0]" + place, start + place)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Not JSON"),
        ("[]", "object"),
        ("{}", "object"),
        ('{"evals": [], "x": 1}', "Unknown key"),
        ('{"evals": {"a": []}}', "object"),
        ('{"evals": {"a": {"*": []}}}', "behaviour"),
        ('{"evals": {}, "arms": {"with_skill": {"weight": 1}}}', "Unknown key"),
        ("[" * 100_000, "nested too deeply|Not JSON"),
    ],
)
def test_a_file_of_the_wrong_shape_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_script(written(tmp_path, text))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["weight", "run", "write", "say", "tokens", "fail", "kind", "repeats", "*"]), inner
        )
    ),
    max_leaves=5,
)


@given(JSON)
def test_anything_is_read_or_refused(value: Any) -> None:
    try:
        _Reader("x").script({"evals": {"*": {"*": value}}})
    except InputError as error:
        assert error.json_path
