"""What a person sees after a trigger evaluation: how often it fires when it should, and when it should not."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING

from skill_assay.model.trigger_results import QueryResult, TriggerResults
from skill_assay.reports.plain import harmless
from skill_assay.reports.table import aligned
from skill_assay.reports.trigger_words import (
    class_rows,
    decision_lines,
    f1_text,
    false_alarms,
    fired_text,
    groups,
    left_out_lines,
    missed,
    note_lines,
    share_text,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_triggers", "render_triggers"]

_LONGEST_QUERY = 72
_ASCII = str.maketrans({"–": "-", "→": "->", "↓": "", "·": "-", "×": "x", "≈": "~", "…": "..."})


def render_triggers(found: TriggerResults, *, place: str | None = None, width: int = 100, unicode: bool = True) -> str:
    """The same as text, without colour."""
    from rich.console import Console

    buffer = StringIO()
    console = Console(file=buffer, width=width, no_color=True, force_terminal=False, highlight=False)
    print_triggers(found, console, place=place, unicode=unicode)
    return buffer.getvalue()


def print_triggers(
    found: TriggerResults, console: Console, *, place: str | None = None, unicode: bool | None = None
) -> None:
    """Print it.

    Args:
        found: the results.
        console: where to.
        place: where they lie, in the user's words.
        unicode: whether the terminal can show more than ASCII; as its encoding says where not given.
    """
    fancy = (console.encoding or "").lower().startswith("utf") if unicode is None else unicode

    def say(text: str, style: str = "") -> None:
        shown = text if fancy else text.translate(_ASCII)
        console.print(shown.rstrip(), style=style, markup=False, highlight=False, soft_wrap=True)

    for line in _headline(found):
        say(line, "bold")
    say(_figures(found))
    if len(found.matrix.columns) > 2 or len(found.catalogue.skills) > 1:
        with console.capture() as captured:
            console.print(_matrix(found))
        for line in captured.get().splitlines():
            say(line)
    for line in (*_classes(found), *_queries(found)):
        say(line)
    for line in (*_groups(found), *left_out_lines(found), *decision_lines(found)):
        say(line)
    notes = note_lines(found)
    if notes:
        say("Worth a look", "bold")
        for line in notes:
            say(f"  {line}")
    if place:
        say(f"Results: {place}")


def _headline(found: TriggerResults) -> Iterator[str]:
    scores = found.scores
    if found.ending:
        yield f"Partial: {harmless(found.ending)}"
    if scores.accuracy.n == 0:
        yield "Nothing was decided: no run of any query showed whether the skill fires."
        return
    recall, other = scores.recall, scores.specificity
    if recall.n:
        yield f"Fires when it should   {recall.count} of {recall.n} queries   recall {share_text(recall)}"
    if other.n:
        mix = f"   precision {share_text(scores.precision)} at this mix" if scores.precision.n else ""
        yield f"Silent when it should  {other.count} of {other.n} queries   specificity {share_text(other)}{mix}"


def _figures(found: TriggerResults) -> str:
    accuracy = found.scores.accuracy
    tried = "   (a description that was tried, not the skill's own)" if found.edited_description else ""
    if not accuracy.n:
        return tried.strip()
    return f"All                    {accuracy.count} of {accuracy.n} queries   accuracy {share_text(accuracy)}   " + (
        f"F1 {f1_text(found)} at this mix{tried}"
    )


def _matrix(found: TriggerResults) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("  wanted ↓ fired →")
    for name in found.matrix.columns:
        table.add_column(harmless(name or "none"), justify="right")
    table.add_column("runs", justify="right")
    for row in found.matrix.rows:
        table.add_row(f"  {harmless(row.wanted or 'none')}", *map(str, row.counts), str(row.runs))
    return table


def _classes(found: TriggerResults) -> list[str]:
    """A line a class of prompts, in columns."""
    head = ("class of prompts", "queries", "as wanted", "", "fired in runs", "")
    return aligned([head, *class_rows(found)], indent="  ") if found.by_class else []


def _queries(found: TriggerResults) -> Iterator[str]:
    for word, failed in (("Missed", missed(found)), ("False alarm", false_alarms(found))):
        for one in failed:
            yield f"{word:<12}  {_shown(one):<{_LONGEST_QUERY + 2}}  {fired_text(one, found.skill)}"


def _shown(one: QueryResult) -> str:
    text = harmless(one.query.text)
    return f'"{text if len(text) <= _LONGEST_QUERY else text[: _LONGEST_QUERY - 1] + "…"}"'


def _groups(found: TriggerResults) -> Iterator[str]:
    """Figures by context and by tag."""
    for name, scores in groups(found):
        parts = [f"accuracy {share_text(scores.accuracy)} of {scores.accuracy.n}"]
        parts += [f"recall {share_text(scores.recall)}"] if scores.recall.n else []
        parts += [f"specificity {share_text(scores.specificity)}"] if scores.specificity.n else []
        yield f"  {harmless(name)}: {', '.join(parts)}"
