"""Designs as a table for a terminal, and the simulator's findings likewise."""

from __future__ import annotations

from collections.abc import Sequence

from skill_assay.model.power import PowerRow, PowerTable
from skill_assay.reports.figures import money, percent, points, span
from skill_assay.reports.table import aligned
from skill_assay.stats.results import Calibration, EarlyCalibration

__all__ = ["power_text", "simulation_text"]


def power_text(table: PowerTable) -> str:
    """The designs, what they see and what they cost."""
    queries = table.kind == "queries"
    effects = list(table.rows[0].power) if table.rows else []
    last = "accuracy within" if queries else "80 % power from"
    head = [table.kind, "runs" if queries else "trials", "launches", "price", *(f"+{span(e)}" for e in effects), last]
    body = [_row(row) for row in table.rows]
    what = "a better description found significantly better" if queries else "a verdict on tasks like these"
    lines = [
        f"Chance of {what}, by true effect in points.",
        f"Spread {table.basis}.",
        *([] if queries else [_spread(table)]),
        "",
        *_columns([head, *body]),
    ]
    cost = table.cost_per_launch
    lines += ["", "Price unknown; --price USD sets it." if cost is None else f"Price at {money(cost)} a launch."]
    return "\n".join(lines) + "\n"


def _spread(table: PowerTable) -> str:
    assert table.between is not None
    if table.within is None:
        return (
            f"Differences spread by {span(table.between)} points (sd). With one trial an arm the noise of trials is "
            "not seen apart, so what more trials would bring cannot be said."
        )
    return f"Effects differ by {span(table.between)} points from task to task, trials by {span(table.within)} (sd)."


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    return aligned(rows, indent="  ", right=range(len(rows[0])))


def _row(row: PowerRow) -> list[str]:
    powers = [f"{chance * 100:.0f} %" for chance in row.power.values()]
    if row.reach is not None:
        last = f"±{span(row.reach)}"
    else:
        last = f"+{span(row.smallest_visible)}" if row.smallest_visible is not None else "nothing"
    price = money(row.cost_usd) if row.cost_usd is not None else "?"
    return [str(row.units), str(row.repeats), f"{row.launches:,}", price, *powers, last]


def simulation_text(fixed: Sequence[Calibration], early: Sequence[EarlyCalibration]) -> str:
    """What the verdict rule did on simulated benchmarks of known truth."""
    head = [
        "evals",
        "trials",
        "true effect",
        "better",
        "worse",
        "equivalent",
        "cannot tell",
        "interval covers",
        "naive",
    ]
    body = [
        [
            str(one.evals),
            str(one.trials),
            points(one.true_effect).split()[0],
            *(f"{share * 100:.1f} %" for share in (one.better, one.worse, one.equivalent, one.inconclusive)),
            f"{one.coverage * 100:.1f} %",
            percent(one.naive_better),
        ]
        for one in fixed
    ]
    lines = ["The verdict rule on simulated benchmarks; naive is the share with a difference above 0.", ""]
    lines += _columns([head, *body])
    if early:
        lines += ["", "With --stop early, a look after each round:", ""]
        lines += _columns([["evals", "rounds", "true effect", "decided", "trials saved"], *map(_early_row, early)])
    samples = ", ".join(sorted({f"{n:,}" for n in [one.samples for one in fixed] + [one.samples for one in early]}))
    note = "True effect 0 shows false positives: at most 5 %, give or take chance."
    lines += ["", f"Each line: {samples} benchmarks. {note}"]
    return "\n".join(lines) + "\n"


def _early_row(one: EarlyCalibration) -> list[str]:
    decided = f"{one.decided * 100:.1f} %"
    return [str(one.evals), str(one.rounds), points(one.true_effect).split()[0], decided, percent(one.saved)]
