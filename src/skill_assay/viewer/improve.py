"""A proposed version of the skill: what would change, file by file, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skill_assay.errors import AssayError
from skill_assay.viewer.files import Refused, inside, read_text
from skill_assay.viewer.site import Opened
from skill_assay.workspace.run_folder import read_json

__all__ = ["FileDiff", "ImprovePage", "improve_page"]

_KINDS = {"+": "add", "-": "del", "@": "place"}


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's changes."""

    path: str
    kind: str
    """`added`, `changed`, or what the file says."""
    reason: str
    lines: tuple[tuple[str, str], ...]
    """(`add`, `del`, `same` or `place`, line)."""


@dataclass(frozen=True, slots=True)
class ImprovePage:
    """What the page shows."""

    present: bool
    files: tuple[FileDiff, ...] = ()
    summary: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """Other short facts of the proposal."""


def improve_page(opened: Opened) -> ImprovePage:
    """The iteration's candidate."""
    root = opened.iteration.path
    diff = read_text(root, "candidate/changes.diff", 2_000_000)
    try:
        data = read_json(inside(root, "candidate/changes.json"))
    except (Refused, AssayError):
        data = None
    if not isinstance(data, Mapping):
        return ImprovePage(False)
    by_file = _by_file(diff or "")
    files = []
    for row in _list(data.get("changes")):
        if isinstance(row, Mapping) and isinstance(row.get("path"), str):
            path = row["path"]
            files.append(FileDiff(path, _text(row.get("kind")), _text(row.get("reason")), by_file.pop(path, ())))
    files += [FileDiff(path, "changed", "", lines) for path, lines in by_file.items()]
    known = {"changes", "schema_version", "summary", "reasoning"}
    facts = tuple((str(key), value) for key, value in data.items() if key not in known and isinstance(value, str))
    return ImprovePage(True, tuple(files), _text(data.get("summary") or data.get("reasoning")), facts)


def _by_file(diff: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """The parts of a unified diff, by the file they change."""
    found: dict[str, list[tuple[str, str]]] = {}
    lines = diff.splitlines()
    current: list[tuple[str, str]] | None = None
    place = 0
    while place < len(lines):
        if lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ "):
            name = lines[place + 1][4:].split("\t")[0].strip()
            current = found.setdefault(name.removeprefix("b/"), [])
            place += 2
            continue
        if current is not None:
            current.append((_KINDS.get(lines[place][:1], "same"), lines[place]))
        place += 1
    return {path: tuple(rows) for path, rows in found.items()}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
