"""`benchmark.md`: the benchmark for a person who reads it in a repository or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skill_assay.model.benchmark import Benchmark, EvalFigures
from skill_assay.reports.classes import class_table
from skill_assay.reports.escape import safe
from skill_assay.reports.figures import count
from skill_assay.reports.plain import arm_label, arm_line, delta_line, dots, percent_of
from skill_assay.reports.recommend import recommendations
from skill_assay.reports.sections import changes, summary, variance

__all__ = ["benchmark_markdown"]

_PLOTS = {
    "forest": "Difference in pass rate by eval, and over all of them; the tables below have the figures",
    "trend": "Pass rates of the arms, and their difference, from iteration to iteration",
}


def benchmark_markdown(
    found: Benchmark,
    *,
    headline: str | None = None,
    explained: Sequence[str] = (),
    plots: Mapping[str, str] | None = None,
) -> str:
    """The page.

    Args:
        found: the numbers.
        headline: the verdict in one line; nothing is claimed where it is absent.
        explained: what it means and what qualifies it, in plain words.
        plots: where the plots `forest` (effects by eval) and `trend` (iterations) lie, relative to the page.
    """
    parts = [f"# Benchmark of {safe(found.skill_name)}", _head(found)]
    parts += [f"**{safe(headline)}**"] if headline else []
    parts += ["\n".join(f"- {safe(line)}" for line in explained)] if explained else []
    places = plots or {}
    parts += [f"![{words}]({places[name]})" for name, words in _PLOTS.items() if name in places]
    parts += ["## Summary", "\n".join(summary(found)), _arms(found), *changes(found)]
    parts += ["## Per-eval detail", _evals(found)]
    if classes := class_table(found):
        parts += ["## By class of prompts", classes]
    parts += ["## Variance analysis", "\n".join(variance(found))]
    if found.exclusions:
        parts += ["## Left out", "\n".join(_exclusions(found))]
    if advice := recommendations(found):
        parts += ["## Recommendations", "\n".join(f"- {safe(line)}" for line in advice)]
    if found.notes:
        parts += ["## Worth a look", "\n".join(f"- {safe(note)}" for note in found.notes)]
    return "\n\n".join(parts) + "\n"


def _head(found: Benchmark) -> str:
    facts = [f"Iteration {found.iteration}" if found.iteration else "", found.timestamp]
    models = sorted({run.model for run in found.runs if run.model})
    facts += [f"agent {safe(found.primary.arm.agent)}" if found.primary.arm.agent else "", safe(", ".join(models))]
    facts += ["**simulated: no real agent did this work**" if found.simulated else ""]
    facts += [f"**partial: {count(found.missing, 'trial')} missing**" if found.partial else ""]
    return " · ".join(filter(None, facts))


def _arms(found: Benchmark) -> str:
    rows = [
        f"| {safe(arm_label(arm.arm.name))} | {arm_line(arm)} | {arm.completed} of {arm.requested} | "
        f"{f'{arm.used} of {arm.use_known}' if arm.use_known else '–'} |"
        for arm in found.arms
    ]
    if found.baseline is not None:
        rows.append(f"| Delta | {' '.join(delta_line(found.primary, found.baseline).split())} | | |")
    return "\n".join(["| arm | mean ± sample standard deviation | trials | skill used |", "|---|---|---|---|", *rows])


def _evals(found: Benchmark) -> str:
    names = [arm.arm.name for arm in found.arms]
    head = ["eval", *(safe(name) for name in names), "trials", "reliability"]
    rows = [_row(one, names) for one in found.evals]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])


def _row(one: EvalFigures, names: list[str]) -> str:
    cells = [one.arms[name] for name in names]
    shown = [f"{dots(cell)} {percent_of(cell.mean)}".strip() for cell in cells]
    trials = "+".join(str(cell.completed) for cell in cells)
    issue = f" (known issue: {safe(one.eval.known_issue)})" if one.eval.known_issue else ""
    return f"| {safe(one.eval.name)}{issue} | {' | '.join(shown)} | {trials} | {cells[0].reliability} |"


def _exclusions(found: Benchmark) -> Iterator[str]:
    for one in found.exclusions:
        yield f"- {safe(one.eval.name)}, {safe(one.arm)}, run {one.number}: {safe(one.reason)}"
