"""Workbooks (XLSX) as tables: a few sheets of each, cut in rows, columns and time.

A workbook is a stranger's zip archive of XML: what it would unpack to is read from its directory and refused before
anything is unpacked, and whatever it does to the reader makes it a download with a note.
"""

from __future__ import annotations

import datetime
import io
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_assay.formats.archives import ARCHIVE_FAULTS, BadArchive, weighed
from skill_assay.reports.figures import count

if TYPE_CHECKING:
    import zipfile

    from openpyxl.workbook import Workbook

__all__ = ["LARGEST", "Book", "Sheet", "Unreadable", "read_book"]

LARGEST = 20_000_000
"""Bytes of a workbook as it lies on the disk."""
_UNPACKED = 20_000_000
_PARTS = 2_000
_SHARED = 8_000_000
"""Bytes of the parts that are read whole before the first row: texts and styles."""
_SECONDS = 2.0
_SHEETS = 12
_ROWS = 200
_COLUMNS = 50
_CELL = 1_000
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")


class Unreadable(Exception):
    """The workbook is not to be shown, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet."""

    name: str
    rows: Sequence[Sequence[str]]
    """The first is the head, as in any table."""
    notes: tuple[str, ...] = ()
    """What of it is not shown as it stands, and why."""


@dataclass(frozen=True, slots=True)
class Book:
    """The sheets that are shown."""

    sheets: tuple[Sheet, ...]
    left_out: tuple[str, ...] = ()
    """Sheets that are not, with the reason."""


@dataclass(slots=True)
class _Left:
    """What may still be spent on a workbook."""

    end: float
    chars: int

    @property
    def gone(self) -> str:
        """Why nothing more is read, in words; empty while there is something left."""
        if time.monotonic() > self.end:
            return "cut here, since it takes long to read"
        return "cut here, since it holds much text" if self.chars <= 0 else ""


def read_book(data: bytes, chars: int = 200_000) -> Book:
    """The tables of a workbook.

    Args:
        data: the whole file.
        chars: how much text of it is kept.

    Raises:
        Unreadable: it is no workbook, or would be too large once unpacked.
    """
    has_formulas = _weigh(data)
    try:
        # A formula and the value it last came to are two readings of the same cell.
        values = _load(data, True)
        formulas = _load(data, False) if has_formulas else None
        names = [str(name) for name in values.sheetnames]
        left = _Left(time.monotonic() + _SECONDS, chars)
        sheets = tuple(_sheet(values, formulas, name, left) for name in names[:_SHEETS])
    except Exception as error:  # the reader promises nothing about files that are no workbooks
        raise Unreadable(f"it can't be read as a workbook ({type(error).__name__})") from error
    unshown = [f"{name}: more than {_SHEETS} sheets" for name in names[_SHEETS : _SHEETS + 20]]
    return Book(sheets, tuple(unshown))


def _weigh(data: bytes) -> bool:
    """Refuse by the archive's directory, since a part never gives more than it says there; whether it has formulas."""
    try:
        archive, total = weighed(data)
        parts = archive.infolist()
        _refuse(parts, total)
        sheets = [part for part in parts if part.filename.startswith("xl/worksheets/")]
        return any(_FORMULA.search(archive.read(part)) for part in sheets)
    except (BadArchive, *ARCHIVE_FAULTS) as error:
        raise Unreadable("it can't be read as a workbook") from error


def _refuse(parts: Sequence[zipfile.ZipInfo], total: int) -> None:
    if len(parts) > _PARTS:
        raise Unreadable(f"it holds {len(parts)} parts")
    if total > _UNPACKED:
        raise Unreadable(f"it would unpack to {total / 1e6:.0f} MB")
    shared = [part for part in parts if not part.filename.startswith(("xl/worksheets/", "xl/media/"))]
    text = sum(part.file_size for part in shared)
    if text > _SHARED:
        raise Unreadable(f"its texts and styles would unpack to {text / 1e6:.0f} MB")


def _load(data: bytes, values: bool) -> Workbook:
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(data), read_only=True, data_only=values, keep_links=False)


def _sheet(values: Workbook, formulas: Workbook | None, name: str, left: _Left) -> Sheet:
    rows: list[list[str]] = []
    notes: list[str] = []
    computed = asked = 0
    cells = ((row, row) for row in _cells(values, name))
    for shown, written in zip(_cells(values, name), _cells(formulas, name), strict=False) if formulas else cells:
        if len(rows) > _ROWS:
            notes.append(f"cut after {_ROWS} rows")
            break
        if left.gone:
            notes.append(left.gone)
            break
        row = []
        for value, source in zip(shown, written, strict=False):
            if isinstance(source, str) and source.startswith("=") and source != value:
                computed, asked = computed + (value is not None), asked + (value is None)
            row.append(_text(source if value is None else value))
        rows.append(row)
        left.chars -= sum(map(len, row))
    if any(any(row[_COLUMNS:]) for row in rows):
        notes.append(f"cut after {_COLUMNS} columns")
    if computed:
        notes.append(f"{count(computed, 'cell')} with a formula: shown is the value it last came to")
    if asked:
        notes.append(f"{count(asked, 'cell')} with a formula that was never computed: shown is the formula")
    return Sheet(name[:200], _trimmed(rows), tuple(notes))


def _cells(book: Workbook, name: str) -> Iterator[Sequence[Any]]:
    sheet: Any = book[name]
    if not hasattr(sheet, "reset_dimensions"):
        return iter(())  # a sheet that holds a chart and no cells
    # The size a sheet claims is its writer's word, often wrong.
    sheet.reset_dimensions()
    found: Iterator[Sequence[Any]] = sheet.iter_rows(max_row=_ROWS + 2, max_col=_COLUMNS + 1, values_only=True)
    return found


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value:.12g}"
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime():
            return value.isoformat(" ", "seconds")
    text = str(value)
    return text if len(text) <= _CELL else f"{text[:_CELL]}…"


def _trimmed(rows: list[list[str]]) -> list[list[str]]:
    """Without the empty rows and columns at the end."""
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((place + 1 for row in rows for place, value in enumerate(row) if value), default=0)
    width = min(width, _COLUMNS)
    return [[*row[:width], *[""] * (width - len(row))] for row in rows[: _ROWS + 1]]
