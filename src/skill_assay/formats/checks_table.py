"""Checks as an author writes them, turned into `Check`s: one kind each, arguments always in the long form.

Only the shape is judged here. What an argument may be is known by `graders.checks`, which validates it at load.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_assay.formats.notes import Notes, shown
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.evals import Check

__all__ = ["CHECK_LIST", "CHECK_SHORT", "long_form", "parse_check", "parse_checks"]

CHECK_SHORT: Mapping[str, str] = {
    "file_exists": "path",
    "file_absent": "path",
    "contains": "text",
    "matches": "pattern",
    "equals": "file",
    "json_path": "path",
    "json_schema": "schema",
    "csv": "file",
    "language": "is",
    "command": "run",
    "python": "function",
    "tool_called": "tool",
    "tool_not_called": "tool",
    "tool_order": "tools",
    "command_ran": "pattern",
    "skill_used": "name",
    "max_tokens": "limit",
    "max_seconds": "limit",
    "max_cost": "limit",
    "max_turns": "limit",
}
"""Every kind, and the argument that its short form `{kind: value}` stands for."""

CHECK_LIST: Mapping[str, str] = {"json_path": "fields"}
"""Kinds whose short form may be a list that is something else than their first argument."""


def long_form(kind: str, value: Any) -> dict[str, Any]:
    """The arguments of a check as a mapping, whichever form they were written in."""
    if isinstance(value, dict):
        return dict(value)
    if kind == "skill_used" and isinstance(value, bool):
        return {"expected": value}
    if isinstance(value, list) and kind in CHECK_LIST:
        return {CHECK_LIST[kind]: value}
    return {CHECK_SHORT[kind]: value}


def parse_checks(raw: Any, path: str, notes: Notes) -> tuple[Check, ...]:
    """The checks of one expectation: a single one, or a list of them. Problems go to `notes`."""
    if isinstance(raw, list):
        if not raw:
            notes.error("empty-check", "an empty list of checks decides nothing", path, remedy="Write a check.")
        pairs = [(item, f"{path}[{index}]") for index, item in enumerate(raw)]
    else:
        pairs = [(raw, path)]
    checks = (parse_check(item, place, notes) for item, place in pairs)
    return tuple(check for check in checks if check is not None)


def parse_check(raw: Any, path: str, notes: Notes, *, negated: bool = False) -> Check | None:
    """One check, `{"not": …}` unwrapped (twice is once again positive)."""
    if not isinstance(raw, dict) or len(raw) != 1:
        expected = 'one kind with its arguments, as {"file_exists": "report.md"}'
        remedy = "Several checks go into a list; arguments go inside the kind." if isinstance(raw, dict) else ""
        notes.error("bad-check", "this is not a check", path, found=shown(raw), expected=expected, remedy=remedy)
        return None
    kind, value = next(iter(raw.items()))
    if kind == "not":
        return parse_check(value, f"{path}.not", notes, negated=not negated)
    if kind not in CHECK_SHORT:
        guess = did_you_mean(kind, CHECK_SHORT)
        remedy = f"{guess}Kinds: {', '.join(CHECK_SHORT)}."
        notes.error("unknown-check", f"there is no check called {kind!r}", path, remedy=remedy)
        return None
    return Check(kind, long_form(kind, value), negated)
