"""The verdict rule: from the two questions' answers to one word. No rendering, no numpy.

`better` / `worse` on tasks like these need the sign-flip p at most 0.05 and the 95 % interval off 0; `equivalent` is
two one-sided t tests at 5 % (Schuirmann 1987): the 90 % interval inside the margin. With too few evals, or where trials
were added until the answer was clear, the verdict speaks about these evals only.
"""

from __future__ import annotations

from skill_assay.stats.results import Decision, FixedEvals, Interval, SampledEvals, Verdict

__all__ = ["ALPHA", "EVALS_TO_DECIDE", "EVALS_TO_EQUATE", "decide", "decide_on_tasks", "decide_on_these", "direction"]

ALPHA = 0.05
EVALS_TO_DECIDE = 6
"""Below, no two-sided sign-flip p can reach 0.05."""
EVALS_TO_EQUATE = 8
"""Below, `equivalent` is never claimed."""
_ROUND = 1e-9


def decide(sampled: SampledEvals, fixed: FixedEvals, *, margin: float) -> Decision:
    """The verdict for a design fixed in advance.

    Args:
        sampled: answer to question 2.
        fixed: answer to question 1, the verdict's source below six (effective) evals.
        margin: half-width of what does not matter, a fraction above 0.
    """
    if sampled.n_effective < EVALS_TO_DECIDE - _ROUND:
        significant = fixed.test.p <= ALPHA + _ROUND
        return decide_on_these(fixed.effect, significant, fixed.interval, fixed.interval_90, margin=margin)
    return decide_on_tasks(sampled, margin=margin)


def decide_on_tasks(sampled: SampledEvals, *, margin: float) -> Decision:
    """The verdict on tasks like these, from six (effective) evals on."""
    small = sampled.interval_90 is not None and sampled.interval_90.inside(margin)
    clear = sampled.test.p <= ALPHA + _ROUND and (sampled.interval is None or sampled.interval.off_zero)
    if clear and sampled.effect != 0:
        return Decision(direction(sampled.effect), small, "tasks_like_these")
    if small and sampled.n_effective >= EVALS_TO_EQUATE - _ROUND:
        return Decision("equivalent", False, "tasks_like_these")
    return Decision("inconclusive", False, "tasks_like_these")


def decide_on_these(
    effect: float, significant: bool, interval: Interval | None, interval_90: Interval | None, *, margin: float
) -> Decision:
    """The verdict on these evals: better, worse, or inconclusive; never equivalent."""
    if significant and effect != 0 and (interval is None or interval.off_zero):
        return Decision(direction(effect), interval_90 is not None and interval_90.inside(margin), "these_evals")
    return Decision("inconclusive", False, "these_evals")


def direction(effect: float) -> Verdict:
    """The word for the sign of an effect that is not 0."""
    return "better" if effect > 0 else "worse"
