"""Schemas as OpenAI's models take them, and replies as the schemas themselves have them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from skill_assay.agents.strict_schema import asked_in_words, restored, strict
from skill_assay.graders.judge_reply import SCHEMA
from skill_assay.llm.base import misfit

ASKED = {
    "graders.judge_reply": ("SCHEMA", "CLASSIFY_SCHEMA"),
    "graders.comparator": ("SCHEMA",),
    "improve.improver": ("SCHEMA",),
    "improve.explain": ("SCHEMA",),
    "triggering.proposer": ("SCHEMA",),
}


def objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema in it."""
    if isinstance(schema, Mapping):
        yield schema
        inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")]
        for one in inner:
            yield from objects(one)


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in ASKED.items() for name in names])
def test_what_we_ask_of_models_has_a_strict_form(module: str, name: str) -> None:
    found = strict(getattr(importlib.import_module(f"skill_assay.{module}"), name))
    assert found is not None
    for one in objects(found):
        assert "type" in one or "anyOf" in one, one
        assert not one.keys() & {"minLength", "maxLength", "uniqueItems", "oneOf", "allOf", "not", "default"}
        if "properties" in one:
            assert one["additionalProperties"] is False and set(one["required"]) == set(one["properties"])


def test_what_may_be_left_out_may_be_null_and_is_left_out_again() -> None:
    reply = {
        "verdicts": [
            {"id": "e1", "verdict": "fail", "explanation": "x", "quote": None, "source": None, "absence": None}
        ],
        "claims": None,
        "eval_feedback": None,
    }
    assert misfit(reply, SCHEMA) is not None
    assert misfit(reply, strict(SCHEMA) or {}) is None
    mended = restored(reply, SCHEMA)
    assert mended == {"verdicts": [{"id": "e1", "verdict": "fail", "explanation": "x"}]}
    assert misfit(mended, SCHEMA) is None


def test_a_null_that_is_required_or_unknown_stays() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}
    assert restored({"a": None, "b": None}, schema) == {"a": None, "b": None}
    assert restored([None], schema) == [None] and restored(None, schema) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"type": "array"},
        {"enum": [[1]]},
    ],
)
def test_what_has_no_strict_form_is_asked_in_words(schema: Mapping[str, Any]) -> None:
    assert strict(schema) is None
    assert '"type"' in asked_in_words("Is it so?", {"type": "object"})
