"""Options that read alike in every command. Each can also stand in the configuration file or in `ASSAY_<NAME>`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from skill_assay.errors import InputError

__all__ = [
    "DEFAULTS",
    "SETTING_NAMES",
    "output_options",
    "setting_options",
    "some_setting_options",
    "talk_options",
]

F = TypeVar("F", bound=Callable[..., Any])

_SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--agent",
        {
            "multiple": True,
            "metavar": "NAME",
            "help": "Coding agent: claude-code, codex/MODEL, or 'command: PROGRAM …'; for run several, as a,b.",
        },
    ),
    (
        "--model",
        {"multiple": True, "metavar": "NAME", "help": "Model, in the agent's own words; for run several, as a,b."},
    ),
    (
        "--judge",
        {
            "metavar": "NAME",
            "help": "Judge for expectations no check decides: auto, none, claude-code/MODEL, anthropic:MODEL, …",
        },
    ),
    ("--judge-votes", {"type": click.IntRange(1), "metavar": "N", "help": "Ask the judge N times, an odd number."}),
    (
        "--judge-mode",
        {
            "type": click.Choice(["inline", "agent"]),
            "help": "inline: the work stands in the question; agent: the judge reads the files itself.",
        },
    ),
    (
        "--baseline",
        {"multiple": True, "metavar": "WHAT", "help": "none, bare, a folder or archive, git:REV, iteration-N."},
    ),
    ("--invoke", {"type": click.Choice(["told", "auto", "slash"]), "help": "How the agent is brought to the skill."}),
    ("--trials", {"type": click.IntRange(1), "metavar": "N", "help": "Trials per eval and arm."}),
    ("--workers", {"type": click.IntRange(1), "metavar": "N", "help": "Agents at once; memory and the API bound it."}),
    ("--timeout", {"type": float, "metavar": "SECONDS", "help": "Time limit of one attempt."}),
    ("--max-turns", {"type": click.IntRange(1), "metavar": "N", "help": "Turns of one attempt."}),
    ("--allow", {"multiple": True, "metavar": "TOOL", "help": "Grant a further tool (network tools are not)."}),
    ("--mcp-config", {"type": click.Path(), "metavar": "FILE", "help": "MCP servers, for both arms alike."}),
    ("--pass-env", {"multiple": True, "metavar": "NAME", "help": "Pass a variable of yours to the agent."}),
    ("--sandbox", {"metavar": "HOW", "help": "none, bwrap, or a command put before the agent's."}),
    ("--budget", {"metavar": "CAPS", "help": "Caps, as 5usd,2Mtok,60trials (any of them)."}),
    ("--timeouts", {"type": click.Choice(["exclude", "fail"]), "help": "What a trial at its time limit counts as."}),
    ("--retry-timeouts", {"type": click.IntRange(0), "metavar": "N", "help": "Repeat a trial at its time limit."}),
    ("--seed", {"type": int, "metavar": "N", "help": "Fixes the order of trials."}),
    ("--margin", {"type": float, "metavar": "SHARE", "help": "Smallest difference that matters (0.05 = 5 points)."}),
    ("--grader", {"metavar": "COMMAND", "help": "Program with {outputs} {transcript} {eval} that grades a trial."}),
)

DEFAULTS: dict[str, Any] = {
    "agent": None,
    "model": None,
    "judge": "auto",
    "judge_votes": 1,
    "judge_mode": "inline",
    "baseline": ("none",),
    "invoke": "told",
    "trials": 3,
    "workers": 10,
    "timeout": 600.0,
    "max_turns": 50,
    "allow": (),
    "mcp_config": None,
    "pass_env": (),
    "sandbox": "none",
    "budget": None,
    "timeouts": "exclude",
    "retry_timeouts": 0,
    "seed": 42,
    "margin": 0.05,
    "grader": None,
}
SETTING_NAMES = tuple(DEFAULTS)


def _apply(options: Sequence[Callable[[F], F]]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def setting_options(command: F) -> F:
    """The options of a run; one that is not given is `None` (or empty), so that its origin can be told."""
    return _apply([click.option(flag, default=None, **facts) for flag, facts in _SETTINGS])(command)


def some_setting_options(*names: str) -> Callable[[F], F]:
    """Those of a command for which not all of them mean something, in the order of `run`'s help."""
    flags = {f"--{name.replace('_', '-')}" for name in names}
    return _apply([click.option(flag, default=None, **facts) for flag, facts in _SETTINGS if flag in flags])


def _writable(_: click.Context, __: click.Parameter, place: str | None) -> str | None:
    """Refuse at once what could only be refused after everything was paid for."""
    if place is not None:
        path = Path(place)
        if not path.absolute().parent.is_dir():
            raise InputError("can't be written: its folder is not there", file=place)
        if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
            raise InputError("can't be written: no permission", file=place)
    return place


def output_options(formats: Sequence[str]) -> Callable[[F], F]:
    """`--format` and `-o`."""
    return _apply(
        [
            click.option(
                "--format", "format_", type=click.Choice(list(formats)), default="text", help="Output format."
            ),
            click.option(
                "-o", "--output", type=click.Path(dir_okay=False), callback=_writable, help="Write it to a file."
            ),
        ]
    )


def talk_options(command: F) -> F:
    """`-q`, `-v`, `--progress`, `--no-progress`."""
    return _apply(
        [
            click.option("-q", "--quiet", is_flag=True, help="Only the result."),
            click.option("-v", "--verbose", count=True, help="More detail."),
            click.option(
                "--progress",
                type=click.Choice(["rich", "plain", "json", "none"]),
                help="How progress is shown; by the terminal when not given.",
            ),
            click.option("--no-progress", is_flag=True, help="The same as --progress none."),
        ]
    )(command)
