"""The command `assay`: finds the command asked for, loads only that one, and turns errors into exit codes."""

from __future__ import annotations

import importlib
import sys

import click

from skill_assay import __version__
from skill_assay.errors import AssayError, StoppedError

__all__ = ["COMMANDS", "assay", "main"]

COMMANDS: dict[str, str] = {
    "demo": "Run a bundled example with a simulated agent: no model, no key, no cost.",
    "init": "Add a commented evals file and trigger set to a skill, or begin a new one.",
    "lint": "Say what was understood in a skill, evals or configuration, and what is wrong.",
    "run": "Run the evals with and without the skill, and measure the difference.",
    "grade": "Grade an iteration's stored trials again, without an agent.",
    "benchmark": "Derive the numbers of an iteration again, without an agent.",
    "compare": "Judge two arms' outputs blind, in both orders.",
    "improve": "Say why results came out so, and propose a better version of the skill.",
    "iterate": "Improve in rounds: keep a new version only when it measures better.",
    "judge-check": "Hold the judge against people's verdicts on single expectations.",
    "gate": "Hold a benchmark to its thresholds: met, not met, or not whole.",
    "trigger": "Ask trigger queries: does the agent use the skill when it should, and only then?",
    "optimize": "Search for a description by which the agent does so, on queries that guide and others that pick.",
    "history": "All iterations of a skill as a table and a trend plot.",
    "view": "Look at results in a browser.",
    "power": "Say what so many evals and trials can see, and what they cost.",
    "export": "Write evals or a trigger set for another tool, and say what has no counterpart there.",
    "doctor": "Show which agents are here and try our detection on them.",
    "clean": "Remove what dead runs left behind.",
}
"""Name → one line; the command `x` is the object `command` of `skill_assay.cli.x` (`-` becomes `_`)."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is asked for, so that `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"skill_assay.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="assay")
def assay() -> None:
    """Tell the truth about an Agent Skill: is the agent better with it, and does it fire when it should?"""


def main() -> None:
    """Entry point. Errors a person can mend are one message without a traceback."""
    try:
        code = assay.main(standalone_mode=False)
    except AssayError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        sys.exit(StoppedError.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)
