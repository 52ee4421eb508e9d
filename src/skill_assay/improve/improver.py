"""Proposes a new version of a skill from three signals: failed expectations, what people said, transcripts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.errors import IncompleteError
from skill_assay.formats.feedback import Feedback
from skill_assay.formats.skill import folder_digest
from skill_assay.graders.judge_log import RememberingModel
from skill_assay.graders.material import fence_for
from skill_assay.graders.outputs import Unreadable, read_text
from skill_assay.improve.evidence import choose_runs, evidence_of
from skill_assay.improve.proposal import Change, Proposal, fault_in, laid_over
from skill_assay.improve.repeated import Repeated
from skill_assay.llm.prompt import load_prompt
from skill_assay.model.protocols import Ledger
from skill_assay.model.skill import Skill
from skill_assay.workspace.discovery import Found
from skill_assay.workspace.laid_out import laid_out

__all__ = ["SCHEMA", "Signals", "improve", "skill_text"]

_TEXT = {"type": "string"}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"path": _TEXT, "content": _TEXT, "reason": {"type": "string", "minLength": 1}},
                "required": ["path", "content", "reason"],
                "additionalProperties": False,
            },
        },
        "summary": _TEXT,
        "unneeded": {"type": "array", "items": _TEXT},
    },
    "required": ["changes", "summary"],
    "additionalProperties": False,
}
_TRIES = 2
_SKILL_LIMIT = 120_000


@dataclass(frozen=True, slots=True)
class Signals:
    """What there is to learn from."""

    found: Found
    analysis: Mapping[str, Any]
    """`analysis.json`."""
    feedback: Feedback = Feedback()
    repeated: Sequence[Repeated] = ()
    tried: Sequence[str] = ()
    """Earlier proposals that were not kept, and how they did."""

    def seen(self) -> str:
        """In words, for the model."""
        primary = next((arm.name for arm in self.found.arms if arm.role == "primary"), "")
        failed = [
            {"run": run.folder, "expectation": one.text, "evidence": one.evidence[:600]}
            for run in self.found.runs
            if run.arm == primary and run.excluded is None
            for one in run.expectations
            if one.passed is False
        ]
        said = [
            {"run": one.run_id, "said": one.feedback, **({"verdict": one.verdict} if one.verdict else {})}
            for one in self.feedback.reviews
            if one.feedback or one.verdict
        ]
        scripts = [{"runs": list(one.runs), "script": one.text[:8_000]} for one in self.repeated[:3]]
        facts = {
            "failed expectations, with the skill": failed[:60],
            "people said": said,
            "scripts that several runs wrote again": scripts,
            "analysis": dict(self.analysis),
            **({"tried before and not kept": list(self.tried)} if self.tried else {}),
        }
        return json.dumps(facts, ensure_ascii=False, indent=1)


def skill_text(skill: Skill, fence: str = "```") -> str:
    """Every text file of a skill under its name, between lines of the fence; others by name alone."""
    parts, left = [], _SKILL_LIMIT
    for name in sorted(skill.files, key=lambda name: (name != "SKILL.md", name)):
        try:
            text = read_text(skill.root, name)
        except Unreadable as reason:
            parts.append(f"## {name}\n\n({reason}; it stays as it is)")
            continue
        shown = text if len(text) <= left else f"{text[:left]}\n[… cut …]"
        left = max(0, left - len(text))
        parts.append(f"## {name}\n\n{fence}\n{shown}\n{fence}")
    return "\n\n".join(parts)


async def improve(skill: Skill, signals: Signals, model: RememberingModel, ledger: Ledger, folder: Path) -> Proposal:
    """A valid proposal; what is not valid is sent back once.

    Args:
        skill: as it is now.
        signals: what there is to learn from.
        model: who proposes.
        ledger: for the journal.
        folder: where questions and replies are kept.

    Raises:
        ModelFailed: it could not be asked.
        IncompleteError: what it proposed is no version of this skill.
    """
    prompt = load_prompt("improve")
    primary = next((arm.name for arm in signals.found.arms if arm.role == "primary"), "")
    material = evidence_of(signals.found.root, choose_runs(signals.found.runs, primary))
    seen = signals.seen()
    fence = fence_for(skill_text(skill), seen, *(piece.shown for piece in material.pieces))
    fault = ""
    for _ in range(_TRIES):
        again = f"\n# Your last proposal\n\nIt could not be used: {fault}. Propose again.\n" if fault else ""
        reply = await model.ask(
            prompt.fill(
                fence=fence, skill=skill_text(skill, fence), seen=seen, runs=material.render(fence), again=again
            ),
            SCHEMA,
            ledger,
            run_folder=folder,
            number=1,
            instructions=f"{prompt.name} {prompt.version} {prompt.digest}",
        )
        changes = tuple(Change(row["path"], row["content"], row["reason"]) for row in reply["changes"])
        fault = fault_in(skill, changes) or ""
        if not fault:
            files = laid_over(skill, changes)
            unneeded = tuple(name for name in reply.get("unneeded", ()) if name in skill.files)
            return Proposal(changes, reply["summary"], files, _digest(skill, files), unneeded)
    raise IncompleteError(f"What {model.model.name} proposed can't be used: {fault}", hint="Nothing was changed.")


def _digest(skill: Skill, files: Mapping[str, bytes]) -> str:
    with laid_out(skill.root.name, files) as root:
        return folder_digest(root)
