"""What the numbers say without a model: expectations that tell nothing, spread, the price of the gain, and more."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skill_assay.improve.consistency import Consistency, consistency_of
from skill_assay.improve.repeated import Repeated, repeated_scripts
from skill_assay.model.benchmark import Run
from skill_assay.workspace.discovery import Found

__all__ = ["Analysis", "Finding", "analyse", "analysis_to_dict"]

SPREAD = 0.3
"""Standard deviation of an eval's scores from which its trials are said to disagree."""
KINDS: Mapping[str, str] = {
    "always_passes": "passes in every trial of both arms: it tells nothing about the skill",
    "always_fails": "fails in every trial of both arms: too hard, or wrong",
    "only_with": "passes only with the skill: this is where the skill helps",
    "only_without": "passes only without the skill: the skill may hurt here",
    "high_spread": "its trials disagree: the task or the skill leaves much to chance",
    "skill_not_used": "the skill was there and was not used",
    "dearer": "the skill costs more",
    "cheaper": "the skill costs less",
    "bundle_this": "several runs wrote nearly the same script: put it into the skill's scripts/",
    "less_consistent": "with the skill its trials leave more different outputs than without",
    "more_consistent": "with the skill its trials leave more alike outputs than without",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth knowing."""

    kind: str
    message: str
    eval: str | None = None
    expectation: str | None = None
    runs: tuple[str, ...] = ()
    """Run folders that show it."""
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that was found in one iteration."""

    findings: tuple[Finding, ...]
    consistency: Mapping[str, Consistency]
    """By arm."""
    repeated: tuple[Repeated, ...] = ()


def analyse(found: Found, scripts: Mapping[str, Iterable[tuple[str, str]]] | None = None) -> Analysis:
    """Look through an iteration.

    Args:
        found: its runs.
        scripts: run folder → scripts that were written on the way (name, text); those among the outputs are found
            anyway.
    """
    arms: dict[str, str] = {arm.role: arm.name for arm in found.arms if arm.role in ("primary", "baseline")}
    counted = [run for run in found.runs if run.excluded is None]
    primary = [run for run in counted if run.arm == arms.get("primary")]
    baseline = [run for run in counted if run.arm == arms.get("baseline")]
    consistency = {
        name: consistency_of(found.root, [run for run in counted if run.arm == name]) for name in arms.values()
    }
    repeated = repeated_scripts(found.root, primary, scripts or {})
    findings = [
        *_expectations(primary, baseline),
        *_spread(primary),
        *_unused(primary),
        *_price(primary, baseline),
        *_consistency(consistency, arms),
        *(_bundle(one) for one in repeated),
    ]
    return Analysis(tuple(findings), consistency, tuple(repeated))


def _expectations(primary: Sequence[Run], baseline: Sequence[Run]) -> Iterable[Finding]:
    with_, without = _outcomes(primary), _outcomes(baseline)
    for key in with_:
        ours, theirs = with_[key], without.get(key, [])
        if not ours or not theirs:
            continue
        kind = _kind(all(ours), any(ours), all(theirs), any(theirs))
        if kind:
            runs = [run.folder for run in primary if run.eval.key == key[0]]
            numbers = {"with": f"{sum(ours)}/{len(ours)}", "without": f"{sum(theirs)}/{len(theirs)}"}
            yield Finding(kind, KINDS[kind], key[0], key[1], tuple(runs), numbers)


def _kind(all_with: bool, any_with: bool, all_without: bool, any_without: bool) -> str | None:
    if all_with and all_without:
        return "always_passes"
    if not any_with and not any_without:
        return "always_fails"
    if all_with and not any_without:
        return "only_with"
    return "only_without" if all_without and not any_with else None


def _outcomes(runs: Sequence[Run]) -> dict[tuple[str, str], list[bool]]:
    found: dict[tuple[str, str], list[bool]] = {}
    for run in runs:
        for one in run.expectations:
            if one.passed is not None and one.counted:
                found.setdefault((run.eval.key, one.text), []).append(one.passed)
    return found


def _by_eval(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.eval.key, []).append(run)
    return found


def _spread(primary: Sequence[Run]) -> Iterable[Finding]:
    for name, runs in _by_eval(primary).items():
        scores = [run.score for run in runs if run.score is not None]
        if len(scores) > 1 and (deviation := statistics.stdev(scores)) >= SPREAD:
            numbers = {"stddev": round(deviation, 4), "scores": [round(score, 4) for score in scores]}
            yield Finding("high_spread", KINDS["high_spread"], name, None, tuple(run.folder for run in runs), numbers)


def _unused(primary: Sequence[Run]) -> Iterable[Finding]:
    for name, runs in _by_eval(primary).items():
        known = [run for run in runs if run.skill_used is not None]
        unused = [run for run in known if run.skill_used is False]
        if unused:
            numbers = {"unused": len(unused), "known": len(known)}
            yield Finding(
                "skill_not_used", KINDS["skill_not_used"], name, None, tuple(one.folder for one in unused), numbers
            )


def _price(primary: Sequence[Run], baseline: Sequence[Run]) -> Iterable[Finding]:
    """Time and tokens, and what a point of pass rate costs where there is a gain."""
    gain = _difference([run.score for run in primary], [run.score for run in baseline])
    for unit in ("seconds", "tokens"):
        ours, theirs = [getattr(run, unit) for run in primary], [getattr(run, unit) for run in baseline]
        more = _difference(ours, theirs)
        base = _mean(theirs)
        if more is None or not base or abs(more) < 0.1 * base:
            continue
        numbers = {"unit": unit, "difference": round(more, 4), "ratio": round((base + more) / base, 4)}
        if gain is not None:
            numbers["pass_rate_difference"] = round(gain, 4)
            if gain > 0 and more > 0:
                numbers["per_point"] = round(more / (100 * gain), 4)
        kind = "dearer" if more > 0 else "cheaper"
        yield Finding(kind, f"{KINDS[kind]}: {more:+.4g} {unit} a trial", numbers=numbers)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _difference(ours: Iterable[float | None], theirs: Iterable[float | None]) -> float | None:
    first, second = _mean(ours), _mean(theirs)
    return None if first is None or second is None else first - second


def _consistency(found: Mapping[str, Consistency], arms: Mapping[str, str]) -> Iterable[Finding]:
    if len(arms) < 2:
        return
    ours, theirs = found[arms["primary"]], found[arms["baseline"]]
    for what in ("paths", "json_keys", "csv_headers"):
        first, second = getattr(ours, what), getattr(theirs, what)
        if first is not None and second is not None and abs(first - second) >= 0.1:
            kind = "more_consistent" if first > second else "less_consistent"
            numbers = {
                "of": what,
                "with": round(first, 4),
                "without": round(second, 4),
                "difference": round(first - second, 4),
            }
            yield Finding(kind, KINDS[kind], numbers=numbers)


def _bundle(one: Repeated) -> Finding:
    numbers = {
        "runs": len(one.runs),
        "similarity": round(one.similarity, 4),
        "files": list(one.files),
        "lines": one.lines,
    }
    return Finding("bundle_this", KINDS["bundle_this"], runs=one.runs, numbers=numbers)


def analysis_to_dict(analysis: Analysis) -> dict[str, Any]:
    """The part of `analysis.json` that needs no model."""
    return {
        "schema_version": 1,
        "findings": [
            {
                "kind": one.kind,
                "message": one.message,
                **({"eval_id": one.eval} if one.eval is not None else {}),
                **({"expectation": one.expectation} if one.expectation is not None else {}),
                "runs": list(one.runs),
                **({"numbers": dict(one.numbers)} if one.numbers else {}),
            }
            for one in analysis.findings
        ],
        "output_consistency": {
            arm: {"paths": one.paths, "json_keys": one.json_keys, "csv_headers": one.csv_headers, "evals": one.evals}
            for arm, one in analysis.consistency.items()
        },
    }
