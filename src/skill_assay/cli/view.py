"""`assay view`: look at results in a browser, or make one file of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_assay.workspace.resolve import resolve_place

if TYPE_CHECKING:
    from skill_assay.viewer.site import Site
from skill_assay.reports.figures import count

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option(
    "--static", type=click.Path(dir_okay=False), metavar="FILE", help="Write one file that works without a server."
)
@click.option(
    "--embed",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    metavar="KB",
    help="Largest picture, sound or film put into the file; 0 for none.",
)
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="Listen here instead of a free port.")
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
def command(place: str, workspace: str | None, static: str | None, embed: int, port: int | None, no_open: bool) -> int:
    """Show the results of PLACE (a skill, a workspace or an iteration, also of other tools) in a browser."""
    from skill_assay.viewer.site import Site

    site = Site.of(resolve_place(place, Path(workspace) if workspace else None))
    if static:
        return _static(site, Path(static), embed)
    from skill_assay.viewer.serve import serve

    def say(url: str) -> None:
        click.echo(url)
        click.echo("Stop with Ctrl-C.", err=True)

    serve(site, port=port, browser=not no_open, say=say)
    return 0


def _static(site: Site, output: Path, embed: int) -> int:
    from skill_assay.viewer.static import Budget, write_static

    left_out = write_static(site, site.shown.path.name, output, Budget(embed_bytes=embed * 1000))
    click.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB", err=True)
    if left_out:
        without = count(left_out, "trial")
        click.echo(f"{without} without a page in it, to keep it below its size limit; it lists them.", err=True)
    return 0
