"""A small skill of our own, and runs of it with a simulated agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from skill_assay.model.trial import Trial
from skill_assay.runner.execute import Result, execute
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.progress import Silent
from skill_assay.runner.session import Mode, Session, open_session
from skill_assay.runner.settings import RunSettings
from skill_assay.workspace.store import Workspace

NAME = "hello-note"
BODY = f"---\nname: {NAME}\ndescription: Writes hello. Use when asked for a greeting.\n---\n\nWrite hello.txt.\n"
CHECK = {"text": "hello.txt says hello", "check": {"contains": {"text": "hello", "in": "hello.txt"}}}

__all__ = ["BODY", "CHECK", "NAME", "open_small", "run_small", "settings", "trials", "write_skill"]

PLAY = {
    "evals": {
        "*": {
            "with_skill": {"use_skill": True, "write": {"hello.txt": "hello"}, "say": "Done.", "tokens": 1000},
            "*": {"write": {"note.txt": "bye"}, "say": "Done.", "tokens": 800},
        }
    }
}


def write_skill(
    root: Path,
    evals: list[dict[str, Any]] | None = None,
    play: Mapping[str, Any] | None = None,
    *,
    count: int = 2,
) -> Path:
    """The skill, `count` evals, and what the simulated agent plays."""
    skill = root / NAME
    (skill / "evals").mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(BODY, encoding="utf-8")
    chosen = evals or [{"id": n, "prompt": f"Greet {n}.", "expectations": [CHECK]} for n in range(1, count + 1)]
    (skill / "evals" / "evals.json").write_text(json.dumps({"skill_name": NAME, "evals": chosen}), encoding="utf-8")
    script = play or PLAY
    (skill / "evals" / "simulated.json").write_text(json.dumps(script), encoding="utf-8")
    return skill


def settings(**changes: Any) -> RunSettings:
    """Quick ones with the simulated agent."""
    return replace(RunSettings(agent="simulated", trials=2, workers=2), **changes)


def open_small(
    skill: Path, workspace: Path, chosen: RunSettings | None = None, mode: Mode = "new", **more: Any
) -> Session:
    """Resolve a run of it."""
    chosen = chosen or settings()
    inputs = load_inputs(skill, eval_ids=chosen.eval_ids, tags=chosen.tags)
    return open_session(inputs, chosen, Workspace.create(workspace), mode, **more)


def run_small(
    skill: Path, workspace: Path, chosen: RunSettings | None = None, mode: Mode = "new", **more: Any
) -> Result:
    """Run it to its end."""
    with open_small(skill, workspace, chosen, mode, **more) as session:
        if _loop_runs():
            with ThreadPoolExecutor(1) as other:
                return other.submit(anyio.run, execute, session, Silent()).result()
        return anyio.run(execute, session, Silent())


def _loop_runs() -> bool:
    """A browser keeps a loop running in this thread as long as it is there."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def trials(result: Result) -> dict[str, Trial]:
    """Every recorded trial by its name."""
    return {str(trial.id): trial for trial in result.iteration.trials()}
