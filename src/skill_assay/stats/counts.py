"""Exact tests on counts, and Benjamini-Hochberg over many p values.

McNemar: of the tasks only one arm solved, is either arm's share off one half? Fisher, one-sided: do fewer of the fresh
trials pass now than before? Benjamini & Hochberg 1995: which of many verdicts stand at a false discovery rate?
scipy.stats takes over a second to import, so it is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["benjamini_hochberg", "fisher_worse", "mcnemar_exact"]


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided exact McNemar p from the two discordant counts."""
    from scipy import stats

    n = only_first + only_second
    return float(stats.binomtest(only_first, n, 0.5).pvalue) if n else 1.0


def fisher_worse(passed_before: int, n_before: int, passed_now: int, n_now: int) -> float:
    """One-sided Fisher p for "fewer pass now than before"; swap the pairs for an improvement."""
    import numpy as np
    from scipy import stats

    table = np.array([[passed_before, n_before - passed_before], [passed_now, n_now - passed_now]])
    return float(stats.fisher_exact(table, alternative="greater").pvalue)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values in the given order: at most 0.05 stands at a false discovery rate of 5 %."""
    from scipy import stats

    return tuple(float(p) for p in stats.false_discovery_control(list(p_values), method="bh")) if p_values else ()
