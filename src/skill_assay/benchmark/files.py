"""`benchmark.json`: one record that satisfies skill-creator's readers and skill-forge's, with ours beside theirs.

What is unknown is left out: a key that is present has a number, which is what those readers rely on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skill_assay.benchmark.descriptive import delta_strings
from skill_assay.benchmark.gate import gate
from skill_assay.model.benchmark import ArmFigures, Benchmark, EvalArm, EvalFigures, Run, Spread
from skill_assay.model.comparison import Change, Comparison
from skill_assay.reports.classes import class_record
from skill_assay.reports.markdown import benchmark_markdown
from skill_assay.reports.recommend import recommendations
from skill_assay.workspace.store import Iteration

__all__ = ["SCHEMA_VERSION", "benchmark_json", "benchmark_record", "comparison_record", "write_benchmark"]

SCHEMA_VERSION = 1


def write_benchmark(
    iteration: Iteration,
    found: Benchmark,
    *,
    headline: str | None = None,
    explained: Sequence[str] = (),
    plots: Mapping[str, bytes] | None = None,
) -> None:
    """Write `benchmark.json`, `benchmark.md` and the comparison into an iteration of ours.

    Args:
        iteration: where.
        found: the numbers.
        headline: the verdict in one line.
        explained: what it means, in plain words.
        plots: those of the page, as PNG: `forest` (effects by eval), `trend` (iterations).
    """
    files = {name: f"{name}.png" for name in plots or {}}
    places = {name: f"benchmark-plots/{file}" for name, file in files.items()}
    page = benchmark_markdown(found, headline=headline, explained=explained, plots=places)
    iteration.write_benchmark(benchmark_json(found), page, {files[name]: data for name, data in (plots or {}).items()})
    if found.comparison is not None:
        record = {"schema_version": SCHEMA_VERSION, **comparison_record(found.comparison)}
        iteration.write_comparison(found.comparison.number, record)


def benchmark_json(found: Benchmark) -> str:
    """The record as text, a run a line: indenting thousands of runs costs more than deriving them.

    Raises:
        ValueError: a number is not finite; nothing that was read can cause it.
    """
    record = benchmark_record(found)
    lines = ",\n".join(f"    {_dumps(_run(run, found))}" for run in found.runs if run.excluded is None)
    return (
        json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False).replace(
            '"runs": []', f'"runs": [\n{lines}\n  ]', 1
        )
        + "\n"
    )


def benchmark_record(found: Benchmark) -> dict[str, Any]:
    """The record, with `runs` left empty for `benchmark_json` to fill."""
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "skill_name": found.skill_name,
        "iteration": found.iteration,
        "timestamp": found.timestamp,
        "metadata": _metadata(found),
        "runs": [],
        "run_summary": _run_summary(found),
        "notes": list(found.notes),
        "recommendations": list(recommendations(found)),
        "summary": _summary(found),
        "per_eval": [_per_eval(found, one) for one in found.evals],
        "thresholds_met": {one.name: one.met for one in found.thresholds if one.met is not None},
        "arms": [_arm(arm) for arm in found.arms],
        **({"by_class": rows} if (rows := class_record(found)) else {}),
        "activation": {arm.arm.name: {"used": arm.used, "known": arm.use_known} for arm in found.arms},
        "exclusions": [
            _known(
                eval_id=one.eval.id,
                configuration=one.arm,
                run_number=one.number,
                reason=one.reason,
                failure=one.failure,
            )
            for one in found.exclusions
        ],
        "non_discriminating": [
            {
                "eval_id": one.eval.id,
                "text": one.text,
                "always": "passed" if one.passed else "failed",
                "trials": one.trials,
            }
            for one in found.dead
        ],
        "skipped": [{"place": one.place, "reason": one.reason} for one in (*found.mismatches, *found.skipped)],
        "thresholds": [
            {
                "name": one.name,
                "limit": one.limit,
                "value": one.value,
                "met": one.met,
                "status": one.status,
                "note": one.note,
                "causes": list(one.causes),
            }
            for one in found.thresholds
        ],
        **({"gate": gate(found).to_dict()} if found.thresholds else {}),
        **({"comparison": comparison_record(found.comparison)} if found.comparison else {}),
        "partial": found.partial,
        "missing": found.missing,
        "simulated": found.simulated,
        "provenance": dict(found.provenance),
    }
    return record | ({"inference": dict(found.inference)} if found.inference is not None else {})


def comparison_record(found: Comparison) -> dict[str, Any]:
    """What changed since an earlier iteration, as plain data."""
    figures = {
        name: _known(previous=_rounded(before), current=_rounded(now), delta=_rounded(_difference(before, now)))
        for name, (before, now) in found.figures.items()
    }
    return {
        "previous": found.previous,
        "comparable": not found.refused,
        "refused": list(found.refused),
        "common": found.common,
        "remarks": list(found.remarks),
        "evals": list(found.evals),
        "figures": figures,
        "regressions": [_change(one) for one in found.regressions],
        "improvements": [_change(one) for one in found.improvements],
        "undecided": list(found.undecided),
    }


def _change(one: Change) -> dict[str, Any]:
    fresh = one.fresh
    record = {
        "eval_id": one.eval_id,
        "eval_name": one.name,
        "before": {"passed": one.before.passed, "completed": one.before.completed},
        "now": {"passed": one.now.passed, "completed": one.now.completed},
        "confirmed": one.confirmed,
        "known_issue": one.known_issue,
    }
    if fresh is None:
        return record
    sides = {"before": fresh.before, "now": fresh.now}
    shown = {name: {"passed": side.passed, "completed": side.completed} for name, side in sides.items()}
    return record | {"fresh": {**shown, "p": _rounded(fresh.p)}}


def _difference(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else now - before


def _metadata(found: Benchmark) -> dict[str, Any]:
    models = sorted({run.model for run in found.runs if run.model})
    return {
        "skill_name": found.skill_name,
        "skill_path": found.skill_path,
        "executor_model": ", ".join(models) or found.primary.arm.model or "",
        "analyzer_model": "",
        "timestamp": found.timestamp,
        "evals_run": [one.eval.id for one in found.evals],
        "runs_per_configuration": found.trials,
    }


def _run(run: Run, found: Benchmark) -> dict[str, Any]:
    passed, failed = run.decided
    arm = next((arm.arm for arm in found.arms if arm.arm.name == run.arm), None)
    rate = run.shown_rate
    return {
        "eval_id": run.eval.id,
        "eval_name": run.eval.name,
        "configuration": run.arm,
        "run_number": run.number,
        "result": _known(
            pass_rate=None if rate is None else round(rate, 4),
            passed=passed,
            failed=failed,
            total=passed + failed,
            time_seconds=run.seconds,
            tokens=run.tokens,
            tool_calls=run.tool_calls,
            errors=run.errors or 0,
            cost_usd=run.cost_usd,
        ),
        "expectations": [
            {"text": one.text, "passed": one.passed, "evidence": one.evidence} for one in run.expectations
        ],
        "notes": [],
        **_known(agent=arm.agent if arm else None, model=run.model, skill_used=run.skill_used, failure=run.failure),
    }


def _run_summary(found: Benchmark) -> dict[str, Any]:
    """The two arms compared first, with-skill before baseline: that is how its viewer tells them apart."""
    summary: dict[str, Any] = {
        arm.arm.name: _known(
            pass_rate=_spread(arm.pass_rate),
            time_seconds=_spread(arm.seconds),
            tokens=_spread(arm.tokens),
            cost_usd=_spread(arm.cost_usd),
        )
        for arm in found.arms
    }
    return summary | {"delta": delta_strings(found)}


def _summary(found: Benchmark) -> dict[str, Any]:
    return {
        "total_evals": len(found.evals),
        "with_skill": _arm_summary(found.primary),
        **({"baseline": _arm_summary(found.baseline)} if found.baseline else {}),
        "improvement_ratio": _rounded(found.improvement_ratio),
        "token_savings_ratio": _rounded(found.token_savings_ratio),
        "time_savings_ratio": _rounded(found.time_savings_ratio),
    }


def _arm_summary(arm: ArmFigures) -> dict[str, Any]:
    return _known(
        pass_rate=_mean(arm.pass_rate),
        avg_tokens=_mean(arm.tokens),
        avg_duration_seconds=_mean(arm.seconds),
        avg_cost_usd=_mean(arm.cost_usd),
        trials_completed=arm.completed,
        trials_requested=arm.requested,
    )


def _per_eval(found: Benchmark, one: EvalFigures) -> dict[str, Any]:
    ours = one.arms[found.primary.arm.name]
    record = {
        "eval_id": one.eval.id,
        "eval_name": one.eval.name,
        "with_skill": _eval_arm(ours),
        "baseline": _eval_arm(one.arms[found.baseline.arm.name]) if found.baseline else None,
        "trials": found.trials,
        "trials_completed": ours.completed,
        "trials_requested": ours.requested,
        "variance": _rounded(ours.stddev),
        "reliability": ours.reliability,
        "known_issue": one.eval.known_issue,
    }
    return _known(**record)


def _eval_arm(cell: EvalArm) -> dict[str, Any]:
    return _known(
        pass_rate=_rounded(cell.mean),
        stddev=_rounded(cell.stddev),
        avg_tokens=_rounded(cell.tokens),
        avg_duration_seconds=_rounded(cell.seconds),
        all_passed=cell.all_passed,
        trials_completed=cell.completed,
        trials_requested=cell.requested,
        skill_used=cell.used if cell.use_known else None,
        excluded=dict(cell.excluded) or None,
    )


def _arm(arm: ArmFigures) -> dict[str, Any]:
    return _known(
        name=arm.arm.name,
        role=arm.arm.role,
        agent=arm.arm.agent,
        model=arm.arm.model,
        trials_completed=arm.completed,
        trials_requested=arm.requested,
        stable=arm.stable,
        suite_stddev=_rounded(arm.suite_stddev),
        capped=arm.capped or None,
        excluded=dict(arm.excluded) or None,
    )


def _spread(found: Spread | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {name: round(getattr(found, name), 4) for name in ("mean", "stddev", "min", "max")}


def _mean(found: Spread | None) -> float | None:
    return None if found is None else round(found.mean, 4)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
