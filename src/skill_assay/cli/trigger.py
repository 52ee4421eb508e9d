"""`assay trigger`: does the agent pick the skill up when it should, and only then?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from skill_assay.cli.options import output_options, some_setting_options, talk_options
from skill_assay.cli.progress import make_display
from skill_assay.cli.resolve import Resolved, resolve
from skill_assay.cli.trigger_run import TriggerTask, run_triggers
from skill_assay.errors import InputError
from skill_assay.runner.session import Mode
from skill_assay.triggering.choice import TriggerChoice

__all__ = ["TRIGGER_DEFAULTS", "choice_of", "command", "resolve_triggers", "trigger_options"]

F = TypeVar("F", bound=Callable[..., Any])

TRIGGER_DEFAULTS: Mapping[str, Any] = {
    "timeout": 120.0,
    "invoke": "auto",
    "queries": None,
    "runs": 3,
    "threshold": 0.5,
    "decide_after": 4,
    "subagents": True,
    "catalog": (),
    "curtail": False,
}
"""What is otherwise than in `run`, and what only trigger queries have."""
_SHARED = (
    *("agent", "model", "workers", "timeout", "max_turns", "allow", "mcp_config", "pass_env", "sandbox", "budget"),
    *("retry_timeouts", "seed"),
)
_SHOWN = (*_SHARED, *TRIGGER_DEFAULTS, "kind", "eval", "tag", "workspace", "allow_outside_files", "keep_secrets")


def _turns(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """A number of turns, or `end`."""
    if value is None or value == "end":
        return value
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise click.BadParameter(f"{value!r} is neither a whole number from 1 nor end", ctx, param)
    return int(value)


_OWN = (
    click.option("--queries", type=click.Path(), metavar="FILE", help="Trigger set; evals/triggers.json if there."),
    click.option("--runs", type=click.IntRange(1), metavar="N", help="Runs of each query (3)."),
    click.option(
        "--threshold",
        type=float,
        metavar="RATE",
        help="A positive passes at this rate and above (0.5), a negative below.",
    ),
    click.option(
        "--catalog", multiple=True, metavar="DIR", help="Install these skills beside it; installed: your own set."
    ),
    click.option(
        "--decide-after",
        callback=_turns,
        metavar="TURNS",
        help="Turns without it that decide a run (4); end: its answer.",
    ),
    click.option("--subagents", type=click.Choice(["yes", "no"]), help="Whether a use by a sub-agent counts (yes)."),
    click.option("--eval", "--query", "eval_ids", multiple=True, metavar="ID", help="Only this query (repeatable)."),
    click.option("--tag", "tags", multiple=True, metavar="T", help="Only queries with this tag (repeatable)."),
    click.option("--config", type=click.Path(), metavar="FILE", help="Configuration file, as of assay run."),
    click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where results go."),
    click.option("--allow-outside-files", is_flag=True, help="Take fixtures from outside the skill's folder."),
    click.option("--keep-secrets", is_flag=True, help="Write secrets down as they are."),
    click.option("--keep-sandboxes", is_flag=True, help="Leave each run's folders for a look."),
    click.option("--dry-run", is_flag=True, help="List the queries and the estimate; launch nothing."),
    click.option("--show-config", is_flag=True, help="Print every setting with its origin; launch nothing."),
    click.option("-y", "--yes", is_flag=True, help="Do not ask before a costly run."),
)


def trigger_options(command: F) -> F:
    """The options of every command that asks trigger queries."""
    for option in reversed(_OWN):
        command = option(command)
    return some_setting_options(*_SHARED)(command)


@click.command()
@click.argument("skill", type=click.Path())
@trigger_options
@click.option("--description", metavar="TEXT", help="Try this one in a private copy; the skill is not edited.")
@click.option("--curtail", is_flag=True, default=None, help="Run a query no further once its pass or fail is sure.")
@click.option("--resume", is_flag=True, help="Run what the newest evaluation is missing.")
@click.option("--add", is_flag=True, help="Add runs or queries to the newest evaluation.")
@click.option("--new", "fresh", is_flag=True, help="Begin another evaluation although the newest is unfinished.")
@output_options(["text", "json", "html"])
@talk_options
def command(skill: str, **options: Any) -> int:
    """Ask trigger queries, and see whether the agent uses SKILL when it should and only then."""
    root = Path(skill)
    resolved = resolve_triggers(root, options)
    if options["show_config"]:
        click.echo(resolved.show(options["format_"]))
        return 0
    task = TriggerTask(
        mode=_mode(options),
        fresh=options["fresh"],
        dry_run=options["dry_run"],
        yes=options["yes"],
        format=options["format_"],
        output=options["output"],
    )
    choice = choice_of(resolved, options["description"])
    display = make_display("none" if options["no_progress"] else options["progress"], options["quiet"])
    return run_triggers(root, resolved, choice, task, display)


def resolve_triggers(root: Path, options: Mapping[str, Any]) -> Resolved:
    """The settings, of which only those are shown that mean something here."""
    flag = {"yes": True, "no": False, None: None}[options["subagents"]]
    found = resolve(root, {**options, "subagents": flag}, further=TRIGGER_DEFAULTS)
    settings = replace(found.settings, trials=found.origins["runs"].value)
    shown = {name: one for name, one in found.origins.items() if name in _SHOWN}
    return replace(found, settings=settings, origins=shown)


def choice_of(resolved: Resolved, description: str | None = None) -> TriggerChoice:
    """What only trigger queries have, from the resolved settings."""
    values = {name: one.value for name, one in resolved.origins.items()}
    after = values["decide_after"]
    return TriggerChoice(
        queries=resolved.place("queries"),
        query_ids=resolved.settings.eval_ids,
        tags=resolved.settings.tags,
        threshold=values["threshold"],
        decide_after=None if after == "end" else after,
        subagents=values["subagents"],
        curtail=values["curtail"],
        description=description,
        catalog=_catalog(resolved),
        kind=values.get("kind"),
        allow_outside_files=resolved.settings.allow_outside_files,
    )


def _catalog(resolved: Resolved) -> tuple[str, ...]:
    """Folders named in the configuration are found from its own, then from its skill's."""
    setting, file = resolved.origins["catalog"], resolved.configuration
    if file is None or setting.origin != str(file.source):
        return tuple(setting.value)
    bases = (file.source.parent, file.source.parent.parent)
    return tuple(
        next((str(base / named) for base in bases if (base / named).is_dir()), named) for named in setting.value
    )


def _mode(options: Mapping[str, Any]) -> Mode:
    asked = [name for name in ("resume", "add", "fresh") if options[name]]
    if len(asked) > 1:
        raise InputError("--resume, --add and --new exclude each other")
    return "resume" if options["resume"] else "add" if options["add"] else "new"
