"""Drafts for a person to approve: a first skill with evals and trigger queries, or further evals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.errors import AssayError, IncompleteError
from skill_assay.formats.skill import read_skill
from skill_assay.formats.triggers import load_queries
from skill_assay.graders.judge_log import RememberingModel
from skill_assay.graders.material import fence_for
from skill_assay.improve.improver import skill_text
from skill_assay.llm.prompt import load_prompt
from skill_assay.model.evals import EvalSet
from skill_assay.model.protocols import Ledger
from skill_assay.model.skill import Skill
from skill_assay.runner.inputs import load_inputs
from skill_assay.workspace.laid_out import laid_out

__all__ = ["DRAFT_SCHEMA", "MORE_SCHEMA", "Draft", "draft_evals", "draft_skill", "evals_file", "triggers_file"]

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_EVAL = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "prompt": _TEXT,
        "expected_output": {"type": "string"},
        "expectations": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"text": _TEXT, "check": {"type": ["object", "null"]}},
                "required": ["text"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["id", "prompt", "expectations"],
    "additionalProperties": False,
}
_EVALS = {"type": "array", "minItems": 1, "items": _EVAL}
_TRIGGERS = {
    "type": "array",
    "minItems": 2,
    "items": {
        "type": "object",
        "properties": {"query": _TEXT, "should_trigger": {"type": "boolean"}},
        "required": ["query", "should_trigger"],
        "additionalProperties": False,
    },
}
DRAFT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"skill_md": _TEXT, "evals": _EVALS, "triggers": _TRIGGERS},
    "required": ["skill_md", "evals", "triggers"],
    "additionalProperties": False,
}
MORE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"evals": _EVALS},
    "required": ["evals"],
    "additionalProperties": False,
}
_LIMIT = 150_000


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill that nobody has approved yet."""

    skill_md: str
    evals: Sequence[Mapping[str, Any]]
    triggers: Sequence[Mapping[str, Any]]


def evals_file(name: str, evals: Sequence[Mapping[str, Any]], note: str) -> str:
    """An evals file of drafts, marked as such."""
    rows = [{**one, "expectations": [_expectation(each) for each in one["expectations"]]} for one in evals]
    return json.dumps({"_draft": note, "skill_name": name, "evals": rows}, indent=2, ensure_ascii=False) + "\n"


def _expectation(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in one.items() if value is not None}


def triggers_file(name: str, queries: Sequence[Mapping[str, Any]], note: str) -> str:
    """A trigger set of drafts, marked as such."""
    return (
        json.dumps({"_draft": note, "skill_name": name, "queries": list(queries)}, indent=2, ensure_ascii=False) + "\n"
    )


async def draft_skill(name: str, material: str, model: RememberingModel, ledger: Ledger) -> Draft:
    """A skill, evals and trigger queries, all of which can be read; what can't is sent back once.

    Args:
        name: the skill's.
        material: a spec, notes, a transcript, or evals.
        model: who drafts.
        ledger: for the journal.

    Raises:
        ModelFailed: it could not be asked.
        IncompleteError: what it drafted can't be used.
    """
    shown = material if len(material) <= _LIMIT else f"{material[:_LIMIT]}\n[… cut …]"
    fence = fence_for(shown)

    def prompt(again: str) -> str:
        return load_prompt("draft").fill(name=name, fence=fence, material=shown, again=again)

    reply = await _valid(prompt, DRAFT_SCHEMA, lambda data: _fault_in_draft(name, data), model, ledger)
    return Draft(reply["skill_md"], reply["evals"], reply["triggers"])


async def draft_evals(
    skill: Skill, present: EvalSet, seen: str, count: int, model: RememberingModel, ledger: Ledger
) -> Sequence[Mapping[str, Any]]:
    """Further evals.

    Args:
        skill: the skill.
        present: the evals there are.
        seen: what results show; empty where there are none.
        count: how many.
        model: who drafts.
        ledger: for the journal.

    Raises:
        ModelFailed: it could not be asked.
        IncompleteError: what it drafted can't be used.
    """
    rows = [{"id": e.id, "prompt": e.prompt, "expectations": [x.text for x in e.expectations]} for e in present.evals]
    evals = json.dumps(rows, ensure_ascii=False, indent=1)
    fence = fence_for(skill_text(skill), evals, seen)
    taken = {one.id for one in present.evals}

    def prompt(again: str) -> str:
        return load_prompt("more-evals").fill(
            count=str(count),
            fence=fence,
            skill=skill_text(skill, fence),
            evals=evals,
            seen=seen or "(there are no results yet)",
            again=again,
        )

    def fault(data: Mapping[str, Any]) -> str | None:
        again = sorted(taken & {one["id"] for one in data["evals"]})
        return (
            f"these ids are taken: {', '.join(again)}"
            if again
            else _fault_in_evals(skill.raw, skill.name, data["evals"])
        )

    return list((await _valid(prompt, MORE_SCHEMA, fault, model, ledger))["evals"])[:count]


async def _valid(
    prompt: Callable[[str], str],
    schema: Mapping[str, Any],
    fault: Callable[[Mapping[str, Any]], str | None],
    model: RememberingModel,
    ledger: Ledger,
) -> Mapping[str, Any]:
    wrong: str | None = None
    for _ in range(2):
        again = f"\n# Your last draft\n\nIt could not be used: {wrong}. Draft again.\n" if wrong else ""
        reply = await model.ask(prompt(again), schema, ledger, run_folder=Path(), number=1)
        wrong = fault(reply)
        if wrong is None:
            return reply
    raise IncompleteError(f"What {model.model.name} drafted can't be used: {wrong}", hint="Nothing was written.")


def _fault_in_draft(name: str, data: Mapping[str, Any]) -> str | None:
    wrong = _fault_in_evals(data["skill_md"].encode("utf-8", "replace"), name, data["evals"])
    if wrong:
        return wrong
    triggers = triggers_file(name, data["triggers"], "draft").encode("utf-8", "replace")
    with laid_out("evals", {"triggers.json": triggers}) as folder:
        try:
            load_queries(folder / "triggers.json")
        except AssayError as error:
            return str(error).replace(str(folder), "")
    labels = {one["should_trigger"] for one in data["triggers"]}
    return None if labels == {True, False} else "the trigger queries need both labels"


def _fault_in_evals(skill_md: bytes, name: str, evals: Sequence[Mapping[str, Any]]) -> str | None:
    """What is wrong with a skill and its evals, read as `assay run` would read them."""
    draft = evals_file(name, evals, "draft").encode("utf-8", "replace")
    with laid_out(name, {"SKILL.md": skill_md, "evals/evals.json": draft}) as root:
        try:
            skill = read_skill(root)
            load_inputs(root)
        except AssayError as error:
            return str(error).replace(str(root.parent), "")
    if skill.name != name:
        return f"the skill's name is {skill.name}, not {name}"
    return None if skill.body.strip() else "the skill has no body"
