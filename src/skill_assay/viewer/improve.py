"""A proposed version of the skill: what would change, piece by piece, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.errors import AssayError, InputError
from skill_assay.formats.hunks import Hunk
from skill_assay.viewer.files import Refused, inside, read_text
from skill_assay.viewer.site import Opened
from skill_assay.workspace.candidates import ProposedFile, proposed_files, put_in_place
from skill_assay.workspace.run_folder import read_json

__all__ = ["FileDiff", "ImprovePage", "Piece", "decide", "improve_page"]

_KINDS = {"+": "add", "-": "del", "@": "place"}
_MOST_LINES = 400
Lines = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """What can be accepted or refused alone."""

    name: str
    """`SKILL.md#2`."""
    place: str
    """Where it lies in the file, for a reader."""
    lines: Lines
    """(`add`, `del`, `same` or `place`, line)."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file's changes."""

    path: str
    kind: str
    """`added`, `changed`, or what the file says."""
    reason: str
    lines: Lines = ()
    """As the proposal's own diff has them; for what can no longer be decided here."""
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class ImprovePage:
    """What the page shows."""

    present: bool
    files: tuple[FileDiff, ...] = ()
    summary: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """Other short facts of the proposal."""
    decidable: bool = False
    """Whether pieces can be accepted here."""
    why_not: str = ""
    """Why not, where there is more to say than the command to use."""

    @property
    def pieces(self) -> int:
        """In all files."""
        return sum(len(file.pieces) for file in self.files)


def improve_page(opened: Opened, skill: Path | None = None) -> ImprovePage:
    """The iteration's candidate.

    Args:
        opened: the iteration.
        skill: the skill it may be put in place of; `None` where it is only shown.
    """
    root = opened.iteration.path
    try:
        data = read_json(inside(root, "candidate/changes.json"))
    except (Refused, AssayError):
        data = None
    if not isinstance(data, Mapping):
        return ImprovePage(False)
    files, why_not = _undecided(opened, skill) if skill else ({}, "")
    diff = {} if files else _by_file(read_text(root, "candidate/changes.diff", 2_000_000) or "")
    shown = []
    for row in _list(data.get("changes")):
        if isinstance(row, Mapping) and isinstance(row.get("path"), str):
            path = row["path"]
            lines, pieces = diff.pop(path, ()), files.pop(path, ())
            shown.append(FileDiff(path, _text(row.get("kind")), _text(row.get("reason")), lines, pieces))
    shown += [FileDiff(path, "changed", "", lines) for path, lines in diff.items()]
    shown += [FileDiff(path, "changed", "", (), pieces) for path, pieces in files.items()]
    known = {"changes", "schema_version", "summary", "reasoning"}
    facts = tuple(
        (str(key), _short(value)) for key, value in data.items() if key not in known and isinstance(value, str)
    )
    summary = _text(data.get("summary") or data.get("reasoning"))
    decidable = any(file.pieces for file in shown)
    return ImprovePage(True, tuple(shown), summary, tuple(facts), decidable, why_not)


def decide(opened: Opened, skill: Path | None, asked: Mapping[str, Any]) -> list[str]:
    """Put the accepted pieces in place; the files that changed.

    Args:
        opened: the iteration.
        skill: the skill that may be changed.
        asked: `accepted`: names of pieces.

    Raises:
        InputError: it can't be done; the message says why, and nothing was changed.
    """
    accepted = asked.get("accepted")
    if not isinstance(accepted, list) or not all(isinstance(name, str) for name in accepted):
        raise InputError("says not which pieces are accepted")
    if skill is None:
        raise InputError("the skill of these results is not known here, so nothing can be put in place")
    inside(opened.iteration.path, "candidate/changes.json")
    return put_in_place(opened.iteration, skill, accepted)


def _undecided(opened: Opened, skill: Path) -> tuple[dict[str, tuple[Piece, ...]], str]:
    try:
        inside(opened.iteration.path, "candidate/changes.json")
        return {one.path: tuple(_pieces(one)) for one in proposed_files(opened.iteration, skill)}, ""
    except AssayError as error:
        return {}, error.message
    except (Refused, OSError) as error:
        return {}, str(error)


def _pieces(one: ProposedFile) -> Sequence[Piece]:
    return [Piece(one.name(index), _place(hunk), _lines(hunk)) for index, hunk in enumerate(one.hunks)]


def _place(hunk: Hunk) -> str:
    count = len(hunk.old)
    if not count:
        return f"after line {hunk.start}" if hunk.start else "at the beginning"
    return f"line {hunk.start + 1}" if count == 1 else f"lines {hunk.start + 1} to {hunk.start + count}"


def _lines(hunk: Hunk) -> Lines:
    if any(b"\0" in line for line in (*hunk.old, *hunk.new)):
        return (("place", f"no text; {sum(map(len, hunk.new)):,} bytes"),)
    parts = (("same", " ", hunk.before), ("del", "-", hunk.old), ("add", "+", hunk.new), ("same", " ", hunk.after))
    rows = [
        (kind, sign + line.decode("utf-8", "replace").rstrip("\r\n")) for kind, sign, part in parts for line in part
    ]
    left = len(rows) - _MOST_LINES
    return (*rows[:_MOST_LINES], *([("place", f"… {left:,} more lines")] if left > 0 else []))


def _by_file(diff: str) -> dict[str, Lines]:
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


def _short(value: str) -> str:
    """A digest as its first characters, as everywhere else."""
    return value[:7] if len(value) == 64 and " " not in value else value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
