"""`assay improve`: look through the results, say why, propose a better version, put it in place when told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.cli.asking import asking
from skill_assay.cli.learning import analysis_words, learn, propose
from skill_assay.cli.model_options import model_options
from skill_assay.errors import IncompleteError, InputError
from skill_assay.formats.skill import read_skill
from skill_assay.improve.improver import skill_text
from skill_assay.improve.keeping import changes_of
from skill_assay.improve.proposal import Proposal
from skill_assay.llm.base import ModelFailed
from skill_assay.model.skill import Skill
from skill_assay.workspace.candidates import put_in_place
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.resolve import iteration_of, resolve_place
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.writing import Writer

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--apply", "apply_", is_flag=True, help="Put the proposal in place, after a snapshot.")
@model_options
def command(place: str, workspace: str | None, apply_: bool, **options: Any) -> int:
    """Look through the results of PLACE, say why they came out so, and propose a better version of the skill.

    The proposal lies in the iteration's candidate/ with its reasons and a diff; the skill itself stays as it is without
    --apply. With --judge none only the numbers are looked through.
    """
    resolved = resolve_place(place, Path(workspace) if workspace else None)
    named = iteration_of(resolved)
    iteration = Iteration(named.path, Writer(Redactor([])))
    if apply_ and _waiting(iteration):
        return _apply(iteration, _root(resolved.skill, iteration))
    lessons = learn(iteration)
    click.echo(f"In {iteration.path.name}:\n{analysis_words(lessons)}")
    if options["judge"] == "none":
        return 0
    skill = read_skill(_root(resolved.skill, iteration))
    _point_out_other_version(skill, iteration)
    with asking(iteration, options, 2) as desk:
        try:
            proposal = anyio.run(propose, lessons, skill, skill_text(skill), desk)
        except ModelFailed as failed:
            raise IncompleteError(f"The model could not be asked: {failed}", hint="Nothing was changed.") from failed
    _show(proposal, iteration, place)
    return _apply(iteration, skill.root) if apply_ else 0


def _root(skill: Path | None, iteration: Iteration) -> Path:
    if skill is not None:
        return skill
    if not iteration.has_plan:
        raise InputError("whose results these are can't be told", file=str(iteration.path), hint="Name the skill.")
    return Path(iteration.read_plan().skill_path)


def _waiting(iteration: Iteration) -> bool:
    changes = changes_of(iteration)
    return bool(changes) and not changes.get("applied_at")


def _apply(iteration: Iteration, root: Path) -> int:
    changed = put_in_place(iteration, root)
    click.echo(f"In place: {', '.join(changed)}. The folder as it was: {iteration.candidate_path / 'before.tar'}")
    return 0


def _point_out_other_version(skill: Skill, iteration: Iteration) -> None:
    measured = iteration.read_plan().digests.get("skill") if iteration.has_plan else None
    if measured and measured != skill.digest:
        click.echo(
            f"The skill changed since {iteration.path.name} was run: what was seen is of another version", err=True
        )


def _show(proposal: Proposal, iteration: Iteration, place: str) -> None:
    click.echo(f"\n{proposal.summary}")
    for change in proposal.changes:
        click.echo(f"  {change.path}: {change.reason}")
    if proposal.unneeded:
        click.echo(f"Perhaps no longer needed (left as they are): {', '.join(proposal.unneeded)}")
    click.echo(
        f"The diff: {iteration.candidate_path / 'changes.diff'}\nPut it in place with  assay improve {place} --apply"
    )
