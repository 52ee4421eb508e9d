"""`csv`: columns, number of rows, and a cell of a table with a header."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.absent import absent
from skill_assay.graders.checks.arguments import ABSENT, BadArgument, argument, read_arguments
from skill_assay.graders.checks.readers import Root, glob, list_of, regex, text, whole
from skill_assay.graders.checks.verdict import Answer, Verdict, nothing, said
from skill_assay.graders.outputs import Unreadable, matching, place, read_text
from skill_assay.graders.words import counted, listed, quoted, shown
from skill_assay.model.work import Work

__all__ = ["Cell", "Csv"]


def row_reader(value: Any, _root: Root) -> int:
    """A row below the header: 1 is the first, -1 the last."""
    if isinstance(value, bool) or not isinstance(value, int) or value == 0:
        raise BadArgument(
            "this is no row", found=shown(value), expected="1 for the first below the header, -1 the last"
        )
    return value


def column_reader(value: Any, root: Root) -> str | int:
    """A column's name, or its number from 1."""
    return whole(value, root) if isinstance(value, int) and value > 0 else text(value, root)


def content_reader(value: Any, _root: Root) -> str | float:
    """A text, or a number that the cell must be equal to as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadArgument("a cell is never that", found=shown(value), expected="a text or a number")
    return value


@dataclass(frozen=True)
class Cell:
    """One cell and what it must be."""

    row: int = argument(row_reader)
    column: str | int = argument(column_reader)
    equals: Any = argument(content_reader, default=ABSENT)
    matches: str | None = argument(regex, default=None)

    def __post_init__(self) -> None:
        if (self.equals is ABSENT) == (self.matches is None):
            raise BadArgument("exactly one of 'equals' and 'matches' is needed")

    def problem(self, header: list[str], rows: list[list[str]]) -> str | None:
        """What is wrong with it, or `None`."""
        index = self.column - 1 if isinstance(self.column, int) else _index(header, self.column)
        if index is None:
            return f"there is no column {self.column}"
        try:
            content = rows[self.row - 1 if self.row > 0 else self.row][index].strip()
        except IndexError:
            return f"there is no cell in row {self.row}, column {self.column}"
        if self._fits(content):
            return None
        wanted = f"a match of /{self.matches}/" if self.matches is not None else shown(self.equals)
        return f"row {self.row}, column {self.column} is {quoted(content)}, expected {wanted}"

    def _fits(self, content: str) -> bool:
        if self.matches is not None:
            return re.search(self.matches, content) is not None
        if isinstance(self.equals, str):
            return content == self.equals
        try:
            return float(content) == float(self.equals)
        except ValueError:
            return False


def cell_reader(value: Any, root: Root) -> Cell:
    """A cell: row, column, and what it must be."""
    return read_arguments(Cell, value, root)


@dataclass(frozen=True)
class Csv:
    """Some table that matches the pattern has these columns, rows and cell."""

    kind: ClassVar = "csv"
    file: str = argument(glob)
    columns: tuple[str, ...] = argument(list_of(text, single=True), default=())
    min_rows: int | None = argument(whole, default=None)
    max_rows: int | None = argument(whole, default=None)
    cell: Cell | None = argument(cell_reader, default=None)

    def __post_init__(self) -> None:
        if self.min_rows is not None and self.max_rows is not None and self.min_rows > self.max_rows:
            raise BadArgument(f"no table has at least {self.min_rows} and at most {self.max_rows} rows")

    async def decide(self, work: Work) -> Verdict:
        """Yes on the first table that has all of it."""
        files = matching(work.files, self.file)
        if not files:
            return absent(work, self.file)
        return await bounded(look_into, work.outputs, files, self)

    def problems(self, header: list[str], rows: list[list[str]]) -> list[str]:
        """What is wrong with a table."""
        missing = [column for column in self.columns if _index(header, column) is None]
        found = [f"it has no column {listed(missing)} (it has {listed(header)})"] if missing else []
        if self.min_rows is not None and len(rows) < self.min_rows:
            found.append(f"it has {counted(len(rows), 'row')}, expected at least {self.min_rows:,}")
        if self.max_rows is not None and len(rows) > self.max_rows:
            found.append(f"it has {counted(len(rows), 'row')}, expected at most {self.max_rows:,}")
        cell = self.cell.problem(header, rows) if self.cell else None
        return [*found, *([cell] if cell else [])]


def look_into(root: Path, files: tuple[str, ...], wanted: Csv) -> Verdict:
    """The first table that has all of it, else what is wrong with the others."""
    wrong, unreadable = [], []
    for name in files:
        try:
            header, rows = _read(root, name)
        except (Unreadable, csv.Error) as reason:
            unreadable.append(f"{name} {reason}")
            continue
        problems = wanted.problems(header, rows)
        if not problems:
            size = f"{counted(len(rows), 'row')} below the header {listed(header)}"
            return said(True, f"{name} has {size}.", (place(name),))
        wrong.append((name, "; ".join(problems)))
    if not wrong:
        return nothing("; ".join(unreadable[:5]) + ".")
    evidence = " ".join(f"{name}: {problems}." for name, problems in wrong[:5])
    return Verdict(Answer.NO, evidence, tuple(place(name) for name, _ in wrong[:10]))


def _read(root: Path, name: str) -> tuple[list[str], list[list[str]]]:
    content = read_text(root, name)
    if not content.strip():
        raise Unreadable("is empty")
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    first = content.lstrip("\n").split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    rows = [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if any(row)]
    return [name.strip() for name in rows[0]], rows[1:]


def _index(header: list[str], column: str) -> int | None:
    return header.index(column) if column in header else None
