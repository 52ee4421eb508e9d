"""The iterations of a skill as a table for a terminal or a page."""

from __future__ import annotations

from skill_assay.model.history import History, HistoryRow
from skill_assay.reports.escape import safe
from skill_assay.reports.figures import count
from skill_assay.reports.plain import harmless, percent_of
from skill_assay.reports.table import aligned, piped

__all__ = ["history_markdown", "history_text"]

_HEAD = (
    *("iteration", "when", "skill", "agent/model", "design", "pass rate", "change", "against", "effect (95 %)"),
    *("verdict", "worse", "better", "tokens", "time", "gate"),
)


def history_text(found: History) -> str:
    """A row an iteration, oldest first."""
    head = f"{harmless(found.skill_name)}: {count(len(found.rows), 'iteration')}"
    return "\n".join([head, *aligned(_table(found)), _foot()]) + "\n"


def history_markdown(found: History) -> str:
    """The same as a Markdown table."""
    return "\n".join([f"# Iterations of {safe(found.skill_name)}", "", *piped(_table(found)), "", _foot()]) + "\n"


def _table(found: History) -> list[tuple[str, ...]]:
    return [_HEAD, *map(_cells, found.rows)]


def _foot() -> str:
    return (
        "Worse and better count evals listed since the iteration before of the same agent and model; "
        "n! of them are confirmed by fresh trials."
    )


def _change(row: HistoryRow) -> str:
    """Where the iteration it is compared with is not the one above, that one is named."""
    if row.change is None:
        return "–"
    since = "" if row.since in (None, row.number - 1) else f" since {row.since}"
    return f"{row.change * 100:+.0f}{since}"


def _cells(row: HistoryRow) -> tuple[str, ...]:
    marks = [word for word, holds in (("partial", row.partial), ("simulated", row.simulated)) if holds]
    name = f"{row.number}" + (f" ({', '.join(marks)})" if marks else "")
    interval = "" if row.low is None or row.high is None else f" ({row.low * 100:+.0f} to {row.high * 100:+.0f})"
    effect = "–" if row.effect is None else f"{row.effect * 100:+.0f}{interval}"
    scope = " on these evals" if row.scope == "these_evals" else ""
    verdict = "noise floor" if row.noise else f"{row.verdict}{scope}" if row.verdict else "–"
    worse = "–" if row.regressions is None else str(row.regressions) + (f" ({row.confirmed}!)" if row.confirmed else "")
    return (
        name,
        row.created_at[:16].replace("T", " ") or "–",
        row.skill_digest or "–",
        harmless(row.subject) or "–",
        f"{row.evals} × {row.trials}",
        percent_of(row.pass_rate),
        _change(row),
        harmless(row.baseline) or "–",
        effect,
        verdict,
        worse,
        "–" if row.improvements is None else str(row.improvements),
        "–" if row.tokens is None else f"{row.tokens:.0f}",
        "–" if row.seconds is None else f"{row.seconds:.0f} s",
        row.gate or "–",
    )
