"""Reliability of one eval under one arm, from a handful of trials.

`pass@k`: the chance that at least one of k trials passes (Chen et al. 2021, unbiased). `pass^k`: that all k pass.
"Passed" means that all required expectations passed; n is the number of completed trials.
"""

from __future__ import annotations

import math

__all__ = ["pass_all_k", "pass_at_k"]


def pass_at_k(n: int, passed: int, k: int) -> float | None:
    """1 - C(n - c, k) / C(n, k); `None` when fewer than k trials completed."""
    _check(n, passed, k)
    return 1 - math.comb(n - passed, k) / math.comb(n, k) if k <= n else None


def pass_all_k(n: int, passed: int, k: int) -> float | None:
    """C(c, k) / C(n, k), written pass^k; `None` when fewer than k trials completed."""
    _check(n, passed, k)
    return math.comb(passed, k) / math.comb(n, k) if k <= n else None


def _check(n: int, passed: int, k: int) -> None:
    if not (0 <= passed <= n and k >= 1):
        raise ValueError(f"0 <= passed <= n and k >= 1 needed (n={n}, passed={passed}, k={k})")
