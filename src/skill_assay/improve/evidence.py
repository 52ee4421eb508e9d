"""What a model is shown of runs: grades, answer, outputs and the transcript with line numbers; failures first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from skill_assay.graders.material import Material, Piece
from skill_assay.graders.outputs import Unreadable, read_text
from skill_assay.improve.consistency import output_files
from skill_assay.model.benchmark import Run

__all__ = ["choose_runs", "evidence_of", "numbered"]

MOST_RUNS = 8
LIMIT = 10_000
"""Characters shown of one file."""


def choose_runs(runs: Sequence[Run], primary: str, most: int = MOST_RUNS) -> list[Run]:
    """The runs that teach most: failed ones of the arm with the skill, each with its counterpart, then others."""
    counted = [run for run in runs if run.excluded is None]
    worst = sorted(
        (run for run in counted if run.arm == primary), key=lambda run: (run.score is None, run.score or 0.0)
    )
    chosen: list[Run] = []
    for run in worst:
        other = next(
            (one for one in counted if one.arm != primary and (one.eval.key, one.number) == (run.eval.key, run.number)),
            None,
        )
        chosen += [one for one in (run, other) if one is not None]
    return chosen[:most]


def evidence_of(root: Path, runs: Sequence[Run]) -> Material:
    """Pieces named `<run folder>/<file>`; what is shown carries line numbers, quotes are looked up without them."""
    pieces = [piece for run in runs for piece in _pieces(root, run)]
    return Material(tuple(pieces))


def _pieces(root: Path, run: Run) -> list[Piece]:
    folder = root / run.folder
    found = [_piece(run.folder, "grades", _grades(run))]
    for name in ("transcript.md", "answer.md", *(f"outputs/{name}" for name in output_files(folder)[:20])):
        try:
            text = read_text(folder, name)
        except Unreadable:
            continue
        found.append(_piece(run.folder, name, text))
    return found


def _grades(run: Run) -> str:
    words = {True: "passed", False: "failed", None: "ungraded"}
    rows = [
        {"expectation": one.text, "decision": words[one.passed], "evidence": one.evidence} for one in run.expectations
    ]
    return "\n".join([f"eval: {run.eval.key}, arm: {run.arm}", *(json.dumps(row, ensure_ascii=False) for row in rows)])


def _piece(run: str, name: str, text: str) -> Piece:
    return Piece(f"{run}/{name}", text, numbered(text), f"{run}/{name}")


def numbered(text: str, limit: int = LIMIT) -> str:
    """The text with line numbers, cut in the middle with a note."""
    lines = [f"{number}| {line[:600]}" for number, line in enumerate(text.splitlines(), 1)]
    whole = "\n".join(lines)
    if len(whole) <= limit:
        return whole
    head, tail = whole[: limit * 6 // 10], whole[-limit * 4 // 10 :]
    return f"{head}\n[… not all lines are shown …]\n{tail}"
