"""Where the evals stand in a file, whichever of the known tools it was written for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skill_assay.formats.notes import Notes, child, shown
from skill_assay.formats.suggest import did_you_mean

__all__ = ["CRITERIA_KEYS", "EVAL_ALIASES", "EVAL_KEYS", "LIST_KEYS", "Located", "locate", "looks_like_eval"]

EVAL_ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "eval_id"),
    "name": ("name", "eval_name"),
    "prompt": ("prompt", "query", "question"),
    "expected_output": ("expected_output", "ground_truth", "expected"),
    "files": ("files", "input_files", "input_file"),
}
"""Our key, then what others call it."""

CRITERIA_KEYS = (
    "expectations",
    "assertions",
    "expected_behavior",
    "expected_behaviors",
    "success_criteria",
    "expects",
    "checks",
)

_OWN = (
    "tags",
    "environment",
    "setup",
    "timeout_seconds",
    "weight",
    "known_issue",
    "turns",
    "reference",
    "should_trigger",
    "expected_skill",
)
EVAL_KEYS = frozenset({name for names in EVAL_ALIASES.values() for name in names} | {*CRITERIA_KEYS, *_OWN})
"""Every key of an eval that means something."""

LIST_KEYS = ("evals", "cases", "expects")
_NAME_KEYS = ("skill_name", "skill", "target_skill")
_SET_KEYS = {*LIST_KEYS, *_NAME_KEYS, "skills", "schema_version", "description", "version", "note", "notes"}


@dataclass(frozen=True, slots=True)
class Located:
    """The evals of a file before they are read one by one."""

    skill_name: str | None
    evals: list[tuple[Any, str]]
    """Each with its JSON path."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Unknown keys beside the list, kept."""


def looks_like_eval(value: Any) -> bool:
    """Whether an object is one eval: it says something to an agent."""
    return isinstance(value, dict) and any(name in value for name in EVAL_ALIASES["prompt"])


def locate(value: Any, notes: Notes) -> Located:
    """Find the evals: a list, an object with a list, or a single object."""
    if isinstance(value, list):
        notes.info("top-level-list", "a list without skill_name is read as the evals", "$")
        return Located(None, _numbered(value, "$"))
    if not isinstance(value, dict):
        notes.error("no-evals", "there are no evals in this file", "$", found=shown(value), expected=_EXPECTED)
        return Located(None, [])
    key = next((key for key in LIST_KEYS if isinstance(value.get(key), list)), None)
    if looks_like_eval(value):
        notes.info("single-eval", "the file is a single eval", "$")
        return Located(_skill_name(value, notes), [(value, "$")])
    if key is None:
        return _nothing(value, notes)
    if key != "evals":
        notes.info("list-key", f"{key} is read as evals", child("$", key))
    extra = {name: item for name, item in value.items() if name not in _SET_KEYS}
    for name in extra:
        _unknown(name, notes)
    return Located(_skill_name(value, notes), _numbered(value[key], child("$", key)), extra)


_EXPECTED = '{"skill_name": …, "evals": [{"prompt": …, "expectations": […]}]}'


def _numbered(items: list[Any], path: str) -> list[tuple[Any, str]]:
    return [(item, f"{path}[{index}]") for index, item in enumerate(items)]


def _nothing(value: Mapping[str, Any], notes: Notes) -> Located:
    key = next((key for key in LIST_KEYS if key in value), None)
    if key:
        found, path = shown(value[key]), child("$", key)
        notes.error("wrong-type", f"{key} can't be read", path, found=found, expected="a list of evals")
    else:
        guess = next((guess for guess in (did_you_mean(name, LIST_KEYS) for name in value) if guess), "")
        found = "keys " + ", ".join(value) if value else "an empty object"
        more = {"found": found[:80], "expected": _EXPECTED, "remedy": guess.strip()}
        notes.error("no-evals", "there are no evals in this file", "$", **more)
    return Located(None, [])


def _skill_name(value: Mapping[str, Any], notes: Notes) -> str | None:
    for key in _NAME_KEYS:
        name = value.get(key)
        if isinstance(name, str) and name.strip():
            if key != "skill_name":
                notes.info("skill-key", f"{key} is read as skill_name", child("$", key))
            return name
        if name is not None:
            notes.error("wrong-type", f"{key} can't be read", child("$", key), found=shown(name), expected="a text")
    names = value.get("skills")
    if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str):
        notes.info("skill-key", "skills is read as skill_name", "$.skills")
        return names[0]
    return None


def _unknown(key: str, notes: Notes) -> None:
    if not key.startswith(("_", "$")):
        remedy = did_you_mean(key, _SET_KEYS) + "It is kept and has no effect."
        notes.once("unknown-key", f"{key} means nothing here", child("$", key), remedy=remedy)
