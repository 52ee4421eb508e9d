"""Rows of text as a table: in columns for a terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Container, Sequence

from skill_assay.reports.escape import safe

__all__ = ["aligned", "piped"]

Rows = Sequence[Sequence[str]]


def aligned(rows: Rows, *, indent: str = "", right: Container[int] = ()) -> list[str]:
    """A line a row, the columns two blanks apart; nothing where there are no rows.

    Args:
        rows: of the same length.
        indent: before each line.
        right: the columns (from 0) that are flush right, as figures are.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (indent + "  ".join(_filled(row[at], width, at in right) for at, width in enumerate(widths))).rstrip()
        for row in rows
    ]


def _filled(cell: str, width: int, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)


def piped(rows: Rows) -> list[str]:
    """The lines of a Markdown table, its first row the head; what the cells hold is text, never markup."""
    if not rows:
        return []
    head, *body = (f"| {' | '.join(map(safe, row))} |" for row in rows)
    return [head, "|---" * len(rows[0]) + "|", *body]
