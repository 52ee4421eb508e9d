"""The analyst with a model: why it came out so, and what to change, each suggestion with the line that shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.graders.judge_log import RememberingModel
from skill_assay.graders.material import Material, fence_for
from skill_assay.graders.quotes import locate
from skill_assay.improve.analyst import Analysis, analysis_to_dict
from skill_assay.improve.evidence import choose_runs, evidence_of
from skill_assay.llm.prompt import load_prompt
from skill_assay.model.protocols import Ledger
from skill_assay.workspace.discovery import Found

__all__ = ["SCHEMA", "comparison_summary", "explain"]

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_FOLLOWED = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 10}, "issues": _TEXTS},
    "required": ["score", "issues"],
    "additionalProperties": False,
}
_SUGGESTION = {
    "type": "object",
    "properties": {
        "priority": {"enum": ["high", "medium", "low"]},
        "category": {"enum": ["instructions", "tools", "examples", "error_handling", "structure", "references"]},
        "suggestion": _TEXT,
        "expected_impact": _TEXT,
        "run": _TEXT,
        "file": _TEXT,
        "quote": _TEXT,
    },
    "required": ["priority", "category", "suggestion", "expected_impact", "run", "file", "quote"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "winner_strengths": _TEXTS,
        "loser_weaknesses": _TEXTS,
        "instruction_following": {
            "type": "object",
            "properties": {"winner": _FOLLOWED, "loser": _FOLLOWED},
            "required": ["winner", "loser"],
            "additionalProperties": False,
        },
        "improvement_suggestions": {"type": "array", "items": _SUGGESTION},
        "transcript_insights": {
            "type": "object",
            "properties": {"winner_execution_pattern": _TEXT, "loser_execution_pattern": _TEXT},
            "required": ["winner_execution_pattern", "loser_execution_pattern"],
            "additionalProperties": False,
        },
    },
    "required": [
        "winner_strengths",
        "loser_weaknesses",
        "instruction_following",
        "improvement_suggestions",
        "transcript_insights",
    ],
    "additionalProperties": False,
}


async def explain(
    found: Found,
    analysis: Analysis,
    skill: str,
    comparison: Mapping[str, Any] | None,
    model: RememberingModel,
    ledger: Ledger,
) -> dict[str, Any]:
    """`analysis.json`, what the numbers say and what the model says.

    Args:
        found: the iteration.
        analysis: from `analyse`.
        skill: the skill's text.
        comparison: who won and why, unblinded; `None` where nothing was compared.
        model: the analyst.
        ledger: for the journal.

    Raises:
        ModelFailed: it could not be asked.
    """
    primary = next((arm.name for arm in found.arms if arm.role == "primary"), "")
    material = evidence_of(found.root, choose_runs(found.runs, primary))
    numbers = analysis_to_dict(analysis)
    shown = json.dumps({**numbers, "comparison": comparison}, ensure_ascii=False, indent=1)
    fence = fence_for(skill, shown, *(piece.shown for piece in material.pieces))
    prompt = load_prompt("analyst")
    reply = await model.ask(
        prompt.fill(fence=fence, skill=skill, numbers=shown, runs=material.render(fence)),
        SCHEMA,
        ledger,
        run_folder=found.root,
        number=1,
        instructions=f"{prompt.name} {prompt.version} {prompt.digest}",
    )
    suggestions = [_looked_up(one, material) for one in reply["improvement_suggestions"]]
    return {**numbers, "comparison_summary": comparison or {}, **reply, "improvement_suggestions": suggestions}


def _looked_up(one: Mapping[str, Any], material: Material) -> dict[str, Any]:
    """A suggestion with the place that shows it; one whose quote is nowhere says so."""
    source = f"{one['run'].strip('/')}/{Path(one['file']).as_posix().lstrip('/')}"
    found = locate(one["quote"], material, source)
    kept = {name: one[name] for name in ("priority", "category", "suggestion", "expected_impact")}
    if found is None:
        return {**kept, "evidence_verified": False, "evidence_at": []}
    place = {"file": found.piece.file, "line": found.line, "quote": one["quote"]}
    return {**kept, "evidence_verified": True, "evidence_at": [place]}


def comparison_summary(found: Found, comparisons: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Who won the blind comparisons, unblinded; `None` where nothing was compared."""
    arms: dict[str, str] = {arm.role: arm.name for arm in found.arms if arm.role in ("primary", "baseline")}
    wins = dict.fromkeys(arms.values(), 0)
    for one in comparisons:
        arm = one.get("labels", {}).get(one.get("winner"), {}).get("arm")
        if arm in wins:
            wins[arm] += 1
    if not comparisons or len(arms) < 2:
        return None
    first, second = arms["primary"], arms["baseline"]
    skills = {arm.name: arm.origin for arm in found.plan.arms} if found.plan else {}
    winner = first if wins[first] > wins[second] else second if wins[second] > wins[first] else "TIE"
    loser = second if winner == first else first
    return {
        "winner": winner,
        "winner_skill": skills.get(winner, winner),
        "loser_skill": skills.get(loser, loser),
        "comparator_reasoning": next((one["reasoning"] for one in comparisons if one.get("reasoning")), ""),
        "pairs_won": wins,
    }
