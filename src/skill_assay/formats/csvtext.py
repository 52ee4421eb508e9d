"""CSV trigger sets: columns in any order, cells turned into what the same set would say in JSON."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Any

from skill_assay.errors import InputError

__all__ = ["Table", "csv_rows"]

_BOOLEAN_COLUMNS = ("should_trigger", "expect_trigger", "should_activate")
_WORDS = {"true": True, "false": False}
_LIST_COLUMNS = ("tags",)
_ROW = re.compile(r"\$\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows as objects, and the line on which each begins."""

    rows: list[dict[str, Any]]
    lines: list[int]

    def line(self, path: str) -> int | None:
        """The line of a row by its JSON path; the header's for the whole."""
        match = _ROW.match(path)
        return self.lines[int(match[1])] if match and int(match[1]) < len(self.lines) else 1


def csv_rows(text: str, file: str) -> Table:
    """Read a CSV with a header.

    `true` and `false` become booleans in any case of letters, as spreadsheets write them; nothing else does.

    Raises:
        InputError: it is no table, or a row has more cells than the header; with the line.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    header: list[str] = []
    begins = 1
    try:
        for cells in reader:
            if not header:
                header = _header(cells, file)
            elif any(cell.strip() for cell in cells):
                rows.append(_row(header, cells, file, begins))
                lines.append(begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", file=file, line=begins) from error
    if not header:
        raise InputError("is empty", file=file, expected="a header with prompt and should_trigger")
    return Table(rows, lines)


def _delimiter(text: str) -> str:
    first = text.split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _header(cells: list[str], file: str) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise InputError(f"the column {twice} stands twice", file=file, line=1)
    return names


def _row(header: list[str], cells: list[str], file: str, line: int) -> dict[str, Any]:
    if len(cells) > len(header):
        hint = "A cell with a comma in it must stand in double quotes."
        found = f"{len(cells)} cells"
        raise InputError("a row is too long", file=file, line=line, found=found, expected=str(len(header)), hint=hint)
    pairs = zip(header, (cell.strip() for cell in cells), strict=False)
    return {name: _cell(name, cell) for name, cell in pairs if name and (cell or name in _BOOLEAN_COLUMNS)}


def _cell(name: str, cell: str) -> Any:
    if name in _BOOLEAN_COLUMNS:
        return _WORDS.get(cell.lower(), cell)
    if name in _LIST_COLUMNS:
        return [part.strip() for part in re.split("[;,]", cell) if part.strip()]
    return cell
