"""Write the parts of the docs that are read off the code: commands, exit codes, the failure table.

    python tools/make_reference.py            write them
    python tools/make_reference.py --check    only say which are out of date

A test holds the files to what this writes, so a help text cannot change unseen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from skill_assay import errors
from skill_assay.agents.registry import agent_names, create_agent
from skill_assay.cli.main import COMMANDS, assay
from skill_assay.model.protocols import Agent

DOCS = Path(__file__).parent.parent / "docs"
NOTE = "<!-- Written by tools/make_reference.py (make docs). -->\n\n"
WIDE: Mapping[str, Any] = {"terminal_width": 100, "max_content_width": 100}
RETRIES = {
    errors.Retry.NEVER: "no",
    errors.Retry.ONCE: "once",
    errors.Retry.BACKOFF: "with growing waits, bounded",
    errors.Retry.ON_REQUEST: "only with `--retry-timeouts N`",
}
MEANINGS: Mapping[errors.FailureKind, str] = {
    errors.FailureKind.AGENT_LIMIT: "the agent gave up, refused, or reached its own turn or output limit",
    errors.FailureKind.TRIAL_CAP: "our cap of money or tokens for one trial",
    errors.FailureKind.TIME_LIMIT: "the time limit (`--timeout`)",
    errors.FailureKind.RATE_LIMITED: "the API asked to slow down (429)",
    errors.FailureKind.OVERLOADED: "the API is overloaded (529)",
    errors.FailureKind.SERVER_ERROR: "the API failed (500, 502, 503)",
    errors.FailureKind.CONNECTION: "the connection was lost",
    errors.FailureKind.BAD_REQUEST: "the API refused the request (400), a prompt too long among them",
    errors.FailureKind.NOT_SIGNED_IN: "not signed in, or no leave (401, 403)",
    errors.FailureKind.UNKNOWN_MODEL: "no such model (404)",
    errors.FailureKind.NO_CREDIT: "no credit left (402, billing)",
    errors.FailureKind.CRASHED: "the agent crashed, was killed, or ended without an answer",
    errors.FailureKind.UNREADABLE: "the agent's output could not be understood",
    errors.FailureKind.SETUP: "the eval's own `setup` command failed",
    errors.FailureKind.UNKNOWN: "anything else",
    errors.FailureKind.BUDGET: "the budget is reached",
    errors.FailureKind.INTERRUPTED: "you pressed Ctrl-C",
    errors.FailureKind.GRADER: "a grader or judge failed",
}


def yes(value: bool) -> str:
    return "yes" if value else "no"


def failures() -> str:
    """The failure table, row by row from `errors.POLICIES`."""
    lines = [
        "| what happened | recorded as | retried | graded | counts in rates | stops the run |",
        "|---|---|---|---|---|---|",
        "| an answer | | – | yes | yes | no |",
    ]
    for kind, row in errors.POLICIES.items():
        cells = [MEANINGS[kind], f"`{kind}`", RETRIES[row.retry], *map(yes, (row.graded, row.counts, row.stops_run))]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def exit_codes() -> str:
    """One row a code, from the exception tree."""
    rows: dict[int, list[str]] = {0: ["Done, and every gate that was asked for is met"]}
    for error in exceptions(errors.AssayError):
        rows.setdefault(error.exit_code, []).append((error.__doc__ or "").split("\n")[0].rstrip("."))
    lines = ["| code | when |", "|---|---|"]
    lines += [f"| {code} | {'. '.join(texts)}. |" for code, texts in sorted(rows.items())]
    return "\n".join(lines) + "\n"


def exceptions(base: type[errors.AssayError]) -> Iterator[type[errors.AssayError]]:
    for child in base.__subclasses__():
        yield child
        yield from exceptions(child)


def commands() -> str:
    """The help text of every command, as a terminal of 100 columns shows it."""
    with root() as context:
        parts = ["# Commands\n\n", NOTE, block(assay.get_help(context)), "\n"]
        for name in COMMANDS:
            command = assay.get_command(context, name)
            assert command is not None
            inner = click.Context(command, parent=context, info_name=name)
            parts += [f"## assay {name}\n\n", block(command.get_help(inner)), "\n"]
    return "".join(parts).rstrip("\n") + "\n"


def root() -> click.Context:
    """The context every command is shown in. Its settings matter: click remembers a command's help option."""
    return click.Context(assay, info_name="assay", **assay.context_settings, **WIDE)


def block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def agents() -> str:
    """One row for each agent that asks a model, from its adapter."""
    lines = [
        "| agent | `--agent` | program, or the variable that names it | npm package, version tested | signed in by |",
        "|---|---|---|---|---|",
    ]
    can = ["| `--agent` | " + " | ".join(WORDS.values()) + " |", "|---|" + "---|" * len(WORDS)]
    for name in agent_names():
        if name in ("command", "simulated"):
            continue
        agent = create_agent(name)
        program = getattr(sys.modules[type(agent).__module__], "PROGRAM", None)
        if program is None:
            cells = ["built in", f"`{name}`", "Skill Assay itself", "the extra `api`", ways(agent)]
        else:
            cells = [program.title, f"`{name}`", f"`{program.command}`, `{program.variable}`"]
            cells += [f"`{program.package}` {program.tested}", ways(agent)]
        lines.append(f"| {' | '.join(cells)} |")
        can.append(f"| `{name}` | {' | '.join(yes(getattr(agent.capabilities, key)) for key in WORDS)} |")
    return "\n".join([*lines, "", *can]) + "\n"


WORDS = {
    "slash": "calls a skill by name",
    "turns": "earlier user messages",
    "schema": "answers by a JSON schema",
    "tokens": "tells tokens",
    "cost": "tells its price",
    "cost_cap": "takes a cap of money",
    "turn_limit": "takes a limit of turns",
    "mcp": "takes MCP servers",
    "grants": "grants tools one by one",
    "openai_yaml": "goes by `agents/openai.yaml`",
    "dollar_calls": "`$name` in a prompt leaves no sign",
}
"""Capabilities a person chooses by."""


def ways(agent: Agent) -> str:
    """The variables it is signed in by, read off what it says where none is set."""
    try:
        agent.sign_in({"HOME": "/nowhere"})
    except errors.InputError as error:
        return ", ".join(f"`{name}`" for name in re.findall(r"[A-Z][A-Z_]+", error.found or ""))
    return ""


def between(path: Path, write: Callable[[], str]) -> str:
    """The file's text with what lies between its two marks replaced."""
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- generated -->\n", "<!-- end -->"
    head, rest = text.split(begin)
    return f"{head}{begin}{write()}{end}{rest.split(end)[1]}"


def pages() -> dict[Path, str]:
    """Every page that is wholly or partly written here, as it should be."""
    return {
        DOCS / "reference" / "agents.md": between(DOCS / "reference" / "agents.md", agents),
        DOCS / "reference" / "commands.md": commands(),
        DOCS / "reference" / "exit-codes.md": between(DOCS / "reference" / "exit-codes.md", exit_codes),
        DOCS / "explanation" / "failures.md": between(DOCS / "explanation" / "failures.md", failures),
    }


def main() -> None:
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(path.relative_to(DOCS.parent).as_posix())
    if "--check" in sys.argv:
        sys.exit(bool(stale))
    for path in stale:
        path.write_text(pages()[path], encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
