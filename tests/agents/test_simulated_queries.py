"""The simulated agent under trigger queries: rules by text, id and description, chances that hold, strict reading."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.simulated_script import Script, load_script
from skill_assay.errors import InputError


def script(tmp_path: Path, queries: Any, **more: Any) -> Script:
    path = tmp_path / "simulated.json"
    path.write_text(json.dumps({"queries": queries, **more}), encoding="utf-8")
    return load_script(path)


def test_a_text_comes_before_an_id_and_that_before_the_rest(tmp_path: Path) -> None:
    found = script(tmp_path, {"do  it": 0.1, "7": 0.2, "*": 0.3})
    asked = [found.query("7", "do it", ""), found.query("7", "else", ""), found.query("8", "else", "")]
    assert [rule.fires for rule in asked] == [0.1, 0.2, 0.3]


def test_the_first_rule_that_holds_for_the_description_is_played(tmp_path: Path) -> None:
    found = script(tmp_path, {"1": [{"when": "Expenses", "fires": 0.9}, 0.1]})
    assert found.query("1", "x", "Adds up EXPENSES.").fires == 0.9
    assert found.query("1", "x", "Adds up costs.").fires == 0.1


def test_nothing_said_about_a_query_is_an_error_that_names_it(tmp_path: Path) -> None:
    found = script(tmp_path, {"1": {"when": "x", "fires": 1}})
    with pytest.raises(InputError, match="nothing about the query 'do it' under this description"):
        found.query("1", "do it", "nothing")


def test_chances_are_those_of_the_rule(tmp_path: Path) -> None:
    rule = script(tmp_path, {"1": {"fires": 0.2, "instead": {"other": 0.5}, "say": "Done."}}).query("1", "", "")
    draws = random.Random(1)
    used = [rule.chosen(draws.random()).use_skill for _ in range(4000)]
    shares = [used.count(skill) / len(used) for skill in (True, "other", False)]
    assert shares == pytest.approx([0.2, 0.5, 0.3], abs=0.03)
    assert rule.chosen(0.0).say == "Done."


def test_defaults_of_queries_stand_under_arms(tmp_path: Path) -> None:
    found = script(tmp_path, {"1": 1, "2": {"tokens": 5}}, arms={"queries": {"tokens": 9, "use_skill": True}})
    tokens = [found.query(name, "", "").behaviour.tokens for name in ("1", "2")]
    assert [amount.mean for amount in tokens if amount] == [9, 5]
    assert found.query("2", "", "").chosen(0.99).use_skill is False


@pytest.mark.parametrize(
    ("rule", "place", "words"),
    [
        (1.5, ".fires", "from 0 to 1"),
        ("yes", ".fires", "number"),
        (True, ".fires", "number"),
        ([], "", "list of rules"),
        ({"fires": 0.6, "instead": {"a": 0.6}}, "", "more than 1"),
        ({"instead": {"a": -1}}, ".instead.a", "at least 0"),
        ({"instead": []}, ".instead", "object"),
        ({"when": 3}, ".when", "text"),
        ({"fire": 1}, "", "Unknown key"),
        ({"use_skill": True}, "", "Unknown key"),
        ([0.1, {"fires": 2}], "[1].fires", "from 0 to 1"),
    ],
)
def test_what_can_not_be_a_rule_is_refused_with_its_place(tmp_path: Path, rule: Any, place: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        script(tmp_path, {"q": rule})
    assert caught.value.json_path == f"$.queries.q{place}"
