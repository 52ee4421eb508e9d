"""What kind of file somebody's file is, judged by its content and, where that leaves doubt, by its name."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError
from skill_assay.formats.csvtext import csv_rows
from skill_assay.formats.dialect import CRITERIA_KEYS, EVAL_ALIASES, LIST_KEYS, looks_like_eval
from skill_assay.formats.prompt_table import eval_rows
from skill_assay.formats.reading import read_source

__all__ = ["Kind", "is_eval_file", "sniff", "sniff_value"]

_LABELS = ("should_trigger", "should_activate", "expect_trigger", "expect")
_LABEL_LISTS = (
    "should_trigger",
    "should_not_trigger",
    "should_activate",
    "should_not_activate",
    "should_trigger_prompts",
    "should_not_trigger_prompts",
)
_CONFIG = ("trials_per_eval", "baseline_type", "eval_set_path", "thresholds", "previous_benchmark", "skill_path")


class Kind(StrEnum):
    """A kind of file we read."""

    SKILL = "skill"
    EVALS = "evals"
    TRIGGERS = "triggers"
    CONFIG = "configuration"
    OPENAI = "metadata for Codex"


def sniff(path: Path) -> Kind | None:
    """The kind of a file or folder; `None` when it is none of ours."""
    if path.is_dir():
        return Kind.SKILL if any(item.name.lower() == "skill.md" for item in path.iterdir()) else None
    name = path.name.lower()
    if name == "skill.md":
        return Kind.SKILL
    if name == "openai.yaml" and path.absolute().parent.name == "agents":
        return Kind.OPENAI
    if name.endswith(".csv"):
        return _table(path)
    if name.endswith((".yaml", ".yml")):
        return Kind.TRIGGERS
    if not name.endswith(".json"):
        return None
    try:
        value = json.loads(read_source(path).text)
    except (InputError, ValueError, RecursionError):
        return _by_name(name)
    return sniff_value(value) or _by_name(name)


def sniff_value(value: Any) -> Kind | None:
    """The kind of a JSON value."""
    if isinstance(value, dict):
        if any(isinstance(value.get(key), list) for key in _LABEL_LISTS):
            return Kind.TRIGGERS
        if isinstance(value.get("queries"), list) or isinstance(value.get("trigger_evals"), list):
            return Kind.TRIGGERS
        if looks_like_eval(value):
            return Kind.EVALS
        items = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
        if items is None:
            return Kind.CONFIG if any(key in value for key in _CONFIG) else None
    else:
        items = value
    if not isinstance(items, list):
        return None
    return _kind_of_items([item for item in items if isinstance(item, dict)])


def _kind_of_items(items: list[dict[str, Any]]) -> Kind | None:
    spoken = [item for item in items if any(key in item for key in EVAL_ALIASES["prompt"])]
    if not spoken:
        return None
    labelled = sum(any(key in item for key in _LABELS) for item in spoken)
    graded = any(key in item for item in spoken for key in (*CRITERIA_KEYS, *EVAL_ALIASES["expected_output"]))
    return Kind.TRIGGERS if labelled and not graded else Kind.EVALS


def _table(path: Path) -> Kind:
    """A table that says what should hold, or does not say whether the skill should fire, is evals."""
    try:
        rows = csv_rows(read_source(path).text, str(path)).rows
    except InputError:
        return Kind.TRIGGERS
    named = {name for row in rows for name in eval_rows([row])[0]}
    spoken = any(key in named for key in EVAL_ALIASES["prompt"])
    labelled = "should_trigger" in named or "expect" in named
    return Kind.EVALS if spoken and ("expectations" in named or not labelled) else Kind.TRIGGERS


def is_eval_file(path: Path) -> bool:
    """Whether a file holds evals (an empty or broken one counts by its name)."""
    return sniff(path) is Kind.EVALS


def _by_name(name: str) -> Kind | None:
    if "trigger" in name:
        return Kind.TRIGGERS
    if "config" in name:
        return Kind.CONFIG
    return Kind.EVALS if "eval" in name else None
