"""Whether a benchmark meets what was asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from skill_assay.model.benchmark import ThresholdResult

__all__ = ["Gate", "GateStatus"]

GateStatus = Literal["pass", "fail", "incomplete"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The thresholds and what they come to."""

    thresholds: tuple[ThresholdResult, ...]
    incomplete: tuple[str, ...] = ()
    """Why the benchmark is not whole, in words."""

    @property
    def status(self) -> GateStatus:
        """A threshold missed (or "cannot tell") on what was measured wins over what is missing."""
        if any(one.met is False for one in self.thresholds):
            return "fail"
        return "incomplete" if self.incomplete else "pass"

    @property
    def exit_code(self) -> int:
        """0 met, 1 not met, 3 not whole."""
        return {"pass": 0, "fail": 1, "incomplete": 3}[self.status]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `benchmark.json`."""
        failed = [one.name for one in self.thresholds if one.met is False]
        return {"status": self.status, "failed": failed, "incomplete": list(self.incomplete)}
