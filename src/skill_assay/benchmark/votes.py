"""What blind comparisons add up to: one majority vote an eval, and the exact sign test over evals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Votes", "count_votes"]


@dataclass(frozen=True, slots=True)
class Votes:
    """Evals won, tied and lost by the primary arm."""

    wins: int
    ties: int
    losses: int
    p: float
    """Two-sided, exact, over wins and losses; 1.0 without any."""
    pairs: int
    """Pairs that could be compared."""
    flips: int
    """Pairs whose order decided."""
    failed: int
    by_eval: Mapping[str, int]
    """Eval → +1, 0 or -1."""

    @property
    def flip_rate(self) -> float | None:
        """Share of pairs in which the judge chose otherwise when the sides were swapped; `None` without pairs."""
        return self.flips / self.pairs if self.pairs else None


def count_votes(outcomes: Mapping[str, Sequence[int]], flips: int, failed: int) -> Votes:
    """Sum up.

    Args:
        outcomes: eval → +1 (the primary arm won), 0 or -1 for each of its pairs.
        flips: pairs whose order decided.
        failed: pairs that could not be compared.
    """
    from skill_assay.stats.signflip import sign_test

    by_eval = {name: _majority(votes) for name, votes in outcomes.items() if votes}
    test = sign_test(list(by_eval.values()))
    pairs = sum(len(votes) for votes in outcomes.values())
    return Votes(test.wins, test.ties, test.losses, test.p, pairs, flips, failed, by_eval)


def _majority(votes: Sequence[int]) -> int:
    balance = sum(votes)
    return (balance > 0) - (balance < 0)
