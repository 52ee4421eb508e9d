"""A gate for a person, and as data."""

from __future__ import annotations

import json

from skill_assay.model.gate import Gate
from skill_assay.reports.plain import harmless
from skill_assay.reports.table import aligned
from skill_assay.reports.thresholds import figure, outcome

__all__ = ["gate_json", "gate_text"]

_WORDS = {"pass": "PASS", "fail": "FAIL", "incomplete": "INCOMPLETE"}


def gate_text(found: Gate, *, headline: str | None = None, skill: str = "", again: str = "") -> str:
    """A word, a line a threshold, and the next step.

    Args:
        found: the gate.
        headline: the verdict in one line.
        skill: the skill's place, for the next step.
        again: the command that runs what is missing.
    """
    lines = [_WORDS[found.status]]
    rows = [
        (one.name, figure(one.name, one.limit), figure(one.name, one.value), f" {harmless(outcome(one))}")
        for one in found.thresholds
    ]
    lines += aligned(rows, indent="  ", right=(1, 2))
    lines += [f"  not whole: {harmless(reason)}" for reason in found.incomplete]
    lines += [harmless(headline)] if headline else []
    if found.status == "fail" and skill and any(one.status == "missed" for one in found.thresholds):
        lines.append(f"Next: assay improve {harmless(skill)}")
    elif found.incomplete and again:
        lines.append(f"Next: {harmless(again)}")
    return "\n".join(lines) + "\n"


def gate_json(found: Gate) -> str:
    """The gate as data."""
    record = found.to_dict() | {
        "schema_version": 1,
        "thresholds": [
            {
                "name": one.name,
                "limit": one.limit,
                "value": one.value,
                "status": one.status,
                "note": one.note,
                "causes": list(one.causes),
            }
            for one in found.thresholds
        ],
    }
    return json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
