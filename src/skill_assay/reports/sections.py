"""The sections of `benchmark.md` beyond the plain figures: summary, changes since the last iteration, variance."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from skill_assay.model.benchmark import ArmFigures, Benchmark, EvalArm, Spread
from skill_assay.model.comparison import Change, Comparison
from skill_assay.reports.escape import safe
from skill_assay.reports.plain import percent_of
from skill_assay.reports.thresholds import figure, outcome

__all__ = ["COMMON", "changes", "summary", "variance"]

_THRESHOLD_OF = {
    "pass rate": "min_pass_rate",
    "tokens": "max_avg_tokens",
    "time": "max_avg_duration_seconds",
    "effect": "min_delta",
    "improvement ratio": "min_improvement_ratio",
    "skill used": "min_activation",
    "excluded": "max_excluded_share",
    "verdict": "verdict",
    "regressions": "no_regressions",
}
COMMON = "`--common` compares the evals both have unchanged."
Row = tuple[str, str, str, str]
"""Metric, current, previous, delta."""


def summary(found: Benchmark) -> Iterator[str]:
    """Metric, current, previous, delta (to the previous iteration), threshold, status."""
    yield "| metric | current | previous | delta | threshold | status |"
    yield "|---|---|---|---|---|---|"
    results = {one.name: one for one in found.thresholds}
    for metric, current, previous, delta in _rows(found):
        asked = results.get(_THRESHOLD_OF[metric])
        limit = figure(asked.name, asked.limit) if asked else "–"
        status = safe(outcome(asked)) if asked else "–"
        if asked and asked.met is False:
            status = f"**{asked.status}**{status[len(asked.status) :]}"
        yield f"| {metric} | {current} | {previous} | {delta} | {limit} | {status} |"


def _rows(found: Benchmark) -> Iterator[Row]:
    compared, arm = found.comparison, found.primary
    yield _metric("pass rate", "pass_rate", arm.pass_rate, compared, percent_of, lambda d: f"{d * 100:+.0f} points")
    yield _metric("tokens", "tokens", arm.tokens, compared, _whole, lambda d: f"{d:+.0f}")
    yield _metric("time", "time_seconds", arm.seconds, compared, _seconds, lambda d: f"{d:+.0f} s")
    facts = found.inference or {}
    if found.baseline is not None:
        effect = facts.get("effect")
        yield "effect", "–" if effect is None else f"{effect * 100:+.0f} points", "", ""
        ratio = found.improvement_ratio
        yield "improvement ratio", "–" if ratio is None else f"{ratio:.2f}", "", ""
        if facts:
            scope = str(facts.get("scope", "")).replace("_", " ")
            yield "verdict", f"{facts['verdict']}, on {scope}", "", ""
    if arm.use_known:
        yield "skill used", f"{arm.used} of {arm.use_known}", "", ""
    yield "excluded", f"{len(found.exclusions)} of {len(found.runs)}", "", ""
    if compared is not None and not compared.refused:
        listed = compared.regressions
        sure = sum(one.confirmed is True for one in listed)
        yield "regressions", f"{len(listed)} listed, {sure} confirmed", "", ""
    elif any(one.name == "no_regressions" for one in found.thresholds):
        yield "regressions", "?", "", ""


def _metric(
    name: str,
    key: str,
    spread: Spread | None,
    compared: Comparison | None,
    shown: Callable[[float | None], str],
    moved: Callable[[float], str],
) -> Row:
    """The previous value and the difference are over the evals compared, which with --common are not all."""
    before, now = compared.figures.get(key, (None, None)) if compared else (None, None)
    delta = moved(now - before) if before is not None and now is not None else "–"
    return name, shown(spread.mean if spread else None), shown(before), delta


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f} s"


def changes(found: Benchmark) -> Iterator[str]:
    """Regressions and improvements since the previous iteration, or why there are none to tell."""
    compared = found.comparison
    if compared is None:
        return
    if compared.refused:
        yield "## Since the previous iteration"
        reasons = "; ".join(safe(reason) for reason in compared.refused)
        yield f"Not compared with {safe(compared.previous)}: {reasons}. {COMMON}"
        return
    since = f"Since {safe(compared.previous)}, over {len(compared.evals)} of {len(found.evals)} evals"
    remarks = f" ({'; '.join(safe(remark) for remark in compared.remarks)})" if compared.remarks else ""
    yield "## Regressions (action required)"
    yield _listed(compared.regressions, f"{since}{remarks}: none listed.", f"{since}{remarks}:")
    yield "## Improvements"
    yield _listed(compared.improvements, "None listed.", "")


def _listed(found: tuple[Change, ...], none: str, head: str) -> str:
    if not found:
        return none
    rows = [
        "| eval | all passed before | now | fresh trials | |",
        "|---|---|---|---|---|",
        *(f"| {safe(one.name)} | {one.before} | {one.now} | {_fresh(one)} | {_standing(one)} |" for one in found),
    ]
    return (f"{head}\n\n" if head else "") + "\n".join(rows)


def _fresh(one: Change) -> str:
    if one.fresh is None:
        return "–"
    p = f", p {one.fresh.p:.3f}" if one.fresh.p is not None else ""
    return f"{one.fresh.before} and {one.fresh.now}{p}"


def _standing(one: Change) -> str:
    if one.known_issue:
        return f"known issue: {safe(one.known_issue)}"
    if one.confirmed is None:
        return "listed, a question until `assay run --confirm`"
    return "**confirmed**" if one.confirmed else "not confirmed"


def variance(found: Benchmark) -> Iterator[str]:
    """How much trials of one eval differ, and what that makes of one try or of several."""
    from skill_assay.stats.reliability import pass_all_k, pass_at_k

    k = max(1, found.trials)
    yield f"| eval | arm | sd | least | greatest | all passed | pass@{k} | pass^{k} | reliability |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in found.evals:
        for arm in found.arms:
            cell = one.arms[arm.arm.name]
            n, passed = cell.completed, cell.all_passed
            at, every = percent_of(pass_at_k(n, passed, k)), percent_of(pass_all_k(n, passed, k))
            sd = "–" if cell.stddev is None else f"{cell.stddev:.2f}"
            yield (
                f"| {safe(one.eval.name)} | {safe(arm.arm.name)} | {sd} | {_edge(cell, min)} | {_edge(cell, max)} | "
                f"{passed}/{n} | {at} | {every} | {cell.reliability} |"
            )
    yield ""
    yield from (_stable(arm) for arm in found.arms)


def _edge(cell: EvalArm, pick: Callable[[list[float]], float]) -> str:
    scores = [score for score in cell.scores if score is not None]
    return percent_of(pick(scores)) if scores else "–"


def _stable(arm: ArmFigures) -> str:
    if arm.suite_stddev is None:
        return f"- {safe(arm.arm.name)}: too few repeats to say how the suite's mean moves"
    word = "stable" if arm.stable else "not stable"
    return (
        f"- {safe(arm.arm.name)}: the suite's mean moves by {arm.suite_stddev:.3f} (sd) from repeat to repeat: {word}"
    )
