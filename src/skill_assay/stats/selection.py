"""Is the best of several candidates better than the original, or only the luckiest?

Estimand: whether the chosen candidate passes other queries than the original does. Null hypothesis: on each query the
differences of all candidates to the original may as well have the other sign. Statistic: the largest
|candidate's passes - original's passes| over candidates, the signs flipped query by query for all candidates together,
so that the choice of the best is in the null distribution too (Westfall & Young 1993). With one candidate this is the
exact two-sided sign test over queries. A cell that was never measured (a candidate stopped once it could not win) is
drawn from what was measured on its query.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from skill_assay.stats.results import TestResult

__all__ = ["ENOUGH_QUERIES", "best_of_candidates", "queries_for_significance", "sign_p"]

ENOUGH_QUERIES = 6
"""Below this many queries that could differ no two-sided p can reach 0.05: 2 / 2^5 is 0.0625."""
_MOST_QUERIES = 1000


def sign_p(gained: int, lost: int) -> float:
    """Two-sided exact sign test."""
    n = gained + lost
    return min(1.0, 2.0 * float(special.bdtr(min(gained, lost), n, 0.5))) if n else 1.0


def best_of_candidates(
    original: Sequence[bool],
    candidates: Sequence[Sequence[bool | None]],
    gain: int,
    *,
    seed: int,
    resamples: int = 20_000,
) -> TestResult:
    """p of a gain as large as the chosen candidate's, if none differed from the original.

    Args:
        original: whether each query passes, shape (queries,).
        candidates: the same for every candidate that was measured, in the same order; `None` where unknown.
        gain: the chosen one's passes minus the original's, over the queries known of both.
        seed: of the permutations; unused with one whole candidate.
        resamples: permutations.
    """
    if not candidates or not original:
        return TestResult(1.0, True)
    if len(candidates) == 1:
        pairs = [(mine, theirs) for mine, theirs in zip(candidates[0], original, strict=True) if mine is not None]
        return TestResult(sign_p(sum(m and not t for m, t in pairs), sum(t and not m for m, t in pairs)), True)
    rng = np.random.default_rng(seed)
    totals = np.zeros((resamples, len(candidates)))
    for query, first in enumerate(original):
        row = [one[query] for one in candidates]
        known = np.array([first, *(value for value in row if value is not None)], float)
        columns = [rng.choice(known, resamples) if value is None else np.full(resamples, float(value)) for value in row]
        sign = rng.integers(0, 2, (resamples, 1)) * 2.0 - 1.0
        totals += sign * (np.stack(columns, axis=1) - float(first))
    largest = np.abs(totals).max(axis=1)
    return TestResult((int((largest >= abs(gain) - 1e-9).sum()) + 1) / (resamples + 1), False, resamples)


def queries_for_significance(gained: int, lost: int, queries: int, candidates: int, alpha: float = 0.05) -> int | None:
    """How many queries would make such shares of gains and losses significant; `None` when hardly any number would.

    Args:
        gained: queries that pass only with the chosen one.
        lost: queries that pass only with the original.
        queries: compared.
        candidates: among which it was chosen; each costs a part of alpha.
        alpha: the level.
    """
    if gained <= lost or not queries:
        return None
    for n in range(queries, _MOST_QUERIES + 1):
        if sign_p(round(gained * n / queries), round(lost * n / queries)) * max(1, candidates) <= alpha:
            return n
    return None
