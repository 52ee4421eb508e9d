"""A judge without a model: it decides what a search can decide, and for the rest says what its script says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["asked", "data_in", "judge_reply", "literal"]

Decide = Callable[[str, str], Mapping[str, Any] | None]
"""Expectation and data → a verdict without its id; `None`: leave it to the search."""

_FENCE = re.compile(r"^=== data [0-9a-f]{10} ===$", re.MULTILINE)


def asked(prompt: str) -> dict[str, str]:
    """The expectations of a judge's question: id → text."""
    rows = (_row(line) for line in _FENCE.split(prompt)[-1].splitlines() if line.startswith('{"id": '))
    return {row["id"]: row["expectation"] for row in rows if row}


def _row(line: str) -> dict[str, str] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and {"id", "expectation"} <= row.keys() else None


def data_in(prompt: str) -> str:
    """What stands between the lines of the fence, the task left out."""
    parts = _FENCE.split(prompt)
    return "\n".join(parts[3::2])


def literal(expectation: str, data: str) -> dict[str, Any]:
    """The verdict of a plain search for the text that an expectation quotes."""
    quoted = re.search(r'"([^"]+)"', expectation)
    if quoted is None:
        nothing = "(no files)" in data and "no file" in expectation
        if nothing:
            return {
                "verdict": "pass",
                "explanation": "None is listed.",
                "quote": "(no files)",
                "source": "list of files",
            }
        return {"verdict": "cannot_tell", "explanation": "The script does not say."}
    if expectation.startswith("No file called"):
        absence = {"terms": [quoted[1]], "searched": ["list of files"]}
        return {"verdict": "fail" if quoted[1] in data else "pass", "explanation": "Searched.", "absence": absence}
    if quoted[1] in data:
        return {"verdict": "pass", "explanation": "It is there.", "quote": quoted[1]}
    return {"verdict": "fail", "explanation": "It is not there."}


def judge_reply(prompt: str, verdicts: Mapping[str, Any]) -> dict[str, Any]:
    """A judge's whole reply.

    Args:
        prompt: a question of the judge, or one that asks to classify.
        verdicts: expectation → `pass`, `fail`, or a verdict with its evidence; others are searched for.
    """
    rows, data = asked(prompt), data_in(prompt)
    if not _FENCE.search(prompt):
        return {"answers": [{"id": name, "about": "outcome"} for name in rows]}
    return {"verdicts": [{"id": name, **_verdict(text, data, verdicts)} for name, text in rows.items()]}


def _verdict(text: str, data: str, verdicts: Mapping[str, Any]) -> Mapping[str, Any]:
    said = verdicts.get(text)
    if isinstance(said, Mapping):
        return {"explanation": "As scripted.", **said}
    if said == "pass":
        line = next(
            (line.strip() for line in data.splitlines() if len(line.strip()) > 3 and not line.startswith("#")), ""
        )
        return {"verdict": "pass", "explanation": "As scripted.", "quote": line}
    if said is not None:
        return {"verdict": str(said), "explanation": "As scripted."}
    return literal(text, data)
