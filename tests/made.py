"""Small workspaces and records for tests, made here and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.plan import Plan
from skill_assay.model.transcript import Tokens, Usage
from skill_assay.model.trial import Arm, Attempt, Limits, State, Trial, TrialId
from skill_assay.workspace.store import Iteration, Workspace

MARKS = {"p": Decision.PASSED, "f": Decision.FAILED, "u": Decision.UNGRADED, "e": Decision.ERROR}


def made_eval(eval_id: str = "dates", texts: Iterable[str] = ("one", "two"), **facts: Any) -> Eval:
    return Eval(eval_id, f"Do {eval_id}.", tuple(Expectation(text) for text in texts), **facts)


def made_trial(
    eval_id: str = "dates",
    arm: str = "with_skill",
    repeat: int = 1,
    marks: str = "pf",
    *,
    failure: FailureKind | None = None,
    seconds: float = 10.0,
    tokens: int | None = 1000,
    used: bool | None = None,
    **facts: Any,
) -> Trial:
    """A trial whose expectations `one`, `two`, … came out as `marks` says."""
    names = ("one", "two", "three", "four", "five", "six")
    grades = tuple(
        Grade(name, MARKS[mark], f"saw {name}", "none" if mark == "u" else "check", counted=mark in "pf")
        for name, mark in zip(names, marks, strict=False)
    )
    counts = failure in (None, FailureKind.AGENT_LIMIT, FailureKind.TRIAL_CAP)
    attempt = Attempt(
        1,
        Failure(failure, "it failed") if failure else None,
        answer="done",
        usage=Usage(Tokens(output=tokens) if tokens is not None else None, 0.01, seconds=seconds),
        models=("model-1",),
        wall_seconds=seconds,
        tools_called={"Write": 2},
    )
    state = State.COMPLETED if counts else State.EXCLUDED
    return Trial(
        TrialId(eval_id, arm, repeat),
        state,
        (attempt,),
        grades if counts else (),
        skill_used=used,
        arm_agent="simulated",
        **facts,
    )


def made_plan(evals: Sequence[str] = ("dates",), trials: int = 1, arms: Sequence[Arm] = (), **facts: Any) -> Plan:
    arms = arms or (
        Arm("with_skill", "primary", "simulated", skill=Path("skill")),
        Arm("without_skill", "baseline", "simulated"),
    )
    order = tuple(TrialId(one, arm.name, k) for k in range(1, trials + 1) for one in evals for arm in arms)
    return Plan("pdf", "skills/pdf", 1, tuple(arms), order, trials, 42, Limits(), eval_ids=tuple(evals), **facts)


def made_iteration(tmp_path: Path, plan: Plan, trials: Iterable[Trial], evals: Iterable[Eval] = ()) -> Iteration:
    """An iteration of ours with these trials recorded."""
    iteration = Workspace.create(tmp_path / "pdf-workspace").next_iteration()
    iteration.write_plan(plan)
    known = {one.id: one for one in evals}
    for trial in trials:
        iteration.record(trial, known.get(trial.id.eval_id) or made_eval(trial.id.eval_id))
    return iteration


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def grading(marks: str, **more: Any) -> dict[str, Any]:
    """Somebody's grading.json: p passed, f failed, u null."""
    passed = {"p": True, "f": False, "u": None}
    items = [{"text": f"t{k}", "passed": passed[mark], "evidence": "e"} for k, mark in enumerate(marks)]
    return {"expectations": items, **more}


def foreign(root: Path, files: Mapping[str, Any]) -> Path:
    """Somebody's workspace: path → JSON value, or text as it is."""
    for name, value in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return root
