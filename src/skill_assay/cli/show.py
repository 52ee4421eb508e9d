"""Shows a derived benchmark: on the terminal, as text of another form, or in a file."""

from __future__ import annotations

from pathlib import Path

import click

from skill_assay.benchmark.derive import Derived
from skill_assay.errors import InputError

__all__ = ["headline_of", "show"]


def headline_of(derived: Derived) -> str | None:
    """The verdict in one line, where there is one."""
    from skill_assay.reports.verdict import headline

    return headline(derived.inference) if derived.inference else None


def show(derived: Derived, form: str, output: str | None, *, verdict: bool = True) -> None:
    """Show it.

    Args:
        derived: the benchmark and what may be concluded from it.
        form: `text`, `json` or `markdown`.
        output: a file instead of standard output.
        verdict: whether the headline claims one.

    Raises:
        InputError: the file can't be written.
    """
    line = headline_of(derived) if verdict else None
    place = str(derived.found.root)
    if form == "text" and not output:
        from rich.console import Console

        from skill_assay.reports.terminal import print_benchmark

        print_benchmark(derived.benchmark, Console(highlight=False), headline=line, place=place)
        return
    text = _text(derived, form, line, place)
    if not output:
        click.echo(text.encode("utf-8", "replace"), nl=not text.endswith("\n"))
        return
    try:
        Path(output).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("can't be written", file=output, found=error.strerror or str(error)) from error


def _text(derived: Derived, form: str, line: str | None, place: str) -> str:
    if form == "json":
        from skill_assay.benchmark.files import benchmark_json

        return benchmark_json(derived.benchmark)
    if form == "markdown":
        from skill_assay.reports.markdown import benchmark_markdown

        return benchmark_markdown(derived.benchmark, headline=line)
    from skill_assay.reports.terminal import render_benchmark

    return render_benchmark(derived.benchmark, headline=line, place=place)
