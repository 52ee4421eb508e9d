"""A table of prompts (`evals.csv`, `<skill>.prompts.csv`, as OpenAI's guide to evaluating skills has them) as evals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skill_assay.formats.dialect import CRITERIA_KEYS

__all__ = ["eval_rows", "find_tables"]

_CRITERIA = (*CRITERIA_KEYS, "pass_criteria")
_FILES = ("files", "input_files", "input_file", "fixtures", "fixture")
_RENAMED = {
    **dict.fromkeys(_CRITERIA, "expectations"),
    **dict.fromkeys(_FILES, "files"),
    "expect_trigger": "should_trigger",
    "should_activate": "should_trigger",
    "expected_outcome": "expected_output",
}
_NUMBERS = ("timeout_seconds", "weight")
_ENDS = re.compile(r"[;\n]+")


def find_tables(folder: Path) -> list[Path]:
    """The tables of prompts directly in a folder: `evals.csv` alone where it is there, else `*prompts.csv`."""
    named = folder / "evals.csv"
    if named.is_file():
        return [named]
    return [path for path in sorted(folder.glob("*prompts.csv")) if path.is_file()] if folder.is_dir() else []


def eval_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows under an eval's own keys; several statements or files in one cell are parted by `;` or line ends."""
    return [_row(row) for row in rows]


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, cell in row.items():
        key = _RENAMED.get(name, name)
        if key in ("expectations", "files"):
            found.setdefault(key, []).extend(part.strip() for part in _ENDS.split(cell) if part.strip())
        elif key in found or (key == "should_trigger" and cell == ""):
            continue
        else:
            found[key] = _number(cell) if key in _NUMBERS else cell
    return found


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell
