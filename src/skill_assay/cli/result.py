"""After a run: the benchmark is derived, written, shown, and becomes an exit code."""

from __future__ import annotations

import click

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.benchmark.gate import gate
from skill_assay.cli.show import keep, show
from skill_assay.errors import Failure, FailureKind, NotFoundError
from skill_assay.reports.figures import launches, spent_words
from skill_assay.runner.engine import Ending
from skill_assay.runner.execute import Result
from skill_assay.workspace.store import Iteration

__all__ = ["LARGEST_REPORT", "derive_run", "ending_words", "exit_code", "finish_run", "keep_report"]

LARGEST_REPORT = 500
"""Trials up to which a run writes its report: it must not wait for its page."""


def finish_run(
    result: Result, resume: str, form: str, output: str | None, *, previous: str | None = None, common: bool = False
) -> int:
    """Derive the benchmark of a run, write it, show it; say how the run ended, and return the exit code.

    Args:
        result: how the run ended.
        resume: the command that goes on, for hints.
        form: as `cli.show.show` takes it.
        output: a file instead of standard output.
        previous: the iteration to compare with; the one before, where not given.
        common: compare only what both have unchanged.
    """
    ending = ending_words(result, resume)
    derived = derive_run(result, previous=previous, common=common)
    if derived is None:
        # Nothing was measured, so nothing is shown but why.
        click.echo(ending or "Nothing was measured.", err=True)
        return exit_code(result, None)
    show(derived, form, output)
    keep_report(result.iteration, derived)
    if ending:
        click.echo(ending, err=True)
    return exit_code(result, derived)


def derive_run(result: Result, *, previous: str | None = None, common: bool = False) -> Derived | None:
    """The benchmark of a run, written into its iteration; `None` where nothing was measured."""
    try:
        derived = derive(result.iteration.path, previous=previous, common=common)
    except NotFoundError:
        return None
    keep(result.iteration, derived)
    return derived


def keep_report(iteration: Iteration, derived: Derived) -> None:
    """Write `report.html` of an iteration; a page that can't be made is told and costs nothing that was measured."""
    if len(derived.benchmark.runs) > LARGEST_REPORT:
        hint = f"assay view {iteration.path} --static FILE"
        click.echo(f"No report.html for more than {LARGEST_REPORT} trials; {hint}  makes one.", err=True)
        return
    from skill_assay.viewer.site import Opened, Site
    from skill_assay.viewer.static import Budget, static_page

    try:
        site = Site((iteration,), iteration)
        page, _ = static_page(site, Opened(iteration.path.name, iteration, derived), Budget())
        iteration.write_report(page)
    except Exception as error:  # whatever a stranger's output does to a page, the run is done and its numbers stand
        click.echo(f"report.html could not be written: {error}", err=True)


def ending_words(result: Result, resume: str, what: str = "benchmark") -> str:
    """Why a run ended before its end, and what to do; empty when it did not.

    Args:
        result: how it ended.
        resume: the command that goes on.
        what: is partial.
    """
    stopped = result.stopped
    cost = f"{launches(result.launched)}, {spent_words(result.spent.usd, result.spent.assumed_usd)}"
    match stopped.ending:
        case Ending.DONE:
            return ""
        case Ending.INTERRUPTED:
            return f"Interrupted: this {what} is partial ({cost}). Go on with  {resume}"
        case Ending.BUDGET:
            return f"The budget is reached: this {what} is partial ({cost}). Raise --budget and go on with  {resume}"
        case Ending.FAILURE if stopped.failure is not None:
            return f"{_failure_words(stopped.failure)} ({cost}).\n  {_remedy(stopped.failure, result.sign_in, resume)}"
        case Ending.UNEQUAL:
            return f"Stopped: {stopped.reason} ({cost}).\n  Remove the difference, or accept it with --allow-unequal."
        case _:
            return f"Stopped: {stopped.reason} ({cost}).\n  When that is mended:  {resume}"


def _failure_words(failure: Failure) -> str:
    words = {
        FailureKind.NOT_SIGNED_IN: "Not signed in",
        FailureKind.UNKNOWN_MODEL: "Unknown model",
        FailureKind.NO_CREDIT: "No credit left",
    }
    status = f"the API answered {failure.status}" if failure.status else failure.message
    return f"{words.get(failure.kind, 'Stopped')}: {status}, so nothing more was launched"


def _remedy(failure: Failure, sign_in: str, resume: str) -> str:
    if failure.kind is FailureKind.NOT_SIGNED_IN:
        return f"{sign_in}; then  {resume}"
    if failure.kind is FailureKind.UNKNOWN_MODEL:
        return f"Name another with --model. (The server said: {failure.message[:200]})"
    return f"When that is mended:  {resume}"


def exit_code(result: Result, derived: Derived | None) -> int:
    """0 measured; 1 a threshold missed; 3 incomplete; 130 interrupted. Where 1 and 3 both hold, 1 wins."""
    if result.stopped.ending is Ending.INTERRUPTED:
        return 130
    if derived is None:
        return 3
    code = gate(derived.benchmark).exit_code
    return 3 if code == 0 and result.stopped.ending is not Ending.DONE else code
