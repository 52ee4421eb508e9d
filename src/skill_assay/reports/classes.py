"""A benchmark by class of prompts: descriptive figures, where evals carry a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skill_assay.model.benchmark import Benchmark, EvalArm, EvalFigures
from skill_assay.model.prompt_classes import CLASSES, class_of
from skill_assay.reports.plain import arm_label, percent_of
from skill_assay.reports.table import aligned, piped

__all__ = ["ClassRow", "class_cells", "class_lines", "class_record", "class_rows", "class_table"]


@dataclass(frozen=True, slots=True)
class ClassRow:
    """The evals of one class."""

    name: str
    """Empty for those without a class."""
    evals: int
    rates: tuple[float | None, ...]
    """Mean of the evals' pass rates, an arm each, in the benchmark's order; `None`: nothing was graded."""
    used: int
    """Trials of the primary arm in which the skill was used."""
    use_known: int
    """Trials of it in which one can tell."""


def class_rows(found: Benchmark) -> tuple[ClassRow, ...]:
    """In the order of the classes, those without one last; nothing where no eval has a class."""
    groups: dict[str, list[EvalFigures]] = {}
    for one in found.evals:
        groups.setdefault(class_of(one.eval.tags) or "", []).append(one)
    return tuple(_row(found, name, groups[name]) for name in (*CLASSES, "") if name in groups) if any(groups) else ()


def _row(found: Benchmark, name: str, evals: list[EvalFigures]) -> ClassRow:
    cells = [[one.arms[arm.arm.name] for one in evals] for arm in found.arms]
    return ClassRow(
        name,
        len(evals),
        tuple(_mean(arm) for arm in cells),
        sum(cell.used for cell in cells[0]),
        sum(cell.use_known for cell in cells[0]),
    )


def _mean(cells: list[EvalArm]) -> float | None:
    means = [cell.mean for cell in cells if cell.mean is not None]
    return sum(means) / len(means) if means else None


def class_cells(found: Benchmark) -> list[list[str]]:
    """Head and rows; nothing where there are none."""
    rows = class_rows(found)
    head = ["class of prompts", "evals", *(arm_label(arm.arm.name) for arm in found.arms), "skill used"]
    cells = [
        [
            row.name or "no class",
            str(row.evals),
            *map(percent_of, row.rates),
            f"{row.used} of {row.use_known}" if row.use_known else "unknown",
        ]
        for row in rows
    ]
    return [head, *cells] if rows else []


def class_lines(found: Benchmark) -> list[str]:
    """The table for a terminal."""
    return aligned(class_cells(found), indent="  ")


def class_table(found: Benchmark) -> str:
    """The table as Markdown; empty where there is none."""
    return "\n".join(piped(class_cells(found)))


def class_record(found: Benchmark) -> list[dict[str, Any]]:
    """The same as plain data; what is unknown is left out."""
    names = [arm.arm.name for arm in found.arms]
    return [
        {
            "class": row.name or None,
            "evals": row.evals,
            "pass_rate": {
                name: round(rate, 4) for name, rate in zip(names, row.rates, strict=True) if rate is not None
            },
            **({"used": row.used, "known": row.use_known} if row.use_known else {}),
        }
        for row in class_rows(found)
    ]
