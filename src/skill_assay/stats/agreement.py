"""How far two raters agree on yes-or-no questions, and what a rater's known errors mean for a rate.

Sources: Cohen 1960 (kappa), Krippendorff 2004 (alpha, nominal data), Rogan & Gladen 1978 (correction), Wilson 1927.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skill_assay.stats.results import Agreement

__all__ = ["agreement", "alpha", "kappa", "rogan_gladen"]


def kappa(first: ArrayLike, second: ArrayLike) -> float | None:
    """Cohen's kappa of two raters: agreement beyond what their own rates would give by chance.

    Args:
        first, second: shape (n,), bool; the same items in the same order.

    Returns:
        At most 1; `None` where it is not defined (no items, or both always say the same one word).
    """
    a, b = np.asarray(first, bool), np.asarray(second, bool)
    if not a.size:
        return None
    observed = float((a == b).mean())
    chance = float(a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean()))
    return None if chance >= 1.0 - 1e-12 else (observed - chance) / (1.0 - chance)


def alpha(first: ArrayLike, second: ArrayLike) -> float | None:
    """Krippendorff's alpha for two raters without missing values, nominal data; `None` where all values are one."""
    a, b = np.asarray(first, bool), np.asarray(second, bool)
    values = 2 * a.size
    if not values:
        return None
    yes = int(a.sum() + b.sum())
    expected = 2.0 * yes * (values - yes) / (values * (values - 1))
    return None if expected == 0 else 1.0 - float((a != b).mean()) / expected


def agreement(judge: ArrayLike, person: ArrayLike) -> Agreement:
    """A judge against a person, who is taken to be right.

    Args:
        judge, person: shape (n,), bool (passed); the same expectations in the same order.
    """
    j, p = np.asarray(judge, bool), np.asarray(person, bool)
    passes, fails = int(p.sum()), int((~p).sum())
    return Agreement(
        n=int(p.size),
        agreed=int((j == p).sum()),
        true_passes=passes,
        true_fails=fails,
        kappa=kappa(j, p),
        alpha=alpha(j, p),
        sensitivity=float((j & p).sum()) / passes if passes else None,
        specificity=float((~j & ~p).sum()) / fails if fails else None,
    )


def rogan_gladen(rate: float, sensitivity: float, specificity: float) -> float | None:
    """The true rate behind one that a rater with known errors reports, kept in [0, 1].

    `None` where the rater says nothing: sensitivity + specificity is not above 1.
    """
    skill = sensitivity + specificity - 1.0
    if skill <= 1e-9:
        return None
    return float(min(1.0, max(0.0, (rate + specificity - 1.0) / skill)))
