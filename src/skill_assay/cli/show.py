"""Shows a derived benchmark: on the terminal, as text of another form, or in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from skill_assay.benchmark.derive import Derived
from skill_assay.benchmark.files import benchmark_json, write_benchmark
from skill_assay.benchmark.gate import gate
from skill_assay.cli.plots import plots_of, write_plots
from skill_assay.errors import InputError
from skill_assay.workspace.store import Iteration

__all__ = ["explanation_of", "headline_of", "keep", "show", "write"]


def headline_of(derived: Derived) -> str | None:
    """The verdict in one line, where there is one."""
    from skill_assay.reports.noise import AGAIN, noise_headline
    from skill_assay.reports.verdict import headline

    if derived.inference is None:
        return None
    return (noise_headline if derived.inference.baseline == AGAIN else headline)(derived.inference)


def explanation_of(derived: Derived) -> list[str]:
    """What the verdict means and what qualifies it, in plain words."""
    from skill_assay.reports.noise import AGAIN
    from skill_assay.reports.verdict_explained import explanation

    found = derived.inference
    return [] if found is None or found.baseline == AGAIN else explanation(found)


def keep(iteration: Iteration, derived: Derived) -> None:
    """Write what was derived into an iteration of ours."""
    headline, explained = headline_of(derived), explanation_of(derived)
    write_benchmark(iteration, derived.benchmark, headline=headline, explained=explained, plots=plots_of(derived))


def show(derived: Derived, form: str, output: str | None, *, verdict: bool = True) -> None:
    """Show it.

    Args:
        derived: the benchmark and what may be concluded from it.
        form: `text`, `json`, `markdown`, `junit` or `github`.
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
    plots = write_plots(plots_of(derived), Path(output)) if form == "markdown" and output else {}
    write(_text(derived, form, line, place, plots), output)
    if form == "github":
        _summarise(derived, line)


def write(text: str, output: str | None) -> None:
    """Text on standard output, or in a file.

    Raises:
        InputError: the file can't be written.
    """
    if not output:
        click.echo(text.encode("utf-8", "replace"), nl=not text.endswith("\n"))
        return
    try:
        Path(output).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("can't be written", file=output, found=error.strerror or str(error)) from error


def _summarise(derived: Derived, line: str | None) -> None:
    """Add to the step's summary, where GitHub names a file for it."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    from skill_assay.reports.ci import pull_request_comment

    text = pull_request_comment(derived.benchmark, gate(derived.benchmark), headline=line)
    try:
        with Path(place).open("a", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError as error:
        raise InputError("the step's summary can't be written", file=place, found=str(error)) from error


def _text(derived: Derived, form: str, line: str | None, place: str, plots: Mapping[str, str]) -> str:
    if form == "json":
        return benchmark_json(derived.benchmark)
    if form in ("junit", "github"):
        from skill_assay.reports.ci import github_annotations, junit_xml

        made = junit_xml if form == "junit" else github_annotations
        return made(derived.benchmark, gate(derived.benchmark), headline=line)
    if form == "markdown":
        from skill_assay.reports.markdown import benchmark_markdown

        explained = explanation_of(derived) if line else ()
        return benchmark_markdown(derived.benchmark, headline=line, explained=explained, plots=plots)
    from skill_assay.reports.terminal import render_benchmark

    return render_benchmark(derived.benchmark, headline=line, place=place)
