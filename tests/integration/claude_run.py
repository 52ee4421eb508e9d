"""A whole run with the real Claude Code against a scripted model, without network or account."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from skill_assay.model.trial import Limits
from skill_assay.modelserver import Script, ToolUse, Turn, serve
from skill_assay.modelserver.server import ModelServer
from skill_assay.runner.execute import Result, execute
from skill_assay.runner.inputs import load_inputs
from skill_assay.runner.progress import Silent
from skill_assay.runner.session import Mode, open_session
from skill_assay.runner.settings import Retrying, RunSettings
from skill_assay.workspace.store import Workspace

SKILL = "stamp-note"
SECRET_ANSWER = "ZEBRA-ANSWER-7781"
"""Stands in expectations and references: it must never reach an agent."""


def write_skill(root: Path, evals: list[dict[str, Any]] | None = None) -> Path:
    """A small skill of our own with evals."""
    skill = root / SKILL
    (skill / "evals" / "files").mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        f"---\nname: {SKILL}\ndescription: Writes a stamped note. Use when asked for a note.\n---\n\n"
        f"# Stamp\n\nWrite note.md with the word STAMPED.\n",
        encoding="utf-8",
    )
    (skill / "evals" / "files" / "input.txt").write_text("apples and pears\n", encoding="utf-8")
    chosen = evals or [
        {
            "id": number,
            "prompt": f"Write a note about input.txt, number {number}.",
            "files": ["evals/files/input.txt"],
            "expected_output": SECRET_ANSWER,
            "expectations": [
                {
                    "text": f"note.md is stamped {SECRET_ANSWER}",
                    "check": {"contains": {"text": "STAMPED", "in": "*.md"}},
                }
            ],
        }
        for number in (1, 2)
    ]
    (skill / "evals" / "evals.json").write_text(json.dumps({"skill_name": SKILL, "evals": chosen}), encoding="utf-8")
    return skill


def write_file(name: str, content: str) -> ToolUse:
    """The model writes a file into the working directory."""
    return ToolUse("Bash", {"command": f"printf '%s' '{content}' > {name}", "description": "Write"})


def say(*items: Any) -> Turn:
    """One answer."""
    return Turn(tuple(items))


def settings(**changes: Any) -> RunSettings:
    """Quick ones."""
    base = RunSettings(
        agent="claude-code",
        trials=1,
        workers=2,
        limits=Limits(seconds=60.0, turns=8),
        retrying=Retrying(attempts=2, base_seconds=0.05, cap_seconds=0.1),
    )
    return replace(base, **changes)


def run(
    skill: Path,
    workspace: Path,
    server: ModelServer,
    chosen: RunSettings | None = None,
    *,
    mode: Mode = "new",
    environment: Mapping[str, str] | None = None,
) -> Result:
    """Run it to its end."""
    inputs = load_inputs(skill)
    with open_session(
        inputs,
        chosen or settings(),
        Workspace.create(workspace),
        mode,
        environment=environment if environment is not None else dict(os.environ),
        base_url=server.url,
    ) as session:
        return anyio.run(execute, session, Silent())


__all__ = ["SECRET_ANSWER", "SKILL", "Script", "run", "say", "serve", "settings", "write_file", "write_skill"]
