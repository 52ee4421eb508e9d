"""What a person sees after a run: the answer, three lines, a table per eval, what was left out, what to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skill_assay.model.benchmark import Benchmark
from skill_assay.reports.classes import class_lines
from skill_assay.reports.eval_table import eval_table
from skill_assay.reports.plain import arm_label, arm_line, ascii_text, delta_line, harmless
from skill_assay.reports.thresholds import figure, outcome

if TYPE_CHECKING:
    from rich.console import Console
from skill_assay.reports.figures import count

__all__ = ["print_benchmark", "render_benchmark"]


def render_benchmark(
    found: Benchmark, *, headline: str | None = None, place: str | None = None, width: int = 100, unicode: bool = True
) -> str:
    """The same as text, without colour."""
    from io import StringIO

    from rich.console import Console

    buffer = StringIO()
    console = Console(file=buffer, width=width, no_color=True, force_terminal=False, highlight=False)
    print_benchmark(found, console, headline=headline, place=place, unicode=unicode)
    return buffer.getvalue()


def print_benchmark(
    found: Benchmark,
    console: Console,
    *,
    headline: str | None = None,
    place: str | None = None,
    unicode: bool | None = None,
) -> None:
    """Print it.

    Args:
        found: the numbers.
        console: where to.
        headline: the verdict in one line; nothing is claimed where it is absent.
        place: where the results lie, in the user's words.
        unicode: whether the terminal can show more than ASCII; as its encoding says where not given.
    """
    fancy = (console.encoding or "").lower().startswith("utf") if unicode is None else unicode

    def say(text: str, style: str = "") -> None:
        console.print(text if fancy else ascii_text(text), style=style, markup=False, highlight=False, soft_wrap=True)

    if headline:
        say(headline, "bold")
    for line in _three_lines(found):
        say(line)
    say("")
    table, below = eval_table(found, console.width, fancy)
    with console.capture() as captured:
        console.print(table)
    for line in (*captured.get().splitlines(), *below):
        say(line.rstrip())
    say("")
    for line in _counts(found):
        say(line)
    if found.notes:
        say("Worth a look", "bold")
        for note in found.notes:
            say(f"  · {harmless(note)}")
    if place:
        say(f"Results: {harmless(place)}")


def _three_lines(found: Benchmark) -> Iterator[str]:
    labels = [arm_label(arm.arm.name) for arm in found.arms]
    width = max(len("With Skill"), *(len(label) for label in labels)) + 2
    for arm, label in zip(found.arms, labels, strict=True):
        yield f"  {label + ':':<{width}} {arm_line(arm)}"
    if found.baseline is not None:
        yield f"  {'Delta:':<{width}} {delta_line(found.primary, found.baseline)}"


def _counts(found: Benchmark) -> Iterator[str]:
    done, asked = sum(arm.completed for arm in found.arms), sum(arm.requested for arm in found.arms)
    line = f"Trials completed: {done} of {asked}"
    reasons: dict[str, int] = {}
    for arm in found.arms:
        for reason, n in arm.excluded.items():
            reasons[reason] = reasons.get(reason, 0) + n
    if reasons:
        line += "; excluded: " + ", ".join(f"{n} {reason}" for reason, n in reasons.items())
    yield line + (f"; {found.missing} missing" if found.missing else "")
    if found.primary.use_known:
        yield f"Skill used: {found.primary.used} of {found.primary.use_known} trials of {found.primary.arm.name}"
    yield from class_lines(found)
    yield from _since(found)
    for one in found.thresholds:
        limit, value = figure(one.name, one.limit), figure(one.name, one.value)
        yield f"Threshold {one.name} {limit}: {value}, {harmless(outcome(one))}"


def _since(found: Benchmark) -> Iterator[str]:
    """What changed since the iteration before, in a line or a few."""
    compared = found.comparison
    if compared is None:
        return
    name = harmless(compared.previous)
    if compared.refused:
        reasons = harmless("; ".join(compared.refused))
        yield f"Not compared with {name}: {reasons}. --common compares the evals both have unchanged"
        return
    before, now = compared.figures.get("pass_rate", (None, None))
    moved = f"{(now - before) * 100:+.0f}pp pass rate, " if before is not None and now is not None else ""
    worse, better = len(compared.regressions), len(compared.improvements)
    yield f"Since {name} ({count(len(compared.evals), 'eval')}): {moved}{worse} listed worse, {better} listed better"
    for one in compared.changes:
        word = {True: "confirmed", False: "not confirmed by fresh trials", None: "not confirmed yet"}[one.confirmed]
        yield f"  {one.kind}: {harmless(one.name)} all passed {one.before} before, {one.now} now; {word}"
