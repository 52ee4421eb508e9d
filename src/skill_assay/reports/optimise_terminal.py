"""The table of a search, rounds × queries, while it goes on and at its end."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from skill_assay.model.optimisation import Cell, Optimisation
from skill_assay.reports.optimise_words import (
    answer_line,
    cell_text,
    price_line,
    round_heads,
    score_rows,
    score_short,
    worth_a_look,
)
from skill_assay.reports.plain import harmless

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_optimisation", "render_optimisation", "rounds_table"]

_LONGEST_QUERY = 48


def rounds_table(found: Optimisation) -> Table:
    """Queries down, rounds across, train and test apart; each cell its mark and how often it fired."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("query", overflow="ellipsis", no_wrap=True, max_width=_LONGEST_QUERY)
    table.add_column("fire?", no_wrap=True)
    for head in round_heads(found):
        table.add_column(head, no_wrap=True)
    measured = [one for one in found.rounds if one.cells]
    for side in ("train", "test"):
        scores = [score_short(one, side) for one in measured]
        table.add_row(f"[bold]{side}[/bold]", "", *scores)
        rows: dict[str, list[Cell | None]] = {}
        for at, one in enumerate(measured):
            for cell in one.of(side):
                rows.setdefault(cell.query.id, [None] * len(measured))[at] = cell
        for cells in rows.values():
            query = next(cell.query for cell in cells if cell)
            wanted = "yes" if query.should_trigger else "no"
            table.add_row(_plain(query.text), wanted, *(cell_text(cell) for cell in cells))
    return table


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(harmless(text))


def print_optimisation(found: Optimisation, console: Console, *, place: str = "", apply: str = "") -> None:
    """Print the end of a search: the answer first.

    Args:
        found: the search.
        console: where to.
        place: where its results lie.
        apply: what to do next about the description, in words.
    """
    from rich.table import Table

    console.print(answer_line(found), markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 2))
    for head in ("", "original", f"round {found.leader}"):
        table.add_column(head)
    for side, first, leader in score_rows(found):
        table.add_row(side, first, leader if found.leader != 1 else "")
    console.print(table)
    console.print(f"  {price_line(found)}", markup=False, soft_wrap=True)
    console.print(f"  ended: {harmless(found.reason)}\n", markup=False, soft_wrap=True)
    console.print(rounds_table(found))
    notes = list(worth_a_look(found))
    if notes:
        console.print("\nWorth a look")
        for note in notes:
            console.print(f"  · {note}", markup=False, soft_wrap=True)
    if found.leader != 1:
        console.print(f"\nRound {found.leader}:\n  {harmless(found.round(found.leader).description)}", markup=False)
    for line in (apply, f"Results: {place}" if place else ""):
        if line:
            console.print(line, markup=False, soft_wrap=True)


def render_optimisation(found: Optimisation, *, place: str = "", apply: str = "", width: int = 120) -> str:
    """The same as text, without colour."""
    from rich.console import Console

    buffer = StringIO()
    console = Console(file=buffer, width=width, no_color=True, force_terminal=False, highlight=False)
    print_optimisation(found, console, place=place, apply=apply)
    return buffer.getvalue()
