"""Shows a search while it goes on: a live table on a terminal, lines elsewhere; and always the page in its folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from skill_assay.model.optimisation import Optimisation
from skill_assay.model.trial import Trial
from skill_assay.reports.optimise_words import price_line, score_text
from skill_assay.reports.plain import harmless
from skill_assay.runner.progress import Progress

__all__ = ["SearchDisplay"]

_PAGE_EVERY_SECONDS = 1.0


class SearchDisplay:
    """Implements `runner.progress.Display` for the runs, and is told of the search by `watch`.

    Args:
        kind: `rich`, `plain`, `json`, `none`, or `None` to choose by the terminal.
        stream: where to; standard error unless given.
    """

    def __init__(self, kind: str | None, stream: TextIO | None = None) -> None:
        self._out = stream or sys.stderr
        self._kind = kind or ("rich" if self._out.isatty() else "plain")
        self._live: Any = None
        self._told = 0
        self._written = float("-inf")
        self.write_page: Callable[[Optimisation], None] | None = None
        """Writes the page; set once there is a folder."""

    def begin(self, lines: Sequence[str], total: int) -> None:
        """What is about to be run."""
        for line in lines:
            self.say(line)

    def start(self) -> None:
        """From here on the table is shown."""
        if self._kind == "rich":
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=self._out, highlight=False), refresh_per_second=4, transient=True)
            self._live.start()

    def watch(self, state: Optimisation) -> None:
        """Something changed."""
        now = time.monotonic()
        if self.write_page is not None and (state.over or now - self._written >= _PAGE_EVERY_SECONDS):
            self._written = now
            self.write_page(state)
        if self._live is not None:
            self._live.update(self._table(state))
        for one in state.rounds[self._told :]:
            if one.skipped:
                self._line("round", number=one.number, skipped=one.skipped)
            elif one.measured or (state.over and one.cells):
                self._line(
                    "round",
                    number=one.number,
                    train=score_text(one.score("train")),
                    test=score_text(one.score("test")),
                    launches=one.launches,
                )
            else:
                break
            self._told += 1

    def _table(self, state: Optimisation) -> Any:
        from rich.console import Group
        from rich.text import Text

        from skill_assay.reports.optimise_terminal import rounds_table

        return Group(rounds_table(state), Text(price_line(state)))

    def _line(self, what: str, **facts: Any) -> None:
        if self._kind == "json":
            print(json.dumps({"what": what, **facts}), file=self._out, flush=True)
            return
        if "skipped" in facts:
            self.say(f"round {facts['number']}: skipped, {facts['skipped']}")
        else:
            self.say(
                f"round {facts['number']}: train {facts['train']}, test {facts['test']}, {facts['launches']} launches"
            )

    def update(self, progress: Progress) -> None:
        """The table shows it."""

    def settled(self, trial: Trial) -> None:
        """Say a run that counts for nothing."""
        if trial.failure is not None and not trial.counts:
            self.say(f"counts for nothing: {trial.id} ({trial.failure.message})")

    def say(self, text: str) -> None:
        """A line that must not be lost."""
        if self._kind == "none":
            return
        if self._kind == "json":
            print(json.dumps({"what": "message", "text": text}), file=self._out, flush=True)
        elif self._live is not None:
            self._live.console.print(harmless(text), markup=False)
        else:
            print(harmless(text), file=self._out, flush=True)

    def end(self) -> None:
        """Take the table away."""
        if self._live is not None:
            self._live.stop()
            self._live = None
