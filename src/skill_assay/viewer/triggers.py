"""Trigger evaluations: which query made the agent use the skill, and how descriptions fared round by round.

Read from `results.json`, ours or skill-creator's (`run_eval`, `run_loop`); what is missing or odd is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.errors import AssayError, InputError
from skill_assay.formats.triggers import find_queries, load_queries
from skill_assay.viewer.files import Refused, inside
from skill_assay.viewer.outputs import diff_lines
from skill_assay.viewer.site import Opened
from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.trigger_set import TriggerSet, read_trigger_set, save_trigger_set

__all__ = ["Heat", "QueryRow", "Round", "TriggersPage", "save_queries", "triggers_page"]

_MOST = 500
_MOST_ROUNDS = 30
_FOLDERS = ("triggers", "optimisations")


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query."""

    text: str
    wanted: bool
    triggers: int | None
    runs: int | None
    passed: bool | None
    """`None`: no run was decided."""
    split: str = ""

    @property
    def kind(self) -> str:
        """`passed`, `missed`, `false alarm` or `undecided`."""
        if self.passed is None:
            return "undecided"
        return "passed" if self.passed else "missed" if self.wanted else "false alarm"


@dataclass(frozen=True, slots=True)
class Heat:
    """Wanted skills against those that fired, in runs."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...], int], ...]
    """Wanted, counts by column, runs."""


@dataclass(frozen=True, slots=True)
class Round:
    """One description of a search."""

    number: int
    description: str
    scores: tuple[tuple[str, str], ...]
    """(`train`, `9/12`), …"""
    diff: tuple[tuple[str, str], ...]
    """Against the round before."""
    passed: Mapping[str, bool | None]
    """Query → whether it came out as wanted."""


@dataclass(frozen=True, slots=True)
class TriggersPage:
    """What the page shows."""

    name: str | None
    """Of the evaluation's folder."""
    names: tuple[str, ...]
    """All there are, newest first."""
    description: str
    rows: tuple[QueryRow, ...]
    heat: Heat | None
    rounds: tuple[Round, ...]
    queries: tuple[tuple[int | None, str, bool], ...]
    """The trigger set as the editor begins: (its place in the file, query, should it trigger)."""
    digest: str | None
    """Of the file that can be written; `None` where the set can only be exported."""
    unread: str
    """Why the skill's own set can't be edited."""
    notes: tuple[str, ...]

    def count(self, kind: str) -> int:
        """Queries of a kind."""
        return sum(row.kind == kind for row in self.rows)


def triggers_page(opened: Opened, asked: str | None = None, skill: Path | None = None) -> TriggersPage:
    """The evaluation that was asked for, else the newest.

    Args:
        opened: the iteration.
        asked: name of an evaluation.
        skill: the skill whose trigger set may be written; `None` where it is only exported.
    """
    workspace = opened.iteration.path.parent
    names = tuple(_names(workspace))
    name = asked if asked in names else names[0] if names else None
    data = _results(workspace, name) if name else {}
    rounds = tuple(_rounds(data))
    last = _list(data.get("history"))[-1] if rounds else data
    rows = tuple(_rows(last)) if isinstance(last, Mapping) else ()
    own, unread = _own_set(skill)
    return TriggersPage(
        name=name,
        names=names,
        description=_text(data.get("description") or data.get("best_description")),
        rows=rows,
        heat=_heat(data.get("matrix")),
        rounds=rounds,
        queries=_editable(own, rows, opened),
        digest=own.digest if own else None,
        unread=unread,
        notes=tuple(one for one in _list(data.get("notes")) if isinstance(one, str)),
    )


def _names(workspace: Path) -> Sequence[str]:
    """`triggers/<time>`, newest first; those without results are still at work."""
    found = []
    for kind in _FOLDERS:
        folder = workspace / kind
        if folder.is_dir() and not folder.is_symlink():
            found += [(one.name, f"{kind}/{one.name}") for one in folder.iterdir() if (one / "results.json").is_file()]
    return [name for _, name in sorted(found, reverse=True)]


def _results(workspace: Path, name: str) -> Mapping[str, Any]:
    try:
        data = read_json(inside(workspace, f"{name}/results.json"))
    except (Refused, AssayError):
        return {}
    return data if isinstance(data, Mapping) else {}


def _rows(data: Mapping[str, Any]) -> Sequence[QueryRow]:
    results = [*_list(data.get("results")), *_list(data.get("test_results"))]
    good = [one for one in results[:_MOST] if isinstance(one, Mapping) and isinstance(one.get("query"), str)]
    return [
        QueryRow(
            one["query"],
            one["should_trigger"],
            _whole(one.get("triggers")),
            _whole(one.get("runs")),
            one["pass"] if isinstance(one.get("pass"), bool) else None,
            _text(one.get("split")),
        )
        for one in good
        if isinstance(one.get("should_trigger"), bool)
    ]


def _heat(data: Any) -> Heat | None:
    if not isinstance(data, Mapping):
        return None
    columns = tuple(one if isinstance(one, str) else "no skill" for one in _list(data.get("columns")))
    rows = []
    for row in _list(data.get("rows")):
        counts = tuple(_whole(one) or 0 for one in _list(row.get("counts"))) if isinstance(row, Mapping) else ()
        if len(counts) == len(columns) and counts:
            wanted = row.get("wanted")
            rows.append((wanted if isinstance(wanted, str) else "no skill", counts, _whole(row.get("runs")) or 0))
    return Heat(columns, tuple(rows)) if rows else None


def _rounds(data: Mapping[str, Any]) -> Sequence[Round]:
    found: list[Round] = []
    before = _text(data.get("original_description"))
    for place, one in enumerate(_list(data.get("history"))[:_MOST_ROUNDS], start=1):
        if not isinstance(one, Mapping):
            continue
        description = _text(one.get("description"))
        scores = [
            (split, f"{passed}/{total}")
            for split in ("train", "test")
            if (passed := _whole(one.get(f"{split}_passed"))) is not None
            and (total := _whole(one.get(f"{split}_total")))
        ]
        diff = tuple(line for line in diff_lines(_words(before), _words(description)) if line[0] != "place")
        number = _whole(one.get("iteration"))
        outcomes = {row.text: row.passed for row in _rows(one)}
        found.append(Round(place if number is None else number, description, tuple(scores), diff, outcomes))
        before = description
    return found


def _words(text: str) -> str:
    """A sentence a line, so that a diff shows what changed and no more."""
    return text.replace(". ", ".\n").replace("; ", ";\n")


def _own_set(skill: Path | None) -> tuple[TriggerSet | None, str]:
    try:
        return (read_trigger_set(skill), "") if skill else (None, "")
    except AssayError as error:
        return None, str(error)
    except OSError as error:
        return None, f"it can't be read: {error.strerror}"


def _editable(
    own: TriggerSet | None, rows: Sequence[QueryRow], opened: Opened
) -> tuple[tuple[int | None, str, bool], ...]:
    if own is not None:
        return tuple((at, one["query"], one["should_trigger"]) for at, one in enumerate(own.entries))
    found = [(row.text, row.wanted) for row in rows] or _queries(opened)
    return tuple((None, text, wanted) for text, wanted in found)


def save_queries(skill: Path | None, asked: Mapping[str, Any]) -> str:
    """Write the skill's trigger set as it was edited; the file's name.

    Raises:
        InputError: it can't be written; the message says why, and nothing was changed.
    """
    rows, digest = asked.get("queries"), asked.get("digest")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not isinstance(digest, str):
        raise InputError("is no trigger set")
    if skill is None:
        raise InputError("the skill of these results is not known here; export the set instead")
    return str(save_trigger_set(skill, rows, digest).relative_to(skill))


def _queries(opened: Opened) -> Sequence[tuple[str, bool]]:
    """The skill's own trigger set, where the skill is still where it was."""
    root = Path(opened.benchmark.skill_path) if opened.benchmark.skill_path else None
    try:
        found = load_queries(find_queries(root)) if root and root.is_dir() else None
    except (AssayError, OSError):
        return ()
    return [(one.text, one.should_trigger) for one in found.queries] if found else ()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int | None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return int(value) if good else None
