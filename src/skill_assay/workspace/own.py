"""The runs of an iteration of ours, read from `trial.json` alone: it holds the grades too.

Only what figures are made from is picked, without building the whole record: an iteration may hold 20,000 of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from skill_assay.errors import POLICIES, FailureKind
from skill_assay.model.benchmark import NOTHING_GRADED, ExpectationResult, FoundArm, FoundEval, Run, Skipped
from skill_assay.model.evals import eval_folder
from skill_assay.model.plan import Plan
from skill_assay.model.trial import State
from skill_assay.workspace.foreign_grading import number, whole
from skill_assay.workspace.reading import Unreadable, load
from skill_assay.workspace.run_folder import RunFolder

__all__ = ["arms_of_plan", "read_runs"]

_DECISIONS = {"passed": True, "failed": False}
_REASONS = {
    FailureKind.TIME_LIMIT: "time limit",
    FailureKind.RATE_LIMITED: "rate limit",
    FailureKind.OVERLOADED: "API overloaded",
    FailureKind.SERVER_ERROR: "server error",
    FailureKind.CONNECTION: "connection lost",
    FailureKind.BAD_REQUEST: "request refused",
    FailureKind.NOT_SIGNED_IN: "not signed in",
    FailureKind.UNKNOWN_MODEL: "unknown model",
    FailureKind.NO_CREDIT: "no credit",
    FailureKind.CRASHED: "agent crashed",
    FailureKind.UNREADABLE: "unreadable output",
    FailureKind.SETUP: "setup failed",
    FailureKind.BUDGET: "budget reached",
    FailureKind.INTERRUPTED: "interrupted",
    FailureKind.GRADER: "grader failed",
}


def arms_of_plan(plan: Plan) -> tuple[FoundArm, ...]:
    """The primary, the baseline it is compared with (the first one), the others."""
    arms: list[FoundArm] = []
    for arm in sorted(plan.arms, key=lambda arm: arm.role != "primary"):
        taken = any(other.role == arm.role for other in arms)
        simulated = bool(plan.agents.get(arm.name, {}).get("simulated"))
        arms.append(
            FoundArm(arm.name, "other" if taken else arm.role, agent=arm.agent, model=arm.model, simulated=simulated)
        )
    return tuple(arms)


def read_runs(root: Path, plan: Plan) -> tuple[list[FoundEval], list[Run], list[Skipped]]:
    """Evals in the plan's order, runs by arm, eval and run folder, and what could not be read."""
    timeouts_fail = plan.timeouts == "fail"
    evals = [_eval(root, eval_id) for eval_id in plan.eval_ids]
    runs: list[Run] = []
    skipped: list[Skipped] = []
    for arm in arms_of_plan(plan):
        for eval_id, one in zip(plan.eval_ids, evals, strict=True):
            folder = f"{eval_folder(eval_id)}/{arm.name}"
            for name in _names(root / folder):
                place = f"{folder}/{name}"
                try:
                    run = _run(load(f"{root}/{place}/trial.json"), one, arm.name, place)
                except (Unreadable, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
                    skipped.append(Skipped(place, _why(root / place, error)))
                else:
                    runs.append(_timeout_failed(run) if timeouts_fail else run)
    return evals, runs, [one for one in skipped if one.reason]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith("run-"))  # noqa: PTH208
    except OSError:
        return []


def _why(folder: Path, error: Exception) -> str:
    """Nothing for a trial that is merely not done yet: it counts as missing."""
    if not RunFolder(folder).is_done:
        return ""
    return f"trial.json {error}" if isinstance(error, Unreadable) else f"trial.json is damaged: {error!r}"


def _eval(root: Path, eval_id: str) -> FoundEval:
    try:
        facts = load(f"{root}/{eval_folder(eval_id)}/eval_metadata.json")
    except Unreadable:
        return FoundEval(eval_id, eval_id)
    if not isinstance(facts, dict) or str(facts.get("eval_id")) != eval_id:
        return FoundEval(eval_id, eval_id)
    return FoundEval(
        facts["eval_id"],
        str(facts.get("eval_name") or eval_id),
        str(facts.get("prompt") or ""),
        number(facts.get("weight")) or 1.0,
        facts.get("known_issue"),
        tuple(str(tag) for tag in facts.get("tags") or ()),
    )


def _run(record: dict[str, Any], one: FoundEval, arm: str, place: str) -> Run:
    attempts = record["attempts"]
    last: dict[str, Any] = attempts[-1] if attempts else {}
    failure = (last.get("failure") or {}).get("kind")
    usage = last.get("usage") or {}
    used = record.get("skill_used")
    run = Run(
        eval=one,
        arm=arm,
        number=int(record["id"]["repeat"]),
        folder=place,
        expectations=tuple(_expectations(record["grades"])),
        seconds=_seconds(last, usage),
        tokens=sum((whole(n) or 0) for n in usage["tokens"].values()) or None if usage.get("tokens") else None,
        cost_usd=number(usage.get("cost_usd")),
        excluded=_excluded(record["state"], failure),
        failure=failure,
        skill_used=used if isinstance(used, bool) else None,
        tool_calls=whole(sum(last["tools_called"].values())) if "tools_called" in last else None,
        errors=whole(last.get("tool_errors")),
        unknown_events=whole(last.get("unknown_events")) or 0,
        model=", ".join(last.get("models") or ()) or record.get("arm_model"),
        # A judge that saw no evidence names no place.
        unchecked=sum(
            1
            for grade in record["grades"]
            if grade["grader"] == "judge" and grade.get("verified") is None and grade.get("places")
        ),
        doubts=sum(len(points) for points in (record.get("remarks") or {}).get("user_notes_summary", {}).values()),
    )
    return run if run.excluded or run.score is not None else replace(run, excluded=NOTHING_GRADED)


def _expectations(grades: list[dict[str, Any]]) -> Iterator[ExpectationResult]:
    for grade in grades:
        passed = _DECISIONS.get(grade["decision"])
        counted = grade["counted"] and grade["severity"] == "required"
        yield ExpectationResult(grade["text"], passed, grade["evidence"], counted, grade["severity"], grade["grader"])


def _seconds(attempt: dict[str, Any], usage: dict[str, Any]) -> float | None:
    """As `model.trial.Attempt.seconds`; nothing for an attempt that never ran."""
    stated = number(usage.get("seconds"))
    if stated is not None:
        return stated
    wall = number(attempt.get("wall_seconds"))
    return max(0.0, wall - (number(attempt.get("waited_seconds")) or 0.0)) if wall else None


def _excluded(state: str, failure: str | None) -> str | None:
    if failure is not None:
        kind = FailureKind(failure)
        return None if POLICIES[kind].counts and state == State.COMPLETED else _REASONS.get(kind, "unknown failure")
    return None if state == State.COMPLETED else str(state)


def _timeout_failed(run: Run) -> Run:
    return replace(run, excluded=None, failed_outright=True) if run.failure == FailureKind.TIME_LIMIT else run
