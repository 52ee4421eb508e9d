"""`max_tokens`, `max_seconds`, `max_cost`, `max_turns`: what the attempt used. A value equal to the limit passes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import Root, number
from skill_assay.graders.checks.verdict import Verdict, said, unknown
from skill_assay.graders.words import shown
from skill_assay.model.work import Work

__all__ = ["MaxCost", "MaxSeconds", "MaxTokens", "MaxTurns"]


def limit_reader(value: Any, root: Root) -> float:
    """A number above 0."""
    limit = number(value, root)
    if limit <= 0:
        raise BadArgument("no attempt uses that little", found=shown(value), expected="a number above 0")
    return limit


@dataclass(frozen=True)
class _Meter(ABC):
    unit: ClassVar[str]
    limit: float = argument(limit_reader)

    @abstractmethod
    def used(self, work: Work) -> float | None:
        """What the meter shows; `None` when the agent does not report it."""

    async def decide(self, work: Work) -> Verdict:
        """Yes up to the limit; unknown is ungraded, never 0."""
        used = self.used(work)
        if used is None:
            return unknown(f"The agent does not report its {self.unit}.")
        return said(used <= self.limit, f"Used {_figure(used)} {self.unit}; at most {_figure(self.limit)} allowed.")


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:,.4g}"


class MaxTokens(_Meter):
    """Input, output, cache reads and cache writes together, sub-agents included."""

    kind: ClassVar = "max_tokens"
    unit = "tokens"

    def used(self, work: Work) -> float | None:
        """Tokens of all kinds."""
        return work.usage.tokens.total if work.usage.tokens else None


class MaxSeconds(_Meter):
    """Wall time without the waits for rate limits."""

    kind: ClassVar = "max_seconds"
    unit = "seconds"

    def used(self, work: Work) -> float | None:
        """Seconds."""
        return work.seconds


class MaxCost(_Meter):
    """Price in US dollars."""

    kind: ClassVar = "max_cost"
    unit = "USD"

    def used(self, work: Work) -> float | None:
        """US dollars."""
        return work.usage.cost_usd


class MaxTurns(_Meter):
    """Turns as the agent counts them."""

    kind: ClassVar = "max_turns"
    unit = "turns"

    def used(self, work: Work) -> float | None:
        """Turns."""
        return work.usage.turns
