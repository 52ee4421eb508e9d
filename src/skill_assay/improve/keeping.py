"""Keeps a proposal as the candidate of an iteration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay.improve.proposal import Proposal, change_rows, diff_of
from skill_assay.model.skill import Skill
from skill_assay.workspace.judgements import read_changes, write_candidate
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.writing import utc_now

__all__ = ["changes_of", "keep_proposal"]


def keep_proposal(iteration: Iteration, skill: Skill, proposal: Proposal, model: str, instructions: str) -> Path:
    """Write `candidate/` with its changes and diff."""
    changes = {
        "schema_version": 1,
        "skill_name": skill.name,
        "parent": skill.digest,
        "candidate": proposal.digest,
        "model": model,
        "instructions": instructions,
        "made_at": utc_now(),
        "summary": proposal.summary,
        "changes": change_rows(skill, proposal.changes),
        "unneeded": list(proposal.unneeded),
        "applied_at": None,
    }
    return write_candidate(iteration, proposal.files, changes, diff_of(skill, proposal.files))


def changes_of(iteration: Iteration) -> dict[str, Any]:
    """`changes.json` of the candidate; empty when nothing is proposed."""
    found = read_changes(iteration)
    return dict(found) if isinstance(found, Mapping) else {}
