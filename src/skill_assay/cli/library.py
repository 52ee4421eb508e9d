"""`assay run DIR` with many skills: one table, verdicts corrected for their number, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from skill_assay.benchmark.gate import gate
from skill_assay.benchmark.library import ranked
from skill_assay.cli.measure import RunChoices, expected_of, measure_skill, session_of
from skill_assay.cli.resolve import Resolved
from skill_assay.cli.result import ending_words, exit_code
from skill_assay.cli.show import write
from skill_assay.cli.talk import confirm, estimate_line
from skill_assay.errors import AssayError, InputError, NotFoundError
from skill_assay.formats.evals import find_evals
from skill_assay.model.library import LibraryRow
from skill_assay.model.money import Spend
from skill_assay.reports import library as shown
from skill_assay.reports.figures import count, launches
from skill_assay.runner.estimate import Estimate
from skill_assay.runner.progress import Display
from skill_assay.workspace.places import resume_command

__all__ = ["run_library", "skills_below"]

_DEPTH = 4
_INTERRUPTED = 130
_FORMS = {
    "text": shown.library_text,
    "json": shown.library_json,
    "markdown": shown.library_markdown,
    "junit": shown.library_junit,
    "github": shown.library_github,
}
Plan = tuple[Path, Resolved, RunChoices]


def skills_below(root: Path) -> tuple[Path, ...]:
    """The skills in a folder that is none itself, sorted; what lies inside a skill or a workspace is not looked at."""
    if not root.is_dir() or (root / "SKILL.md").is_file():
        return ()
    found: list[Path] = []
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        for child in sorted(folder.iterdir()):
            if not child.is_dir() or child.is_symlink() or child.name == "node_modules":
                continue
            if child.name.endswith("-workspace") or child.name in (".git", ".assay", ".venv"):
                continue
            if (child / "SKILL.md").is_file():
                found.append(child)
            elif depth + 1 < _DEPTH:
                waiting.append((child, depth + 1))
    return tuple(sorted(found))


def run_library(
    root: Path,
    skills: Sequence[Path],
    resolved_of: Callable[[Path], Resolved],
    choices: RunChoices,
    display_of: Callable[[], Display],
) -> int:
    """Measure every skill that has evals.

    Args:
        root: the library.
        skills: its skills.
        resolved_of: the settings of one of them.
        choices: what was chosen for all.
        display_of: a new display for each.

    Raises:
        NotFoundError: none has evals.
    """
    plans, rows = _plans(root, skills, resolved_of, choices)
    if not plans:
        raise NotFoundError("no skill here has evals", file=str(root), hint="assay init SKILL adds some.")
    expected, rows = _estimate(plans, rows)
    refused = {row.skill for row in rows}
    plans = [plan for plan in plans if str(plan[0]) not in refused]
    shape = f"{count(len(plans), 'skill')}, {launches(expected.spend.launches)}"
    click.echo(f"{shape}, {estimate_line(expected)}", err=True)
    if choices.dry_run:
        click.echo("\n".join([*(str(path) for path, _, _ in plans), "Nothing was launched."]))
        return 0
    confirm(expected, choices.yes)
    for path, resolved, chosen in plans:
        click.echo(f"{path}", err=True)
        row = _measure(path, resolved, replace(chosen, yes=True), display_of())
        rows.append(row)
        if row.code == _INTERRUPTED:
            break
    write(_FORMS[choices.format](ranked(rows)), choices.output)
    codes = {row.code for row in rows}
    if _INTERRUPTED in codes:
        return _INTERRUPTED
    return 1 if 1 in codes else 3 if codes - {0} else 0


def _plans(
    root: Path, skills: Sequence[Path], resolved_of: Callable[[Path], Resolved], choices: RunChoices
) -> tuple[list[Plan], list[LibraryRow]]:
    """What is to be run; skills without evals are named and left out, those with a mistake become rows."""
    plans: list[Plan] = []
    rows: list[LibraryRow] = []
    for path in skills:
        try:
            find_evals(path)
        except NotFoundError:
            click.echo(f"Left out {path}: it has no evals", err=True)
            continue
        try:
            resolved = resolved_of(path)
        except InputError as error:
            rows.append(LibraryRow(str(path), error=str(error).splitlines()[0], code=2))
            continue
        place = resolved.workspace
        own = place / f"{'-'.join(path.relative_to(root).parts)}-workspace" if place else None
        plans.append((path, resolved, replace(choices, workspace=own)))
    return plans, rows


def _estimate(plans: Sequence[Plan], rows: list[LibraryRow]) -> tuple[Estimate, list[LibraryRow]]:
    """The sum over all; a skill that can't be run is a row already, and costs nothing."""
    spend, seconds, measured = Spend(), 0.0, True
    for path, resolved, choices in plans:
        try:
            with session_of(path, resolved, choices) as session:
                one = expected_of(session, choices)
        except InputError as error:
            rows.append(LibraryRow(str(path), error=str(error).splitlines()[0], code=2))
        else:
            spend, seconds, measured = spend + one.spend, seconds + one.seconds, measured and one.measured
    return Estimate(spend, seconds, measured), rows


def _measure(path: Path, resolved: Resolved, choices: RunChoices, display: Display) -> LibraryRow:
    try:
        result, derived = measure_skill(path, resolved, choices, display)
    except AssayError as error:
        return LibraryRow(str(path), error=str(error).splitlines()[0], code=error.exit_code)
    code, said = exit_code(result, derived), ending_words(result, resume_command(path, result.iteration.path.parent))
    if said:
        click.echo(said, err=True)
    if derived is None:
        return LibraryRow(str(path), error=said or "nothing was measured", code=code)
    return LibraryRow(str(path), derived.benchmark, derived.inference, gate(derived.benchmark), code=code)
