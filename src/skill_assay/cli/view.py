"""`assay view`: look at results in a browser, or make one file of them."""

from __future__ import annotations

from pathlib import Path

import click

from skill_assay.workspace.resolve import resolve_place

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Listen here instead of a free port.")
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
def command(place: str, workspace: str | None, port: int | None, no_open: bool) -> int:
    """Show the results of PLACE (a skill, a workspace or an iteration, also of other tools) in a browser."""
    from skill_assay.viewer.serve import serve
    from skill_assay.viewer.site import Site

    site = Site.of(resolve_place(place, Path(workspace) if workspace else None))

    def say(url: str) -> None:
        click.echo(url)
        click.echo("Stop with Ctrl-C.", err=True)

    serve(site, port=port, browser=not no_open, say=say)
    return 0
