"""`assay benchmark`: derive the numbers of an iteration again, without an agent."""

from __future__ import annotations

from pathlib import Path

import click

from skill_assay.benchmark.derive import derive
from skill_assay.cli.options import output_options
from skill_assay.cli.show import keep, show, write
from skill_assay.cli.suite_show import form_of, suite_named, table_of
from skill_assay.workspace.resolve import iteration_of, resolve_place

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--primary", metavar="ARM", help="The arm whose worth is asked, where names don't tell.")
@click.option("--baseline", metavar="ARM", help="The arm it is compared with.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only evals with this tag (repeatable).")
@click.option("--previous", metavar="PLACE", help="The iteration to compare with; else the one before.")
@click.option("--common", is_flag=True, help="Compare with it only the evals both have unchanged.")
@output_options(["text", "json", "junit", "github", "markdown"])
def command(
    place: str,
    workspace: str | None,
    primary: str | None,
    baseline: str | None,
    eval_ids: tuple[str, ...],
    tags: tuple[str, ...],
    previous: str | None,
    common: bool,
    format_: str,
    output: str | None,
) -> int:
    """Derive the numbers of PLACE (a skill, a workspace or an iteration, also of other tools) from its runs.

    Where the newest iteration belongs to a suite of several agents or models, a skill or workspace means all of it.
    An iteration of ours gets its benchmark.json and benchmark.md anew; other folders are only read.
    """
    named = resolve_place(place, Path(workspace) if workspace else None)
    suite = suite_named(named)
    if suite and named.workspace and not (primary or baseline or previous):
        partly = bool(eval_ids or tags)
        table = table_of(named.workspace, suite, eval_ids=eval_ids, tags=tags, common=common, store=not partly)
        write(form_of(table, format_), output)
        return 0
    iteration = iteration_of(named)
    derived = derive(
        iteration.path,
        primary=primary,
        baseline=baseline,
        eval_ids=eval_ids,
        tags=tags,
        previous=previous,
        common=common,
    )
    partly = bool(eval_ids or tags or primary or baseline)
    if iteration.has_plan and not partly:
        keep(iteration, derived)
    show(derived, format_, output)
    return 0
