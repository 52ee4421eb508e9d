"""`assay optimize`: a description that makes the agent pick the skill up when it should, and only then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from skill_assay.cli.optimize_end import Choices
from skill_assay.cli.optimize_run import optimize_skill
from skill_assay.cli.options import output_options, talk_options
from skill_assay.cli.resolve import Resolved, resolve
from skill_assay.cli.trigger import TRIGGER_DEFAULTS, choice_of, trigger_options
from skill_assay.errors import InputError

__all__ = ["command"]

DEFAULTS: Mapping[str, Any] = {
    **TRIGGER_DEFAULTS,
    "rounds": 5,
    "patience": 3,
    "holdout": 0.4,
    "fresh": 0.0,
    "accept": "best",
    "effort": "adaptive",
    "proposer": None,
}
_NOT_HERE = ("invoke", "curtail", "kind")


@click.command()
@click.argument("skill", type=click.Path())
@trigger_options
@click.option("--rounds", type=click.IntRange(1), metavar="N", help="Descriptions measured at most, with yours (5).")
@click.option("--patience", type=click.IntRange(1), metavar="N", help="Rounds without a gain on train that end it (3).")
@click.option("--holdout", type=float, metavar="SHARE", help="Queries that pick, and guide nobody (0.4).")
@click.option("--fresh", type=float, metavar="SHARE", help="Queries left untouched until the end (0).")
@click.option(
    "--accept",
    type=click.Choice(["best", "significant"]),
    help="What it takes to be chosen: the most test queries (best), or evidence at 5 %.",
)
@click.option(
    "--effort",
    type=click.Choice(["adaptive", "curtailed", "full"]),
    help="Runs left out: all that hardly matter (adaptive), that can't matter, or none.",
)
@click.option("--proposer", metavar="NAME", help="Model that writes descriptions, named as a judge; the agent's own.")
@click.option("--apply", is_flag=True, help="Write the chosen description into SKILL.md, and nothing else.")
@click.option("--resume", is_flag=True, help="Go on with the newest search.")
@click.option("--new", "begin", is_flag=True, help="Begin another search although the newest is unfinished.")
@output_options(["text", "json", "html"])
@talk_options
def command(skill: str, **options: Any) -> int:
    """Search for a better description of SKILL: train queries guide, test queries pick, fresh ones tell."""
    root = Path(skill)
    resolved = _resolved(root, options)
    if options["show_config"]:
        click.echo(resolved.show(options["format_"]))
        return 0
    if options["resume"] and options["begin"]:
        raise InputError("--resume and --new exclude each other")
    values = {name: one.value for name, one in resolved.origins.items()}
    choices = Choices(
        rounds=values["rounds"],
        patience=values["patience"],
        holdout=values["holdout"],
        fresh=values["fresh"],
        accept=values["accept"],
        effort=values["effort"],
        proposer=values["proposer"],
        apply=options["apply"],
        resume=options["resume"],
        begin=options["begin"],
        dry_run=options["dry_run"],
        yes=options["yes"],
        format=options["format_"],
        output=options["output"],
        progress="none" if options["no_progress"] or options["quiet"] else options["progress"],
    )
    return optimize_skill(root, resolved, choice_of(resolved), choices)


def _resolved(root: Path, options: Mapping[str, Any]) -> Resolved:
    flag = {"yes": True, "no": False, None: None}[options["subagents"]]
    found = resolve(root, {**options, "subagents": flag}, further=DEFAULTS)
    settings = replace(found.settings, trials=found.origins["runs"].value)
    shared = ("agent", "model", "workers", "max_turns", "allow", "mcp_config", "pass_env", "sandbox", "budget")
    names = (*shared, *DEFAULTS, "retry_timeouts", "seed", "eval", "tag", "workspace", "allow_outside_files")
    shown = {name: one for name, one in found.origins.items() if name in names and name not in _NOT_HERE}
    return replace(found, settings=settings, origins={**shown, "curtail": found.origins["curtail"]})
