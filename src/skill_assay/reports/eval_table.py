"""The table of evals for a terminal: what a narrow one has no room for goes below it or away, never half a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skill_assay.model.benchmark import Benchmark, EvalArm, EvalFigures
from skill_assay.reports.plain import ascii_text, dots, harmless, percent_of

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["eval_table"]

_TITLES = {"with_skill": "with", "without_skill": "without"}
_LONGEST_NAME, _SHORTEST_NAME, _LEAST_NOTES = 30, 10, 16
_GAP = 2
_DROPPED = ("notes", "trials", "skill used")
"""What gives way, in this order; the marks of trials are the last to go."""


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    cells: list[str]
    least: int
    """The width below which it says something else."""
    right: bool = False
    wraps: bool = False


def eval_table(found: Benchmark, width: int, unicode: bool) -> tuple[Table, list[str]]:
    """The table, and the notes on evals where they have no room in it.

    Args:
        found: the numbers.
        width: of the terminal.
        unicode: whether it can show more than ASCII.
    """
    from rich.table import Table
    from rich.text import Text

    columns = _fitting(found, width, unicode)
    # All that the others leave: asked to shrink, rich would take from every column.
    room = max(columns[0].least, min(_LONGEST_NAME, width - _needed(columns[1:]) - _GAP))
    table = Table(box=None, padding=(0, _GAP, 0, 0), show_edge=False, pad_edge=False, header_style="")
    for column in columns:
        table.add_column(
            column.title,
            no_wrap=not column.wraps,
            overflow="ellipsis" if unicode else "crop",
            min_width=None if column.wraps else column.least,
            max_width=room if column is columns[0] else None,
            justify="right" if column.right else "left",
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(Text(cell if unicode else ascii_text(cell)) for cell in row))
    below = [] if columns[-1].title == "notes" else [(one.eval.name, _notes(found, one)) for one in found.evals]
    return table, [f"  {harmless(name)}: {told}" for name, told in below if told]


def _fitting(found: Benchmark, width: int, unicode: bool) -> list[_Column]:
    """The columns there is room for."""
    columns = list(_columns(found, unicode, marks=True))
    for dropped in _DROPPED:
        if _needed(columns) <= width:
            return columns
        columns = [column for column in columns if column.title != dropped]
    if _needed(columns) <= width:
        return columns
    return [column for column in _columns(found, unicode, marks=False) if column.title not in _DROPPED]


def _needed(columns: list[_Column]) -> int:
    return sum(column.least + _GAP for column in columns) - _GAP


def _columns(found: Benchmark, unicode: bool, marks: bool) -> Iterator[_Column]:
    from rich.cells import cell_len

    def figures(title: str, cells: list[str], right: bool = False) -> _Column:
        return _Column(title, cells, max(map(cell_len, (title[:8], *cells))), right=right)

    names = [f"  {harmless(one.eval.name)}" for one in found.evals]
    longest = max(map(cell_len, names), default=0)
    yield _Column("  eval", names, min(max(longest, len("  eval")), _SHORTEST_NAME))
    for arm in found.arms:
        name = arm.arm.name
        cells = [_cell(one.arms[name], unicode, marks) for one in found.evals]
        yield figures(_TITLES.get(name, harmless(name)), cells)
    if found.baseline:
        yield figures("Δ" if unicode else "diff", [_delta(found, one) for one in found.evals], right=True)
    yield figures("skill used", [_used(found, one) for one in found.evals])
    yield figures("trials", [_trials(found, one) for one in found.evals])
    notes = [_notes(found, one) for one in found.evals]
    yield _Column("notes", notes, min(max(map(cell_len, notes), default=0), _LEAST_NOTES), wraps=True)


def _cell(cell: EvalArm, unicode: bool, marks: bool) -> str:
    return f"{dots(cell, unicode) if marks else ''} {percent_of(cell.mean)}".strip()


def _delta(found: Benchmark, one: EvalFigures) -> str:
    assert found.baseline is not None
    ours, theirs = one.arms[found.primary.arm.name].mean, one.arms[found.baseline.arm.name].mean
    if ours is None or theirs is None:
        return "–"
    text = f"{(ours - theirs) * 100:+.0f}"
    return "0" if text in ("+0", "-0") else text


def _used(found: Benchmark, one: EvalFigures) -> str:
    cell = one.arms[found.primary.arm.name]
    return f"{cell.used}/{cell.use_known}" if cell.use_known else "–"


def _trials(found: Benchmark, one: EvalFigures) -> str:
    return "+".join(str(one.arms[arm.arm.name].completed) for arm in found.arms)


def _notes(found: Benchmark, one: EvalFigures) -> str:
    parts = []
    if any(one.arms[arm.arm.name].reliability == "low" for arm in found.arms[:2]):
        parts.append("low reliability")
    for arm in found.arms:
        cell = one.arms[arm.arm.name]
        parts += [f"{n} excluded: {reason}" for reason, n in cell.excluded.items()]
        missing = cell.requested - len(cell.scores)
        parts += [f"{missing} missing"] if missing > 0 else []
    if one.eval.known_issue:
        parts.append(f"known issue: {harmless(one.eval.known_issue)}")
    return "; ".join(dict.fromkeys(parts))
