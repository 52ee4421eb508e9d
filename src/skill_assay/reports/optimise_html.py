"""The page of a search: one file, nothing loaded from elsewhere; it loads itself anew while the search goes on."""

from __future__ import annotations

from skill_assay.model.optimisation import Cell, Optimisation, score_of
from skill_assay.reports.optimise_words import (
    answer_line,
    cell_text,
    price_line,
    round_heads,
    score_rows,
    score_text,
    worth_a_look,
)
from skill_assay.reports.plain import harmless

__all__ = ["REFRESH_SECONDS", "optimisation_page"]

REFRESH_SECONDS = 3
_STATES = {True: "pass", False: "fail", None: "open"}


def optimisation_page(found: Optimisation) -> str:
    """The page as HTML; everything of others in it is escaped."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("skill_assay.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["harmless"] = harmless
    measured = [one for one in found.rounds if one.cells]
    sides = [
        (
            side,
            [score_text(one.score(side)) for one in measured],
            _rows([one.of(side) for one in measured]),
        )
        for side in ("train", "test")
    ]
    if found.fresh:
        known = dict(found.fresh)
        columns = [known.get(one.number, ()) for one in measured]
        sides.append(("fresh", [score_text(score_of(cells)) for cells in columns], _rows(columns)))
    return environment.get_template("optimise.html.j2").render(
        found=found,
        refresh=None if found.over else REFRESH_SECONDS,
        answer=answer_line(found),
        scores=score_rows(found) if found.over else [],
        price=price_line(found),
        heads=round_heads(found),
        sides=sides,
        measured=measured,
        notes=list(worth_a_look(found)),
    )


def _rows(columns: list[tuple[Cell, ...]]) -> list[dict[str, object]]:
    """One query a row, its cells in the order of the rounds."""
    cells: dict[str, list[Cell | None]] = {}
    for at, column in enumerate(columns):
        for cell in column:
            cells.setdefault(cell.query.id, [None] * len(columns))[at] = cell
    return [_row(row) for row in cells.values()]


def _row(row: list[Cell | None]) -> dict[str, object]:
    query = next(cell.query for cell in row if cell)
    return {
        "text": harmless(query.text),
        "wanted": "fires" if query.should_trigger else "stays silent",
        "cells": [
            (_STATES[cell.passed] if cell and cell.decided else "none", cell_text(cell).lstrip("●○· ")) for cell in row
        ],
    }
