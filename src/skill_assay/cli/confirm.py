"""`assay run --confirm`: fresh trials, in both versions, of what the newest iteration lists as worse or better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.benchmark.gate import gate
from skill_assay.benchmark.iterations import FRESH_TRIALS, previous_of
from skill_assay.cli.measure import RunChoices, measure_skill
from skill_assay.cli.resolve import Resolved
from skill_assay.cli.show import keep, show
from skill_assay.errors import InputError
from skill_assay.formats.skill import read_skill
from skill_assay.model.comparison import Comparison
from skill_assay.runner.engine import Ending
from skill_assay.runner.progress import Display
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.resolve import iteration_of, resolve_place
from skill_assay.workspace.store import Iteration

__all__ = ["confirm_changes"]


def confirm_changes(root: Path, resolved: Resolved, choices: RunChoices, display: Display) -> int:
    """Run what is listed and not yet settled by fresh trials; then show the iteration again.

    Evals that already have enough fresh trials are not run again: to try until the answer pleases proves nothing.
    """
    if choices.mode != "new" or choices.fresh:
        raise InputError("--confirm goes with neither --resume, --add nor --new")
    place = choices.workspace or resolved.workspace or default_workspace(read_skill(root).root)
    iteration = iteration_of(resolve_place(root, place))
    derived = derive(iteration.path, previous=choices.previous, common=choices.common)
    compared, earlier = _compared(derived, iteration, choices.previous)
    ids = tuple(one.eval_id for one in compared.changes if one.confirmed is None)
    code = 0
    if ids:
        code = _run_fresh(root, resolved, choices, display, iteration, earlier, ids)
        if choices.dry_run:
            return code
        derived = derive(iteration.path, previous=choices.previous, common=choices.common)
    else:
        click.echo(f"Nothing listed since {compared.previous} waits for fresh trials.", err=True)
    keep(iteration, derived)
    show(derived, choices.format, choices.output)
    return gate(derived.benchmark).exit_code or code


def _compared(derived: Derived, iteration: Iteration, named: str | None) -> tuple[Comparison, Iteration]:
    compared, earlier = derived.benchmark.comparison, previous_of(iteration, named)
    if compared is None or earlier is None:
        raise InputError(f"{iteration.path.name} has no iteration before it to compare with", file=str(iteration.path))
    if compared.refused:
        raise InputError(f"{iteration.path.name} and {compared.previous} do not compare: {'; '.join(compared.refused)}")
    if not earlier.snapshot_path.is_file():
        raise InputError("has no snapshot of the skill, so that version can't be run again", file=str(earlier.path))
    return compared, earlier


def _run_fresh(
    root: Path,
    resolved: Resolved,
    choices: RunChoices,
    display: Display,
    iteration: Iteration,
    earlier: Iteration,
    ids: tuple[str, ...],
) -> int:
    """Both versions side by side in a workspace of their own; 0, 3 or 130."""
    now, then = iteration.read_plan().digests.get("skill"), earlier.read_plan().digests.get("skill")
    if read_skill(root).digest != now:
        raise InputError(f"The skill changed since {iteration.path.name}", hint=f"Measure it first:  assay run {root}")
    if now == then:
        raise InputError(
            f"The skill is the same in {earlier.path.name} and {iteration.path.name}: what is listed is noise"
        )
    from_option = resolved.origins["trials"].origin.startswith("option")
    trials = max(FRESH_TRIALS, resolved.settings.trials if from_option else 0)
    settings = replace(
        resolved.settings,
        baselines=(str(earlier.snapshot_path),),
        eval_ids=ids,
        tags=(),
        trials=trials,
        thresholds=None,
        stop_early=None,
        previous_benchmark=None,
    )
    place = iteration.confirm_path(earlier.number)
    fresh = replace(choices, workspace=place, fresh=True, previous=None, common=False)
    if choices.dry_run:
        from skill_assay.cli.measure import run_skill

        return run_skill(root, replace(resolved, settings=settings), fresh, display)
    result, _ = measure_skill(root, replace(resolved, settings=settings), fresh, display)
    if result.stopped.ending is Ending.INTERRUPTED:
        return 130
    return 0 if result.stopped.ending is Ending.DONE else 3
