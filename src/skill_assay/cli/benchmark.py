"""`assay benchmark`: derive the numbers of an iteration again, without an agent."""

from __future__ import annotations

from pathlib import Path

import click

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.benchmark.files import benchmark_json, write_benchmark
from skill_assay.cli.options import output_options
from skill_assay.errors import InputError
from skill_assay.model.benchmark import Benchmark
from skill_assay.workspace.discovery import Found, discover
from skill_assay.workspace.resolve import iteration_of, resolve_place

__all__ = ["command", "derive", "shown"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--primary", metavar="ARM", help="The arm whose worth is asked, where names don't tell.")
@click.option("--baseline", metavar="ARM", help="The arm it is compared with.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only evals with this tag (repeatable).")
@output_options(["text", "json", "markdown"])
def command(
    place: str,
    workspace: str | None,
    primary: str | None,
    baseline: str | None,
    eval_ids: tuple[str, ...],
    tags: tuple[str, ...],
    format_: str,
    output: str | None,
) -> int:
    """Derive the numbers of PLACE (a skill, a workspace or an iteration, also of other tools) from its runs.

    An iteration of ours gets its benchmark.json and benchmark.md anew; other folders are only read.
    """
    iteration = iteration_of(resolve_place(place, Path(workspace) if workspace else None))
    found = discover(iteration.path, primary=primary, baseline=baseline)
    chosen = _only(found, eval_ids, tags)
    benchmark = derive(chosen)
    if iteration.has_plan and chosen is found:
        write_benchmark(iteration, benchmark)
    text = shown(benchmark, format_, place=str(found.root))
    if output:
        _to_file(Path(output), text)
    elif format_ == "text":
        _to_terminal(benchmark, str(found.root))
    else:
        click.echo(text, nl=False)
    return 0


def derive(found: Found) -> Benchmark:
    """The benchmark of what discovery found."""
    return aggregate(found)


def shown(benchmark: Benchmark, form: str, *, place: str | None = None, headline: str | None = None) -> str:
    """A benchmark in one of the output formats."""
    if form == "json":
        return benchmark_json(benchmark)
    if form == "markdown":
        from skill_assay.reports.markdown import benchmark_markdown

        return benchmark_markdown(benchmark, headline=headline)
    from skill_assay.reports.terminal import render_benchmark

    return render_benchmark(benchmark, headline=headline, place=place)


def _to_terminal(benchmark: Benchmark, place: str) -> None:
    from rich.console import Console

    from skill_assay.reports.terminal import print_benchmark

    print_benchmark(benchmark, Console(highlight=False), place=place)


def _to_file(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("can't be written", file=str(path), found=error.strerror or str(error)) from error


def _only(found: Found, eval_ids: tuple[str, ...], tags: tuple[str, ...]) -> Found:
    """The part asked for by `--eval` and `--tag`; either is enough."""
    if not eval_ids and not tags:
        return found
    named, tagged = set(eval_ids), set(tags)
    return found.only(one.key for one in found.evals if {one.key, one.name} & named or set(one.tags) & tagged)
