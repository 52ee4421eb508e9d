"""Compares an iteration's outputs blind: run k of one arm with run k of the other."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.formats.comparison import comparison_to_dict
from skill_assay.graders.comparator import Compared, Side, Task, compare_pair
from skill_assay.graders.judge_log import RememberingModel
from skill_assay.graders.masking import Mask
from skill_assay.graders.material import Material, gather_material
from skill_assay.llm.base import ModelFailed
from skill_assay.llm.prompt import prompts_digest
from skill_assay.model.benchmark import Run
from skill_assay.model.protocols import Ledger
from skill_assay.runner.together import together
from skill_assay.workspace.discovery import Found

__all__ = ["Pair", "compare_runs", "mask_of", "pair_record", "pairs_of"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs of one eval with the same number, and what came of comparing them."""

    primary: Run
    baseline: Run
    compared: Compared | None = None
    failed: str | None = None
    """Why they could not be compared."""

    def run(self, side: Side) -> Run:
        """The run of one side."""
        return self.primary if side == "primary" else self.baseline


def pairs_of(found: Found) -> list[Pair]:
    """Run k with run k, where both ended by the agent's own work."""
    arms = {arm.role: arm.name for arm in found.arms if arm.role in ("primary", "baseline")}
    by_key = {
        (run.eval.key, run.number, run.arm): run
        for run in found.runs
        if run.excluded is None or run.excluded == "nothing was graded"
    }
    keys = sorted({(eval_key, number) for eval_key, number, _ in by_key})
    pairs = [
        (by_key.get((*key, arms.get("primary", ""))), by_key.get((*key, arms.get("baseline", "")))) for key in keys
    ]
    return [Pair(first, second) for first, second in pairs if first and second]


def mask_of(found: Found, more: Iterable[str] = ()) -> Mask:
    """What would tell the arms apart: names of skills, their folders and versions, names of arms."""
    names = {arm.name for arm in found.arms} | set(more)
    if found.plan:
        names |= {found.plan.skill_name, Path(found.plan.skill_path).name}
        names |= {arm.skill_name for arm in found.plan.arms if arm.skill_name}
        names |= {digest[:7] for key, digest in found.plan.digests.items() if key.startswith("arm:") and digest}
    return Mask(names)


async def compare_runs(
    found: Found,
    pairs: Sequence[Pair],
    model: RememberingModel,
    ledger: Ledger,
    *,
    seed: int,
    mask: Mask,
    expected: Mapping[str, str],
) -> list[Pair]:
    """The pairs with their comparisons, in order.

    Args:
        found: the iteration.
        pairs: from `pairs_of`.
        model: the judge; its admission says how many are asked at once.
        ledger: for the journal.
        seed: draws which side is A first.
        mask: from `mask_of`.
        expected: eval → what its author expects.
    """
    done: dict[int, Pair] = {}

    async def one(index: int, pair: Pair) -> None:
        key = f"{seed}/{pair.primary.eval.key}/{pair.primary.number}"
        a: Side = random.Random(key).choice(("primary", "baseline"))
        task = Task(pair.primary.eval.prompt or "", expected.get(pair.primary.eval.key))
        sides: dict[Side, Material] = {
            "primary": await _material(found.root / pair.primary.folder, model.model.sees_pictures),
            "baseline": await _material(found.root / pair.baseline.folder, model.model.sees_pictures),
        }
        try:
            compared = await compare_pair(task, sides, a, mask, model, ledger, found.root)
            done[index] = Pair(pair.primary, pair.baseline, compared)
        except ModelFailed as failed:
            done[index] = Pair(pair.primary, pair.baseline, failed=str(failed))

    await together(one(index, pair) for index, pair in enumerate(pairs))
    return [done[index] for index in range(len(pairs))]


async def _material(folder: Path, pictures: bool) -> Material:
    outputs, said = folder / "outputs", folder / "answer.md"
    files = sorted(
        path.relative_to(outputs).as_posix() for path in outputs.rglob("*") if path.is_file() and not path.is_symlink()
    )
    answer = said.read_text("utf-8", "replace") if said.is_file() and not said.is_symlink() else ""
    # Where an agent made no file, its answer lies among the outputs too, for viewers.
    kept = [name for name in files if name != "answer.md" or not answer]
    return await gather_material(answer, kept, outputs, pictures=pictures)


def pair_record(pair: Pair, judge: str) -> dict[str, Any] | None:
    """`comparison-N.json` of a pair, unblinded; `None` where it could not be compared."""
    compared = pair.compared
    if compared is None:
        return None
    b: Side = "baseline" if compared.a == "primary" else "primary"
    labels: dict[str, Side] = {"A": compared.a, "B": b}
    winner = next((label for label, side in labels.items() if side == compared.winner), "TIE")
    return comparison_to_dict(
        winner,
        compared.replies[0]["reasoning"],
        {label: compared.rubric(side) for label, side in labels.items()},
        {label: [(one.text, one.passed) for one in pair.run(side).expectations] for label, side in labels.items()},
        {
            "eval_id": pair.primary.eval.id,
            "run_number": pair.primary.number,
            "judge": judge,
            "instructions": prompts_digest("comparator"),
            "labels": {
                label: {"arm": pair.run(side).arm, "run": pair.run(side).folder} for label, side in labels.items()
            },
            "orders": [_label(one, labels) for one in compared.orders],
            "flipped": compared.flipped,
            "masked": {label: compared.masked[side] for label, side in labels.items()},
        },
    )


def _label(side: Side | None, labels: Mapping[str, Side]) -> str:
    return next((label for label, one in labels.items() if one == side), "TIE")
