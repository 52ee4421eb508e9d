"""How a threshold and its outcome are written: name, limit, value, status, and what caused a miss."""

from __future__ import annotations

from skill_assay.model.benchmark import ThresholdResult

__all__ = ["causes_of", "figure", "outcome"]

_SHOWN = 5
_DECIMALS = {"min_pass_rate": 2, "min_improvement_ratio": 2, "min_delta": 2, "max_excluded_share": 2}
_DECIMALS |= {"min_activation": 2, "max_avg_tokens": 0, "max_avg_duration_seconds": 0}


def figure(name: str, value: float | str | None) -> str:
    """`0.80`, `31204`, or the word; `?` for what is not known. Never rounded onto another figure of four digits."""
    if value is None:
        return "?"
    if isinstance(value, str):
        return value
    text = f"{value:.{_DECIMALS.get(name, 2)}f}"
    return text if abs(float(text) - value) < 1e-9 or abs(value) >= 1000 else f"{value:.4g}"


def causes_of(one: ThresholdResult) -> str:
    """The evals that cause a miss, the worst first."""
    more = f" and {len(one.causes) - _SHOWN} more" if len(one.causes) > _SHOWN else ""
    return ", ".join(one.causes[:_SHOWN]) + more


def outcome(one: ThresholdResult) -> str:
    """`met`, `missed: two-currencies 56 %`, `cannot tell: …`, `skipped: tokens unknown`."""
    told = [one.note] if one.note else []
    if one.causes and not one.cannot_tell:
        told.append(causes_of(one))
    return f"{one.status}: {'; '.join(told)}" if told else one.status
