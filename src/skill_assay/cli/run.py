"""`assay run`: does the agent do better with the skill?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from skill_assay.benchmark.gate import DEFAULT_THRESHOLDS
from skill_assay.cli.library import run_library, skills_below
from skill_assay.cli.measure import RunChoices, run_skill
from skill_assay.cli.members import members_of
from skill_assay.cli.options import output_options, setting_options, talk_options
from skill_assay.cli.progress import make_display
from skill_assay.cli.resolve import Resolved, resolve
from skill_assay.cli.suite import is_suite, run_suite
from skill_assay.errors import InputError
from skill_assay.formats.plugin_suite import plugin_skill
from skill_assay.model.inference import EarlyStop
from skill_assay.runner.session import Mode

__all__ = ["command"]


@click.command()
@click.argument("skill", type=click.Path())
@setting_options
@click.option(
    "--config", type=click.Path(), metavar="FILE", help="Configuration file; evals/benchmark.config.json if there."
)
@click.option("--evals", type=click.Path(), metavar="FILE", help="Evals from another file than the skill's own.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only evals with this tag (repeatable).")
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where results go.")
@click.option("--resume", is_flag=True, help="Run what the newest iteration is missing.")
@click.option("--add", is_flag=True, help="Add trials or evals to the newest iteration.")
@click.option("--new", "fresh", is_flag=True, help="Begin another iteration although the newest is unfinished.")
@click.option("--notes", is_flag=True, help="Ask the agent, in every arm alike, to leave its doubts in a file.")
@click.option("--ungraded", is_flag=True, help="Run evals nothing can decide; grade them later.")
@click.option("--allow-outside-files", is_flag=True, help="Take fixtures from outside the skill's folder.")
@click.option("--allow-unequal", is_flag=True, help="Go on although the arms differ in more than the skill.")
@click.option("--keep-secrets", is_flag=True, help="Write secrets down as they are.")
@click.option("--keep-sandboxes", is_flag=True, help="Leave each trial's folders for a look.")
@click.option("--dry-run", is_flag=True, help="List the trials and the estimate; launch nothing.")
@click.option("--show-config", is_flag=True, help="Print every setting with its origin; launch nothing.")
@click.option("--gate", is_flag=True, help="Hold it to the usual thresholds where the configuration sets none.")
@click.option("--previous", metavar="PLACE", help="The iteration to compare with; else the one before.")
@click.option("--common", is_flag=True, help="Compare with it only the evals both have unchanged.")
@click.option("--confirm", is_flag=True, help="Run fresh trials of what the newest iteration lists as worse or better.")
@click.option("--aa", is_flag=True, help="Compare the skill with itself: the noise floor.")
@click.option(
    "--reuse-baseline",
    is_flag=False,
    flag_value="newest",
    metavar="[ITERATION]",
    help="Take the baseline's trials from an earlier iteration; marked, since they are not concurrent.",
)
@click.option("--stop", type=click.Choice(["early"]), help="early: look after each round, stop when it is clear.")
@click.option(
    "--spending",
    type=click.Choice(["pocock", "obrien-fleming"]),
    help="How --stop early spends its 5 % of false positives (pocock).",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before a costly run.")
@output_options(["text", "json", "junit", "github", "markdown"])
@talk_options
def command(skill: str, **options: Any) -> int:
    """Run the evals of SKILL with and without it, and measure the difference.

    A folder of skills is run as a library: one table, verdicts corrected for their number, the worst first.
    Several agents or models (--agent a,b, --model m,n, or --agent AGENT/MODEL) are run as a suite: an iteration each,
    one table and plot, and whether a cheaper one with the skill matches a dearer one without it.
    """
    root = plugin_skill(Path(skill))
    if skills := skills_below(root):
        return _library(root, skills, options)
    resolved = resolve(root, options, several=True)
    if options["show_config"]:
        click.echo(resolved.show(options["format_"]))
        return 0
    choices = _choices(options)
    kind = "none" if options["no_progress"] else options["progress"]
    resolved = _asked(resolved, choices, options)
    if is_suite(root, resolved, choices):
        _refuse_in_suite(options)
        return run_suite(root, resolved, choices, lambda: make_display(kind, options["quiet"]))
    display = make_display(kind, options["quiet"])
    if options["confirm"]:
        from skill_assay.cli.confirm import confirm_changes

        return confirm_changes(root, resolved, choices, display)
    return run_skill(root, resolved, choices, display)


def _refuse_in_suite(options: dict[str, Any]) -> None:
    """What is about one iteration."""
    for name in ("confirm", "stop", "aa", "reuse_baseline", "previous"):
        if options[name]:
            raise InputError(
                f"--{name.replace('_', '-')} is for one agent and model at a time", hint="Name one with --agent."
            )


def _library(root: Path, skills: Sequence[Path], options: dict[str, Any]) -> int:
    """Many skills in one go."""
    for name in ("confirm", "stop", "aa", "show_config"):
        if options[name]:
            word = name.replace("_", "-")
            raise InputError(f"--{word} is for one skill at a time", file=str(root), found=f"{len(skills)} skills")
    if len(members_of(options["agent"], options["model"])) > 1:
        raise InputError(
            "Several agents or models are for one skill at a time", file=str(root), found=f"{len(skills)} skills"
        )
    choices = _choices(options)
    kind = "none" if options["no_progress"] else options["progress"]
    return run_library(
        root,
        skills,
        lambda path: _asked(resolve(path, options), choices, options),
        choices,
        lambda: make_display(kind, options["quiet"]),
    )


def _choices(options: dict[str, Any]) -> RunChoices:
    return RunChoices(
        mode=_mode(options),
        fresh=options["fresh"],
        dry_run=options["dry_run"],
        yes=options["yes"],
        format=options["format_"],
        output=options["output"],
        again=options["aa"],
        reuse_baseline=options["reuse_baseline"],
        previous=options["previous"],
        common=options["common"],
    )


def _asked(resolved: Resolved, choices: RunChoices, options: dict[str, Any]) -> Resolved:
    """The settings with what these options change, and what excludes each other refused."""
    settings = resolved.settings
    if options["gate"] and not settings.thresholds:
        settings = replace(settings, thresholds=DEFAULT_THRESHOLDS)
    if options["spending"] and not options["stop"]:
        raise InputError("--spending says how --stop early spends", hint="Add --stop early.")
    if options["stop"]:
        settings = replace(settings, stop_early=_early(resolved, choices, options))
    if choices.reuse_baseline and (choices.mode != "new" or options["aa"] or options["stop"] or options["confirm"]):
        raise InputError(
            "--reuse-baseline begins an iteration of its own, without --aa, --stop, --confirm and --resume"
        )
    if options["aa"] and options["confirm"]:
        raise InputError("--aa and --confirm exclude each other")
    return replace(resolved, settings=settings)


def _early(resolved: Resolved, choices: RunChoices, options: dict[str, Any]) -> EarlyStop:
    if choices.mode == "add" or options["confirm"]:
        raise InputError("--stop early fixes the rounds before the first trial, so it can't go with --add or --confirm")
    if resolved.settings.trials < 2:
        raise InputError("--stop early needs at least 2 trials, a look after each round", hint="Add --trials 5.")
    if len(resolved.settings.baselines) != 1 and not options["aa"]:
        raise InputError("--stop early compares two arms", found=f"{len(resolved.settings.baselines)} baselines")
    return EarlyStop(
        resolved.settings.trials, "obrien_fleming" if options["spending"] == "obrien-fleming" else "pocock"
    )


def _mode(options: dict[str, Any]) -> Mode:
    asked = [name for name in ("resume", "add", "fresh") if options[name]]
    if len(asked) > 1:
        raise InputError("--resume, --add and --new exclude each other")
    return "resume" if options["resume"] else "add" if options["add"] else "new"
