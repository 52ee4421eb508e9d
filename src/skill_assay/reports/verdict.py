"""The answer in one line: the first thing a person reads."""

from __future__ import annotations

from skill_assay.model.inference import Inference, Way
from skill_assay.reports.figures import count, p_text, percent, points, span, span_of, these_evals
from skill_assay.stats.results import Verdict

__all__ = ["headline"]

_WORDS = {
    "better": "Better",
    "worse": "Worse",
    "equivalent": "No difference that matters",
    "inconclusive": "Cannot tell",
}


def headline(found: Inference, *, subject: str | None = None) -> str:
    """The first line a person reads.

    Args:
        found: the inference.
        subject: what the primary arm is, in words that follow "Better"; unless given `with the skill`, or `with this
            version` where the baseline holds one too.
    """
    subject = subject or ("with this version" if found.settings.baseline_has_skill else "with the skill")
    sampled = found.tasks_like_these
    if found.effect is None or sampled is None:
        return f"Cannot tell: {found.absent.get('effect', 'nothing was measured')}"
    if found.time_limits and not found.time_limits.agree:
        return _time_limits_decide(found)
    if found.early:
        return _early(found)
    if sampled.all_equal:
        return _all_equal(found, subject)
    if found.scope == "these_evals":
        return f"{_on_these(found)} {_more_evals(found)}"
    return _on_tasks(found, subject)


def _lead(found: Inference, subject: str = "") -> str:
    """`Better with the skill`, or `Better` where the scope follows at once."""
    word = _WORDS[found.verdict]
    if found.verdict == "inconclusive":
        return f"{word} yet" if subject else word
    return f"{word} {subject}".strip() + (" by a negligible amount" if found.negligible else "")


def _on_tasks(found: Inference, subject: str) -> str:
    """`Better with the skill: +31 points on tasks like these (95 % +12 to +50, p 0.02, 8 evals)`."""
    sampled = found.tasks_like_these
    assert sampled and found.effect is not None
    if found.verdict == "equivalent" or found.negligible:
        inside = f"90 % {span_of(sampled.interval_90)}, inside ±{span(found.settings.margin)}, "
    else:
        inside = f"95 % {span_of(sampled.interval)}, "
    details = f"{inside}{p_text(sampled.test.p)}, {count(found.n_evals, 'eval')}"
    return f"{_lead(found, subject)}: {points(found.effect)} on tasks like these ({details})"


def _on_these(found: Inference) -> str:
    """`Better on these 5 evals: +31 points (+22 to +40).`"""
    fixed = found.these_evals
    assert fixed and found.effect is not None
    if fixed.interval:
        shown = span_of(fixed.interval)
        details = shown if found.verdict != "inconclusive" else f"{shown}, {p_text(fixed.test.p)}"
    else:
        details = f"{p_text(fixed.test.p)}; no interval: {fixed.no_interval}"
    return f"{_lead(found)} on {these_evals(found.n_evals)}: {points(found.effect)} ({details})."


def _more_evals(found: Inference) -> str:
    if found.n_evals >= 6:
        return f"Unequal weights make them worth {found.n_effective:.1f}; say more about other tasks with at least 6."
    return "Say more about other tasks with at least 6."


def _all_equal(found: Inference, subject: str) -> str:
    sampled = found.tasks_like_these
    assert sampled and found.effect is not None and sampled.differ_at_most is not None
    bound = f"at most {percent(sampled.differ_at_most)} of such tasks would differ"
    if sampled.signs.ties == found.n_evals:
        who = "the one eval" if found.n_evals == 1 else f"all {found.n_evals} evals"
        return f"No difference seen: {who} came out the same in both arms; {bound} (95 %)"
    if found.scope == "these_evals":
        every = "" if found.n_evals == 1 else " on every one"
        lead = f"{_lead(found)} on {these_evals(found.n_evals)}: {points(found.effect)}{every}"
        return f"{lead} ({p_text(found.p)}); {bound} from this (95 %). {_more_evals(found)}"
    where = f"every one of {found.n_evals} evals"
    return f"{_lead(found, subject)}: {points(found.effect)} on {where} ({p_text(found.p)}); {bound} from this (95 %)"


def _early(found: Inference) -> str:
    early = found.early
    assert early and found.effect is not None
    where = f"{'stopped at ' if early.stopped else ''}look {early.look} of {early.rounds}"
    shown = f"{span_of(early.interval)} at every look at once, " if early.interval else ""
    return f"{_lead(found)} on {these_evals(found.n_evals)}: {points(found.effect)} ({shown}{where})"


def _time_limits_decide(found: Inference) -> str:
    limits = found.time_limits
    assert limits

    def shown(way: Way) -> str:
        return "nothing left" if way.effect is None else f"{points(way.effect)} ({_plain_word(way.verdict)})"

    return (
        f"Cannot tell: time limits decide it. Time-outs left out {shown(limits.excluded)}, "
        f"counted as failed {shown(limits.failed)}"
    )


def _plain_word(verdict: Verdict) -> str:
    return {"equivalent": "no difference that matters", "inconclusive": "cannot tell"}.get(verdict, verdict)
