"""`assay clean`: removes what dead runs left behind, and says what."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click

from skill_assay.agents.process import Identity
from skill_assay.runner.execute import identity_of
from skill_assay.runner.reap import reap
from skill_assay.runner.sandbox import leftovers
from skill_assay.workspace.journal import replay
from skill_assay.workspace.store import Workspace

__all__ = ["command"]


@click.command()
@click.argument("workspaces", nargs=-1, type=click.Path(exists=True, file_okay=False))
@click.option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(workspaces: tuple[str, ...], dry_run: bool, format_: str) -> int:
    """Remove sandboxes of dead runs and, in WORKSPACES, end the agents they left running."""
    folders = leftovers()
    strays = [process for place in workspaces for process in _strays(Path(place))]
    ended = [] if dry_run else reap(strays)
    if not dry_run:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    facts = {
        "sandboxes": [str(folder) for folder in folders],
        "processes": [identity.pid for identity in strays] if dry_run else ended,
        "removed": not dry_run,
    }
    click.echo(json.dumps(facts, indent=2) if format_ == "json" else _text(facts, dry_run))
    return 0


def _strays(place: Path) -> list[Identity]:
    found: list[Identity] = []
    for iteration in Workspace(place).iterations():
        for path in iteration.journal_paths():
            found += [identity_of(process) for process in replay(path).running]
    return found


def _text(facts: dict[str, object], dry_run: bool) -> str:
    verb = "Would remove" if dry_run else "Removed"
    lines = [f"{verb} {folder}" for folder in facts["sandboxes"]]  # type: ignore[attr-defined]
    verb = "Would end" if dry_run else "Ended"
    lines += [f"{verb} process {pid}" for pid in facts["processes"]]  # type: ignore[attr-defined]
    return "\n".join(lines) or "Nothing was left behind."
