"""`assay demo`: the whole tool on a bundled example with a simulated agent, in seconds and without a model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import skill_assay
from skill_assay.cli.options import talk_options
from skill_assay.errors import InputError

__all__ = ["EXAMPLE", "bundled_example", "command", "copy_example"]

EXAMPLE = "expense-report"


@click.command()
@click.option(
    "--workspace",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".demo"),
    metavar="FOLDER",
    show_default=True,
    help="Where the example and its results go.",
)
@click.option("--trials", type=click.IntRange(1), default=3, metavar="N", show_default=True, help="Per eval and arm.")
@talk_options
def command(workspace: Path, trials: int, **talk: Any) -> int:
    """Run a bundled example with a simulated agent: no model, no key, no cost."""
    from skill_assay.cli.measure import RunChoices, run_skill
    from skill_assay.cli.progress import make_display
    from skill_assay.cli.resolve import resolve
    from skill_assay.runner.settings import Retrying

    skill = copy_example(workspace)
    resolved = resolve(skill, {"agent": "simulated", "trials": trials}, env={})
    # The example's scripted rate limit shows how a failure is counted; nobody needs to wait for it.
    settings = replace(resolved.settings, retrying=Retrying(base_seconds=0.02))
    display = make_display("none" if talk["no_progress"] else talk["progress"], talk["quiet"])
    choices = RunChoices(fresh=True, yes=True)
    code = run_skill(skill, replace(resolved, settings=settings), choices, display)
    if not talk["quiet"]:
        click.echo(_what_next(skill), err=True)
    return code


def bundled_example() -> Path:
    """The example as it was shipped: inside the package when installed, beside the sources in a checkout."""
    package = Path(skill_assay.__file__).parent
    for place in (package / "examples" / EXAMPLE, package.parents[1] / "examples" / EXAMPLE):
        if (place / "SKILL.md").is_file():
            return place
    raise InputError("The bundled example is missing from this installation", hint="Install skill-assay again.")


def copy_example(folder: Path) -> Path:
    """The example's copy in `folder`; one that is already there is left as it is.

    Raises:
        InputError: the folder can't be written.
    """
    skill = folder / EXAMPLE
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        if not skill.exists():
            shutil.copytree(bundled_example(), skill, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise InputError(f"The example can't be copied here: {error}", file=str(folder)) from error
    return skill


def _what_next(skill: Path) -> str:
    return (
        "\nThis was a simulated agent: the figures are scripted, to show what is measured and how it is told.\n"
        f"  the skill and its evals   {skill}\n"
        f"  what the agent plays      {skill / 'evals' / 'simulated.json'}\n"
        f"With a real agent:  assay run {skill}"
    )
