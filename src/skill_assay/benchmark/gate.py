"""The gate over a benchmark: its thresholds, and whether it is whole enough to be held to them."""

from __future__ import annotations

from collections.abc import Iterator

from skill_assay.model.benchmark import Benchmark
from skill_assay.model.gate import Gate

__all__ = ["DEFAULT_THRESHOLDS", "EXCLUDED_LIMIT", "gate", "incomplete"]

DEFAULT_THRESHOLDS = {
    "min_pass_rate": 0.8,
    "max_avg_tokens": 100_000,
    "max_avg_duration_seconds": 120,
    "min_improvement_ratio": 1.0,
}
"""skill-forge's, held where a gate is asked and nobody set any."""
EXCLUDED_LIMIT = 0.2
"""Above this share of excluded trials a benchmark is incomplete."""


def gate(found: Benchmark) -> Gate:
    """The gate over the thresholds that a benchmark was evaluated with."""
    reasons = list(incomplete(found))
    if found.thresholds and all(one.met is None for one in found.thresholds):
        reasons.append("every threshold was skipped, so nothing was held to anything")
    return Gate(found.thresholds, tuple(reasons))


def incomplete(found: Benchmark) -> Iterator[str]:
    """Why it is not whole: planned trials missing, an eval without a graded trial in an arm, too many left out."""
    if found.missing:
        yield f"{found.missing} planned trials are missing"
    empty = [
        f"{one.eval.name} in {name}" for one in found.evals for name, cell in one.arms.items() if not cell.completed
    ]
    if empty:
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        yield f"no graded trial of {', '.join(empty[:5])}{more}"
    share = len(found.exclusions) / max(1, len(found.runs))
    if share > EXCLUDED_LIMIT:
        yield f"{share * 100:.0f} % of the trials are excluded, over {EXCLUDED_LIMIT * 100:.0f} %"
