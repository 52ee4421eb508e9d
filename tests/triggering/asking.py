"""Trigger evaluations of a small skill with the simulated agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from skill_assay.model.trigger_results import TriggerResults
from skill_assay.runner.progress import Display, Silent
from skill_assay.runner.session import Mode
from skill_assay.runner.settings import Retrying, RunSettings
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.evaluate import Evaluation, evaluate, open_evaluation, trigger_results
from skill_assay.triggering.subject import read_subject
from skill_assay.workspace.trigger_store import TriggerWorkspace

NAME = "hello-note"
DESCRIPTION = "Writes hello. Use when asked for a greeting."
YES, NO = "greet me", "what is the time?"

__all__ = ["DESCRIPTION", "NAME", "NO", "YES", "ask", "opened", "query", "settings", "write_neighbour", "write_skill"]


def query(text: str, should_trigger: bool, **more: Any) -> dict[str, Any]:
    return {"query": text, "should_trigger": should_trigger, **more}


def write_skill(
    root: Path, queries: list[dict[str, Any]] | None = None, play: Mapping[str, Any] | None = None, name: str = NAME
) -> Path:
    """The skill, a trigger set, and what the simulated agent does with each query."""
    skill = write_neighbour(root, name, DESCRIPTION)
    (skill / "evals").mkdir(exist_ok=True)
    asked = queries or [query(YES, True), query(NO, False)]
    (skill / "evals" / "triggers.json").write_text(json.dumps(asked), encoding="utf-8")
    script = {"queries": play or {YES: 1, "*": 0}}
    (skill / "evals" / "simulated.json").write_text(json.dumps(script), encoding="utf-8")
    return skill


def write_neighbour(root: Path, name: str, description: str, folder: str | None = None) -> Path:
    """Another skill."""
    skill = root / (folder or name)
    skill.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\n\nDo {name}.\n"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    return skill


def settings(**changes: Any) -> RunSettings:
    """Quick ones."""
    retrying = Retrying(base_seconds=0.01, cap_seconds=0.02)
    return replace(RunSettings(agent="simulated", trials=2, workers=4, retrying=retrying), **changes)


def opened(
    skill: Path,
    workspace: Path,
    choice: TriggerChoice | None = None,
    chosen: RunSettings | None = None,
    mode: Mode = "new",
    **more: Any,
) -> Evaluation:
    """Resolve one."""
    choice = choice or TriggerChoice()
    subject = read_subject(skill, choice, ("~/skills",), {"HOME": str(workspace.parent / "home")})
    return open_evaluation(subject, choice, chosen or settings(), TriggerWorkspace.create(workspace), mode, **more)


def ask(
    skill: Path,
    workspace: Path,
    choice: TriggerChoice | None = None,
    chosen: RunSettings | None = None,
    mode: Mode = "new",
    display: Display | None = None,
    **more: Any,
) -> TriggerResults:
    """Run one to its end."""
    with opened(skill, workspace, choice, chosen, mode, **more) as evaluation:
        result = anyio.run(evaluate, evaluation, display or Silent())
        return trigger_results(evaluation, result)
