"""After a run: the benchmark is derived, written, shown, and becomes an exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.benchmark.files import benchmark_json, write_benchmark
from skill_assay.errors import Failure, FailureKind, NotFoundError
from skill_assay.reports.markdown import benchmark_markdown
from skill_assay.reports.terminal import print_benchmark, render_benchmark
from skill_assay.reports.verdict import headline
from skill_assay.runner.engine import Ending
from skill_assay.runner.execute import Result
from skill_assay.workspace.store import Iteration

__all__ = ["EXCLUDED_LIMIT", "emit", "exit_code", "finish_run", "incomplete"]

EXCLUDED_LIMIT = 0.2
"""Above this share of excluded trials a benchmark is incomplete."""


def finish_run(result: Result, skill: str, form: str, output: str | None, verdict: bool = True) -> int:
    """Derive the benchmark of a run, write it, show it; say how the run ended, and return the exit code.

    Args:
        result: how the run ended.
        skill: the skill as the user named it, for hints.
        form: `text`, `json` or `markdown`.
        output: a file instead of standard output.
        verdict: whether the headline claims one.
    """
    ending = ending_words(result, skill)
    try:
        derived = derive(result.iteration.path)
    except NotFoundError:
        # Nothing was measured, so nothing is shown but why.
        click.echo(ending or "Nothing was measured.", err=True)
        return exit_code(result, None)
    write_benchmark(result.iteration, derived.benchmark, headline=_headline(derived, verdict))
    emit(derived, result.iteration, form, output, verdict=verdict)
    if ending:
        click.echo(ending, err=True)
    return exit_code(result, derived)


def emit(derived: Derived, iteration: Iteration, form: str, output: str | None, *, verdict: bool = True) -> None:
    """Show a benchmark on standard output or write it to a file."""
    found, line = derived.benchmark, _headline(derived, verdict)
    if form == "json":
        text = benchmark_json(found)
    elif form == "markdown":
        text = benchmark_markdown(found, headline=line)
    elif output:
        text = render_benchmark(found, headline=line, place=str(iteration.path))
    else:
        from rich.console import Console

        print_benchmark(found, Console(file=sys.stdout, highlight=False), headline=line, place=str(iteration.path))
        return
    if output:
        Path(output).write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=not text.endswith("\n"))


def _headline(derived: Derived, verdict: bool) -> str | None:
    return headline(derived.inference) if verdict and derived.inference else None


def ending_words(result: Result, skill: str) -> str:
    """Why a run ended before its end, and what to do; empty when it did not."""
    stopped = result.stopped
    resume = f"assay run {skill} --resume"
    cost = f"{result.launched} launches, ${result.usd:.2f}"
    match stopped.ending:
        case Ending.DONE:
            return ""
        case Ending.INTERRUPTED:
            return f"Interrupted: this benchmark is partial ({cost}). Go on with  {resume}"
        case Ending.BUDGET:
            return f"The budget is reached: this benchmark is partial ({cost}). Raise --budget and go on with  {resume}"
        case Ending.FAILURE if stopped.failure is not None:
            return f"{_failure_words(stopped.failure)} ({cost}).\n  {_remedy(stopped.failure, resume)}"
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


def _remedy(failure: Failure, resume: str) -> str:
    if failure.kind is FailureKind.NOT_SIGNED_IN:
        return f"Sign in with  claude  /login , or set ANTHROPIC_API_KEY; then  {resume}"
    if failure.kind is FailureKind.UNKNOWN_MODEL:
        return f"Name another with --model. (The server said: {failure.message[:200]})"
    return f"When that is mended:  {resume}"


def exit_code(result: Result, derived: Derived | None) -> int:
    """0 measured; 1 a threshold missed; 3 incomplete; 130 interrupted. Where 1 and 3 both hold, 1 wins."""
    if result.stopped.ending is Ending.INTERRUPTED:
        return 130
    if derived is None:
        return 3
    if any(threshold.met is False for threshold in derived.benchmark.thresholds):
        return 1
    return 3 if result.stopped.ending is not Ending.DONE or incomplete(derived) else 0


def incomplete(derived: Derived) -> bool:
    """Whether some eval has no graded trial in an arm, or too many trials are excluded."""
    found = derived.benchmark
    empty = any(cell.completed == 0 for one in found.evals for cell in one.arms.values())
    return empty or len(found.exclusions) > EXCLUDED_LIMIT * max(1, len(found.runs))
