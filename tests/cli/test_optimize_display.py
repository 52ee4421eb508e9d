"""A search while it goes on: a line a round, or a live table; and the page."""

from __future__ import annotations

import io
from dataclasses import replace

from skill_assay.cli.optimize_display import SearchDisplay
from skill_assay.model.optimisation import Optimisation
from tests.reports.test_optimise import FIRST, GOING_ON, WHOLE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_display_tells_each_round_once_and_writes_the_page() -> None:
    out = io.StringIO()
    pages: list[Optimisation] = []
    display = SearchDisplay("plain", out)
    display.write_page = pages.append
    display.start()
    for state in (replace(GOING_ON, rounds=(FIRST,)), GOING_ON, GOING_ON, WHOLE, WHOLE):
        display.watch(state)
    display.end()
    assert out.getvalue().splitlines() == [
        "round 1: train 0 of 1, test 1 of 2, 6 launches",
        "round 2: train 1 of 1, test 2 of 2, 7 launches",
        "round 3: skipped, every reply was refused",
    ]
    assert pages[0].over is False and pages[-1].over is True


def test_the_live_table_is_drawn() -> None:
    out = Terminal()
    display = SearchDisplay(None, out)
    display.start()
    display.watch(GOING_ON)
    display.say("a line [bold]as it is[/bold]")
    display.end()
    assert "a line [bold]as it is[/bold]" in out.getvalue() and "13 launches" in out.getvalue()
