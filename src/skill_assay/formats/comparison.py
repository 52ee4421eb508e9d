"""`comparison-N.json`: skill-creator's field names, ours beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["comparison_to_dict", "expectation_results", "rubric_to_dict"]


def rubric_to_dict(rubrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The scores of one side, averaged over both orders; sums are ours, never the judge's.

    `overall_score` is (content + structure) / 2 × 2: from 2 to 10.
    """
    parts = {
        part: {name: _mean([rubric[part][name] for rubric in rubrics]) for name in rubrics[0][part]}
        for part in ("content", "structure")
    }
    content, structure = (sum(scores.values()) / len(scores) for scores in parts.values())
    return {
        **parts,
        "content_score": round(content, 2),
        "structure_score": round(structure, 2),
        "overall_score": round(content + structure, 2),
    }


def _mean(values: Sequence[float]) -> float | int:
    mean = sum(values) / len(values)
    return int(mean) if mean == int(mean) else round(mean, 2)


def expectation_results(expectations: Sequence[tuple[str, bool | None]]) -> dict[str, Any]:
    """What the run's own grading says, for a reader of both."""
    details = [{"text": text, "passed": passed} for text, passed in expectations if passed is not None]
    passed = sum(one["passed"] is True for one in details)
    rate = {"pass_rate": passed / len(details)} if details else {}
    return {"passed": passed, "total": len(details), **rate, "details": details}


def comparison_to_dict(
    winner: str,
    reasoning: str,
    sides: Mapping[str, Sequence[Mapping[str, Any]]],
    graded: Mapping[str, Sequence[tuple[str, bool | None]]],
    ours: Mapping[str, Any],
) -> dict[str, Any]:
    """The record of one pair.

    Args:
        winner: `A`, `B` or `TIE`.
        reasoning: of the judge, of the order in which A was A.
        sides: label → the rubrics it was given in both orders.
        graded: label → the grades of its run.
        ours: our own keys.
    """
    rubrics = {label: rubric_to_dict(rows) for label, rows in sides.items()}
    quality = {
        label: {
            "score": rubrics[label]["overall_score"],
            "strengths": _distinct(point for row in rows for point in row["strengths"]),
            "weaknesses": _distinct(point for row in rows for point in row["weaknesses"]),
        }
        for label, rows in sides.items()
    }
    return {
        "schema_version": 1,
        "winner": winner,
        "reasoning": reasoning,
        "rubric": rubrics,
        "output_quality": quality,
        "expectation_results": {label: expectation_results(rows) for label, rows in graded.items()},
        **ours,
    }


def _distinct(points: Any) -> list[str]:
    return list(dict.fromkeys(points))
