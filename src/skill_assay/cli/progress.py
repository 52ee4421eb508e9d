"""Shows a run while it goes on: a live bar, plain lines, JSON lines, or nothing. All of it on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from skill_assay.model.trial import State, Trial
from skill_assay.reports.figures import spent_words
from skill_assay.runner.progress import Display, Progress, Silent

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

__all__ = ["JsonLines", "LiveBar", "PlainLines", "make_display", "progress_words"]

_PLAIN_EVERY_SECONDS = 10.0


def make_display(kind: str | None, quiet: bool = False, stream: TextIO | None = None) -> Display:
    """The display asked for; by default a live bar on a terminal and plain lines elsewhere.

    Args:
        kind: `rich`, `plain`, `json`, `none`, or `None` to choose by the terminal.
        quiet: `-q`: nothing but what must not be lost.
        stream: where to; standard error unless given.
    """
    out = stream or sys.stderr
    if quiet or kind == "none":
        return Silent()
    if kind == "json":
        return JsonLines(out)
    if kind == "rich" or (kind is None and out.isatty()):
        return LiveBar(out)
    return PlainLines(out)


def progress_words(progress: Progress) -> list[str]:
    """What stands beside the bar: running, retried, excluded, workers held back, money, time left."""
    words = [f"{progress.running} running"]
    if progress.workers < progress.worker_limit:
        words.append(f"{progress.workers} of {progress.worker_limit} workers (the API asks for fewer)")
    if progress.retried:
        words.append(f"{progress.retried} retried")
    if progress.excluded:
        words.append(f"{progress.excluded} excluded")
    if progress.usd:
        words.append(spent_words(progress.usd, progress.assumed_usd, brief=True))
    left = progress.seconds_left
    if left is not None and progress.done < progress.total:
        words.append(f"about {_duration(left)} left")
    return words


def _duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


class PlainLines:
    """A line now and then, for logs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last = 0.0

    def begin(self, lines: Sequence[str], total: int) -> None:
        """Print what is about to be run."""
        for line in lines:
            self.say(line)

    def update(self, progress: Progress) -> None:
        """Print at most every ten seconds, and at the end."""
        now = time.monotonic()
        if progress.done < progress.total and now - self._last < _PLAIN_EVERY_SECONDS:
            return
        self._last = now
        self.say(f"{progress.done}/{progress.total}   " + "   ".join(progress_words(progress)))

    def settled(self, trial: Trial) -> None:
        """Print a trial that was excluded."""
        if trial.state is State.EXCLUDED and trial.failure is not None:
            self.say(f"excluded: {trial.id} ({trial.failure.message})")

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=self._out, flush=True)

    def end(self) -> None:
        """Nothing more."""


class JsonLines:
    """One JSON object a line, for programs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def _line(self, what: str, **facts: Any) -> None:
        print(json.dumps({"what": what, **facts}, default=str), file=self._out, flush=True)

    def begin(self, lines: Sequence[str], total: int) -> None:
        """A line `begin`."""
        self._line("begin", lines=list(lines), total=total)

    def update(self, progress: Progress) -> None:
        """A line `progress`."""
        self._line("progress", **asdict(progress))

    def settled(self, trial: Trial) -> None:
        """A line `trial`."""
        kind = trial.failure.kind if trial.failure else None
        self._line("trial", id=str(trial.id), state=trial.state, score=trial.score, failure=kind)

    def say(self, text: str) -> None:
        """A line `message`."""
        self._line("message", text=text)

    def end(self) -> None:
        """A line `end`."""
        self._line("end")


class LiveBar:
    """A bar that follows the run, on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._bar: RichProgress | None = None
        self._task: Any = None

    def begin(self, lines: Sequence[str], total: int) -> None:
        """Print what is about to be run and draw the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        console = Console(file=self._out, highlight=False)
        for line in lines:
            console.print(line, markup=False)
        columns = (BarColumn(20), MofNCompleteColumn(), TextColumn("{task.fields[words]}", markup=False))
        self._bar = RichProgress(*columns, console=console, transient=True, expand=False)
        self._bar.start()
        self._task = self._bar.add_task("", total=total, words="")

    def update(self, progress: Progress) -> None:
        """Move the bar."""
        if self._bar is not None:
            words = "   ".join(progress_words(progress))
            self._bar.update(self._task, completed=progress.done, total=progress.total, words=words)

    def settled(self, trial: Trial) -> None:
        """Say a trial that was excluded, above the bar."""
        if trial.state is State.EXCLUDED and trial.failure is not None:
            self.say(f"excluded: {trial.id} ({trial.failure.message})")

    def say(self, text: str) -> None:
        """A line above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False)
        else:
            print(text, file=self._out, flush=True)

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
