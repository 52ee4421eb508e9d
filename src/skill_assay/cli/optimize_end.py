"""The end of a search: its results are written, applied if asked, shown, and become an exit code."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from skill_assay.cli.show import write
from skill_assay.cli.trigger_run import LEFT_OUT_LIMIT
from skill_assay.errors import InputError
from skill_assay.formats.skill import read_skill, with_description
from skill_assay.model.optimisation import Accept, Optimisation
from skill_assay.triggering.allocate import Effort
from skill_assay.triggering.subject import Subject
from skill_assay.workspace.optimise_store import OptimisationFolder

__all__ = ["Choices", "finish_search"]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose besides the settings of every trigger evaluation."""

    rounds: int = 5
    patience: int = 3
    holdout: float = 0.4
    fresh: float = 0.0
    accept: Accept = "best"
    effort: Effort = "adaptive"
    proposer: str | None = None
    apply: bool = False
    resume: bool = False
    begin: bool = False
    dry_run: bool = False
    yes: bool = False
    format: str = "text"
    output: str | None = None
    progress: str | None = None


def finish_search(
    found: Optimisation, folder: OptimisationFolder, subject: Subject, root: Path, choices: Choices
) -> int:
    """Write the results, apply if asked, show them; return the exit code."""
    from skill_assay.reports.optimise_html import optimisation_page
    from skill_assay.triggering.optimise_record import optimisation_record

    record = optimisation_record(found)
    folder.write_results(record)
    page = optimisation_page(found)
    folder.write_report(page)
    applied = _apply(found, folder, subject, root, choices)
    _show(found, folder, record, page, applied, choices)
    return _exit_code(found)


def _apply(found: Optimisation, folder: OptimisationFolder, subject: Subject, root: Path, choices: Choices) -> str:
    text = found.round(found.chosen).description
    if found.exit in ("budget", "interrupted", "failure"):
        kept = "Nothing was written into SKILL.md. " if choices.apply else ""
        return f"{kept}The search is partial. Go on with  assay optimize {root} --resume"
    if found.chosen == 1:
        return "SKILL.md is as it was." if choices.apply else ""
    if not choices.apply:
        return f"To write it into SKILL.md:  assay optimize {root} --resume --apply"
    skill = subject.skill
    path = skill.root / "SKILL.md"
    if read_skill(path).raw != skill.raw:
        raise InputError("was changed while the search went on, so nothing was written", file=str(path))
    folder.write_backup(skill.raw)
    _replace(path, with_description(skill, text))
    return f"Written into {path}; as it was: {folder.backup_path}"


def _show(
    found: Optimisation,
    folder: OptimisationFolder,
    record: dict[str, Any],
    page: str,
    applied: str,
    choices: Choices,
) -> None:
    from skill_assay.reports.optimise_terminal import print_optimisation, render_optimisation

    form, output = choices.format, choices.output
    if form == "text" and not output:
        from rich.console import Console

        console = Console(file=sys.stdout, highlight=False)
        print_optimisation(found, console, place=str(folder.path), apply=applied)
        return
    if form == "text":
        write(render_optimisation(found, place=str(folder.path), apply=applied), output)
    elif form == "html":
        write(page, output)
    else:
        write(json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n", output)
    if form != "text" and applied:
        click.echo(applied, err=True)


def _replace(path: Path, data: bytes) -> None:
    """The file's new content, whole or not at all; its permissions stay."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.chmod(path.stat().st_mode & 0o7777)
        temporary.replace(path.resolve())
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError("can't be written", file=str(path), found=error.strerror or str(error)) from error


def _exit_code(found: Optimisation) -> int:
    """0 a search that came to its own end; 3 one that did not, or whose runs failed too often; 130 interrupted."""
    if found.exit == "interrupted":
        return 130
    incomplete = found.exit in ("budget", "failure", "no_proposal")
    return 3 if incomplete or found.failed_share > LEFT_OUT_LIMIT else 0
