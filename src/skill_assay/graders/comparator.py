"""The blind comparator: two outputs of one task, in both orders; a winner must win in both, else it is a tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skill_assay.graders.judge_log import RememberingModel
from skill_assay.graders.masking import Mask
from skill_assay.graders.material import Material, fence_for
from skill_assay.llm.prompt import load_prompt
from skill_assay.model.attached import Attached
from skill_assay.model.protocols import Ledger

__all__ = ["CONTENT", "SCHEMA", "STRUCTURE", "Compared", "Side", "Task", "compare_pair"]

Side = Literal["primary", "baseline"]
CONTENT = ("correctness", "completeness", "accuracy")
STRUCTURE = ("organization", "formatting", "usability")

_SCORE = {"type": "integer", "minimum": 1, "maximum": 5}
_POINTS = {"type": "array", "items": {"type": "string"}}


def _scores(names: Sequence[str]) -> dict[str, Any]:
    properties = dict.fromkeys(names, _SCORE)
    return {"type": "object", "properties": properties, "required": list(names), "additionalProperties": False}


_RUBRIC = {
    "type": "object",
    "properties": {
        "content": _scores(CONTENT),
        "structure": _scores(STRUCTURE),
        "strengths": _POINTS,
        "weaknesses": _POINTS,
    },
    "required": ["content", "structure", "strengths", "weaknesses"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "winner": {"enum": ["A", "B", "TIE"]},
        "reasoning": {"type": "string"},
        "A": _RUBRIC,
        "B": _RUBRIC,
    },
    "required": ["winner", "reasoning", "A", "B"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Task:
    """What both sides were asked."""

    prompt: str
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """One pair, judged in both orders."""

    winner: Side | None
    """`None`: a tie."""
    orders: tuple[Side | None, Side | None]
    """Who won with the first labelling, and with the sides swapped."""
    a: Side
    """Which side was A in the first order."""
    replies: tuple[Mapping[str, Any], Mapping[str, Any]]
    masked: Mapping[Side, int]
    """Occurrences masked on each side."""

    @property
    def flipped(self) -> bool:
        """Whether the order decided."""
        return self.orders[0] != self.orders[1]

    def rubric(self, side: Side) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The two rubrics of a side, whichever label it had."""
        first, second = ("A", "B") if side == self.a else ("B", "A")
        return self.replies[0][first], self.replies[1][second]


async def compare_pair(
    task: Task,
    sides: Mapping[Side, Material],
    a: Side,
    mask: Mask,
    model: RememberingModel,
    ledger: Ledger,
    folder: Path,
) -> Compared:
    """Compare two outputs.

    Args:
        task: what was asked.
        sides: what each left behind.
        a: which is A first, drawn by a seed.
        mask: takes out what tells them apart.
        model: the judge.
        ledger: for the journal.
        folder: where questions and replies are kept.

    Raises:
        ModelFailed: the judge could not be asked.
    """
    texts = [piece.text for side in sides.values() for piece in side.pieces]
    fence = fence_for(task.prompt, task.expected or "", *texts)
    prompt, _ = mask.text(task.prompt)
    expected = mask.text(task.expected)[0] if task.expected else None
    shown = {side: mask.material(material) for side, material in sides.items()}
    b: Side = "baseline" if a == "primary" else "primary"
    replies, winners = [], []
    for first, second in ((a, b), (b, a)):
        one, two = shown[first][0], shown[second][0]
        asked = load_prompt("comparator").fill(
            fence=fence,
            task=prompt,
            expected=f"\nWhat its author expects, in general:\n\n{fence}\n{expected}\n{fence}\n" if expected else "",
            first=one.render(fence, 1),
            second=two.render(fence, 1 + len(one.pictures)),
        )
        instructions = load_prompt("comparator")
        reply = await model.ask(
            asked,
            SCHEMA,
            ledger,
            run_folder=folder,
            number=1,
            attached=Attached((*one.pictures, *two.pictures)),
            instructions=f"{instructions.name} {instructions.version} {instructions.digest}",
        )
        replies.append(reply)
        winners.append({"A": first, "B": second}.get(reply["winner"]))
    winner = winners[0] if winners[0] == winners[1] else None
    masked: dict[Side, int] = {side: count for side, (_, count) in shown.items()}
    return Compared(winner, (winners[0], winners[1]), a, (replies[0], replies[1]), masked)
