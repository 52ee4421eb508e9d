"""`assay history`: all iterations of a skill as a table and a trend plot."""

from __future__ import annotations

import json
from pathlib import Path

import click

from skill_assay.benchmark.history import history
from skill_assay.cli.options import output_options
from skill_assay.cli.show import write
from skill_assay.errors import NotFoundError
from skill_assay.reports.history import history_markdown, history_text
from skill_assay.workspace.resolve import resolve_place

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@output_options(["text", "json", "markdown"])
def command(place: str, workspace: str | None, format_: str, output: str | None) -> int:
    """All iterations of PLACE (a skill or a workspace), oldest first, each derived again from its runs.

    Writes trend.json into the workspace. `-o FILE.svg` draws the trend.
    """
    named = resolve_place(place, Path(workspace) if workspace else None)
    if named.workspace is None or named.iteration is None:
        raise NotFoundError("no iteration here yet", file=place, hint="assay run SKILL makes one.")
    found, left_out = history(named.workspace)
    for reason in left_out:
        click.echo(f"Left out {reason}", err=True)
    named.workspace.write_trend(found.to_dict())
    if output and Path(output).suffix.lower() == ".svg":
        from skill_assay.reports.trend import trend_points, trend_svg

        write(trend_svg(trend_points(found)), output)
        click.echo(f"Plot: {output}", err=True)
        output = None
    if format_ == "json":
        write(json.dumps(found.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", output)
    else:
        write(history_markdown(found) if format_ == "markdown" else history_text(found), output)
    return 0
