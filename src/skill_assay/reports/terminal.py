"""What a person sees after a run: the answer, three lines, a table per eval, what was left out, what to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skill_assay.model.benchmark import Benchmark, EvalArm, EvalFigures
from skill_assay.reports.classes import class_lines
from skill_assay.reports.plain import arm_label, arm_line, delta_line, dots, harmless, percent_of
from skill_assay.reports.thresholds import figure, outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
from skill_assay.reports.figures import count

__all__ = ["print_benchmark", "render_benchmark"]

_COLUMN = {"with_skill": "with", "without_skill": "without"}


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
        console.print(text if fancy else _ascii(text), style=style, markup=False, highlight=False, soft_wrap=True)

    if headline:
        say(headline, "bold")
    for line in _three_lines(found):
        say(line)
    say("")
    with console.capture() as table:
        console.print(_table(found, fancy))
    for line in table.get().splitlines():
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


def _table(found: Benchmark, fancy: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False, header_style="")
    table.add_column("  eval", no_wrap=True, overflow="ellipsis" if fancy else "crop", max_width=30)
    for arm in found.arms:
        table.add_column(_COLUMN.get(arm.arm.name, harmless(arm.arm.name)), no_wrap=True)
    columns = (["Δ" if fancy else "diff"] if found.baseline else []) + ["skill used", "trials", "notes"]
    for title in columns:
        table.add_column(title, no_wrap=title != "notes", justify="right" if title in ("Δ", "diff") else "left")
    for one in found.evals:
        cells = [f"  {harmless(one.eval.name)}"]
        cells += [_cell(one.arms[arm.arm.name], fancy) for arm in found.arms]
        cells += [_delta(found, one)] if found.baseline else []
        cells += [_used(found, one), _trials(found, one), _notes(found, one)]
        table.add_row(*(Text(cell if fancy else _ascii(cell)) for cell in cells))
    return table


def _cell(cell: EvalArm, fancy: bool) -> str:
    return f"{dots(cell, fancy)} {percent_of(cell.mean)}".strip()


def _delta(found: Benchmark, one: EvalFigures) -> str:
    assert found.baseline is not None
    ours, theirs = one.arms[found.primary.arm.name].mean, one.arms[found.baseline.arm.name].mean
    if ours is None or theirs is None:
        return "–"
    text = f"{(ours - theirs) * 100:+.0f}"
    return "0" if text in ("+0", "-0") else text


def _used(found: Benchmark, one: EvalFigures) -> str:
    cell = one.arms[found.primary.arm.name]
    return f"{cell.used}/{cell.use_known}" if cell.use_known else "–"


def _trials(found: Benchmark, one: EvalFigures) -> str:
    return "+".join(str(one.arms[arm.arm.name].completed) for arm in found.arms)


def _notes(found: Benchmark, one: EvalFigures) -> str:
    parts = []
    if any(one.arms[arm.arm.name].reliability == "low" for arm in found.arms[:2]):
        parts.append("low reliability")
    for arm in found.arms:
        cell = one.arms[arm.arm.name]
        parts += [f"{n} excluded: {reason}" for reason, n in cell.excluded.items()]
        missing = cell.requested - len(cell.scores)
        parts += [f"{missing} missing"] if missing > 0 else []
    if one.eval.known_issue:
        parts.append(f"known issue: {harmless(one.eval.known_issue)}")
    return "; ".join(dict.fromkeys(parts))


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


_PLAIN = str.maketrans({"±": "+-", "Δ": "d", "·": "-", "–": "-", "…": "...", "×": "x", "−": "-", "→": "->", "’": "'"})


def _ascii(text: str) -> str:
    return text.translate(_PLAIN).encode("ascii", "replace").decode()
