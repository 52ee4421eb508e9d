"""What `--aa` reports: how far apart the same skill comes out from itself, by chance alone."""

from __future__ import annotations

from skill_assay.model.inference import Inference
from skill_assay.reports.figures import count, p_text, points, span, span_of

__all__ = ["AGAIN", "noise_headline"]

AGAIN = "with_skill_again"
"""The arm that holds the same skill once more."""


def noise_headline(found: Inference) -> str:
    """The noise floor in one line: what chance alone makes of two arms that do not differ."""
    if found.effect is None:
        return f"Noise floor not known: {found.absent.get('effect', 'nothing was measured')}"
    interval = found.interval
    shown = f"95 % {span_of(interval)}, " if interval else ""
    seen = f"the skill against itself came out {points(found.effect)} ({shown}{count(found.n_evals, 'eval')})"
    moved = sum(d != 0 for d in found.per_eval.values())
    differ = f"{moved} of {count(found.n_evals, 'eval')} differ"
    if found.verdict in ("better", "worse"):
        return (
            f"False alarm: {seen}, {p_text(found.p)}; this happens in at most 5 of 100 such runs. "
            "A second one means that trials influence each other or something drifts"
        )
    if interval is None:
        return f"Noise floor: {seen}; {differ}, and no range can be given"
    floor = (interval.high - interval.low) / 2
    return f"Noise floor: ±{span(floor)} points; {seen}; {differ}. Differences inside it are what chance alone makes"
