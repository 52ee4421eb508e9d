"""From the runs of an iteration to its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skill_assay.benchmark.descriptive import arm_figures, dead_expectations, eval_arm, ratio
from skill_assay.benchmark.notes import notes
from skill_assay.benchmark.thresholds import evaluate
from skill_assay.model.benchmark import NOTHING_GRADED, ArmFigures, Benchmark, EvalFigures, Exclusion, Run, Spread
from skill_assay.model.comparison import Comparison
from skill_assay.workspace.discovery import Found
from skill_assay.workspace.places import resume_command
from skill_assay.workspace.store import iteration_number

__all__ = ["aggregate"]


def aggregate(
    found: Found,
    *,
    thresholds: Mapping[str, Any] | None = None,
    inference: Mapping[str, Any] | None = None,
    comparison: Comparison | None = None,
    now: datetime | None = None,
) -> Benchmark:
    """The benchmark of an iteration.

    Args:
        found: what discovery read.
        thresholds: name → limit; `None` takes those of the plan.
        inference: what may be concluded, where it was computed.
        comparison: with the iteration before, where there is one.
        now: the time of the derivation; the present where not given.
    """
    trials = _trials(found)
    arms, evals = _figures(found)
    primary, baseline = arms[0], next((arm for arm in arms if arm.arm.role == "baseline"), None)
    asked = thresholds if thresholds is not None else _planned_thresholds(found)
    compared = [arm.arm.name for arm in (primary, baseline) if arm is not None]
    plan = found.plan
    benchmark = Benchmark(
        skill_name=plan.skill_name if plan else found.root.resolve().parent.name.removesuffix("-workspace"),
        skill_path=plan.skill_path if plan else "",
        iteration=plan.iteration if plan else iteration_number(found.root) or 0,
        timestamp=(now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        arms=arms,
        evals=evals,
        runs=found.runs,
        trials=trials,
        improvement_ratio=_of_means(primary, baseline, "pass_rate"),
        token_savings_ratio=_of_means(primary, baseline, "tokens"),
        time_savings_ratio=_of_means(primary, baseline, "seconds"),
        exclusions=tuple(
            Exclusion(run.eval, run.arm, run.number, run.excluded, run.failure)
            for run in found.runs
            if run.excluded is not None
        ),
        dead=dead_expectations(found.runs, compared),
        ungraded=_ungraded(found.runs),
        skipped=found.skipped,
        mismatches=found.mismatches,
        missing=found.missing,
        simulated=any(arm.simulated for arm in found.arms),
        foreign=plan is None,
        provenance=_provenance(found),
        inference=inference,
        comparison=comparison,
    )
    if plan and Path(plan.skill_path).is_dir():
        benchmark = replace(benchmark, again=resume_command(Path(plan.skill_path), found.root.resolve().parent))
    benchmark = replace(benchmark, thresholds=evaluate(asked, benchmark))
    return replace(benchmark, notes=notes(benchmark))


def _figures(found: Found) -> tuple[tuple[ArmFigures, ...], tuple[EvalFigures, ...]]:
    """Per arm over all trials, and per eval in every arm."""
    cells = _cells(found.runs)
    planned = Counter((trial.arm, trial.eval_id) for trial in found.plan.order) if found.plan else Counter()
    requested = {
        (arm.name, one.key): max(planned[arm.name, one.key], len(cells.get((arm.name, one.key), ())))
        for arm in found.arms
        for one in found.evals
    }
    arms = tuple(
        arm_figures(
            arm,
            [run for one in found.evals for run in cells.get((arm.name, one.key), ())],
            sum(requested[arm.name, one.key] for one in found.evals),
        )
        for arm in found.arms
    )
    evals = tuple(
        EvalFigures(
            one,
            {
                arm.name: eval_arm(cells.get((arm.name, one.key), ()), requested[arm.name, one.key])
                for arm in found.arms
            },
        )
        for one in found.evals
    )
    return arms, evals


def _cells(runs: Sequence[Run]) -> dict[tuple[str, str], list[Run]]:
    """Runs by arm and eval, in order of repeat."""
    cells: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cells.setdefault((run.arm, run.eval.key), []).append(run)
    for cell in cells.values():
        cell.sort(key=lambda run: run.number)
    return cells


def _trials(found: Found) -> int:
    if found.plan is not None:
        return found.plan.trials
    counts = Counter((run.arm, run.eval.key) for run in found.runs)
    return max(counts.values(), default=0)


def _planned_thresholds(found: Found) -> Mapping[str, Any]:
    asked = found.plan.settings.get("thresholds") if found.plan else None
    return asked if isinstance(asked, Mapping) else {}


def _of_means(primary: ArmFigures, baseline: ArmFigures | None, what: str) -> float | None:
    ours: Spread | None = getattr(primary, what)
    theirs: Spread | None = getattr(baseline, what) if baseline else None
    return ratio(ours.mean if ours else None, theirs.mean if theirs else None)


def _ungraded(runs: Sequence[Run]) -> Mapping[str, int]:
    return Counter(
        one.text
        for run in runs
        if run.excluded in (None, NOTHING_GRADED)
        for one in run.expectations
        if one.passed is None
    )


def _provenance(found: Found) -> Mapping[str, Any]:
    plan = found.plan
    if plan is None:
        return {}
    answered = {
        arm.name: sorted({run.model for run in found.runs if run.arm == arm.name and run.model}) for arm in found.arms
    }
    return {
        "digests": dict(plan.digests),
        "agents": {name: dict(facts) for name, facts in plan.agents.items()},
        "models_answered": answered,
        "seed": plan.seed,
        "versions": dict(plan.versions),
        "platform": plan.platform,
        "created_at": plan.created_at,
        **({"reused_baseline": reused} if (reused := plan.settings.get("reused_baseline")) else {}),
    }
