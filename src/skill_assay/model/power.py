"""What designs can see, and what they cost: the rows of `assay power`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["PowerRow", "PowerTable"]


@dataclass(frozen=True, slots=True)
class PowerRow:
    """One design."""

    units: int
    """Evals, or queries."""
    repeats: int
    """Trials an arm and eval, or runs a query and description."""
    launches: int
    cost_usd: float | None
    power: Mapping[float, float]
    """Effect, a fraction → chance of seeing it."""
    smallest_visible: float | None = None
    """Smallest true effect seen with 80 % power; `None`: none up to 100 points. Evals only."""
    reach: float | None = None
    """Half the width of the 95 % interval of accuracy. Queries only."""


@dataclass(frozen=True, slots=True)
class PowerTable:
    """Designs side by side."""

    kind: Literal["evals", "queries"]
    basis: str
    """Where the spread comes from, in words."""
    measured: bool
    cost_per_launch: float | None
    rows: tuple[PowerRow, ...]
    between: float | None = None
    """Standard deviation of the true effect over tasks; with the noise of trials, where `within` is unknown."""
    within: float | None = None
    """Standard deviation of one trial's outcome; `None` where no trial was repeated."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data; effects become text keys."""
        plain = asdict(self)
        for row in plain["rows"]:
            row["power"] = {f"{effect:g}": round(chance, 4) for effect, chance in row["power"].items()}
        plain["rows"] = list(plain["rows"])
        return plain
