"""What a launch costs: spent, reserved, capped."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Spend"]


@dataclass(frozen=True, slots=True)
class Spend:
    """An amount in each of the three currencies of a budget."""

    usd: float = 0.0
    tokens: int = 0
    launches: int = 0
    assumed_usd: float = 0.0
    """How much of `usd` no bill told: what was set aside stands for it."""

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.usd + other.usd,
            self.tokens + other.tokens,
            self.launches + other.launches,
            self.assumed_usd + other.assumed_usd,
        )

    def __sub__(self, other: Spend) -> Spend:
        return Spend(
            self.usd - other.usd,
            self.tokens - other.tokens,
            self.launches - other.launches,
            self.assumed_usd - other.assumed_usd,
        )
