"""Every iteration of a workspace, derived again and set side by side."""

from __future__ import annotations

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.benchmark.gate import gate
from skill_assay.errors import InputError, NotFoundError
from skill_assay.model.history import History, HistoryRow
from skill_assay.workspace.store import Iteration, Workspace

__all__ = ["history"]


def history(workspace: Workspace) -> tuple[History, tuple[str, ...]]:
    """The rows, oldest first, and what was left out with the reason.

    Raises:
        NotFoundError: no iteration has a record.
    """
    rows, left_out, name = [], [], ""
    for iteration in workspace.iterations():
        try:
            derived = derive(iteration.path)
        except InputError as error:
            left_out.append(f"{iteration.path.name}: {error.message}")
            continue
        name = derived.benchmark.skill_name
        rows.append(_row(iteration, derived))
    if not rows:
        raise NotFoundError(
            "no iteration with a recorded trial", file=str(workspace.path), hint="assay run SKILL makes one."
        )
    return History(name, tuple(rows)), tuple(left_out)


def _row(iteration: Iteration, derived: Derived) -> HistoryRow:
    found, inference, plan = derived.benchmark, derived.inference, derived.found.plan
    arm, baseline, compared = found.primary, found.baseline, found.comparison
    interval = inference.interval if inference else None
    fits = compared is not None and not compared.refused
    before, now = compared.figures.get("pass_rate", (None, None)) if compared and fits else (None, None)
    return HistoryRow(
        number=iteration.number,
        created_at=plan.created_at if plan else "",
        skill_digest=(plan.digests.get("skill", "") if plan else "")[:7],
        evals=len(found.evals),
        trials=found.trials,
        pass_rate=arm.pass_rate.mean if arm.pass_rate else None,
        stddev=arm.pass_rate.stddev if arm.pass_rate else None,
        baseline=baseline.arm.name if baseline else "",
        baseline_rate=baseline.pass_rate.mean if baseline and baseline.pass_rate else None,
        effect=inference.effect if inference else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        verdict=inference.verdict if inference else None,
        scope=inference.scope if inference else None,
        tokens=arm.tokens.mean if arm.tokens else None,
        seconds=arm.seconds.mean if arm.seconds else None,
        cost_usd=arm.cost_usd.mean if arm.cost_usd else None,
        regressions=len(compared.regressions) if compared and fits else None,
        confirmed=sum(one.confirmed is True for one in compared.regressions) if compared and fits else None,
        improvements=len(compared.improvements) if compared and fits else None,
        change=None if before is None or now is None else now - before,
        gate=gate(found).status if found.thresholds else None,
        partial=found.partial,
        simulated=found.simulated,
        noise=baseline is not None and baseline.arm.name == "with_skill_again",
        agent=arm.arm.agent,
        model=arm.arm.model,
        since=compared.since if compared else None,
    )
