"""The answer in plain words: what the headline means, what qualifies it, and what would answer more."""

from __future__ import annotations

from skill_assay.model.inference import Inference, Price
from skill_assay.reports.figures import count, money, percent, points, span, span_of, these_evals

__all__ = ["explanation"]


def explanation(found: Inference) -> list[str]:
    """What the headline means, what qualifies it and what would answer more, a sentence or two each."""
    lines = [_meaning(found), _time_limits(found), _early_limits(found), _negligible(found)]
    lines += [_as_used(found), _cost(found), _left_out(found)]
    if found.verdict == "inconclusive" and found.price and found.effect is not None:
        lines += _plan(found, found.price)
    return [line for line in lines if line]


def _meaning(found: Inference) -> str:
    """The verdict in plain words."""
    sampled, fixed = found.tasks_like_these, found.these_evals
    if sampled is None or fixed is None:
        return ""
    signs = sampled.signs
    tally = f"Of {count(found.n_evals, 'eval')}, {signs.wins} went up, {signs.losses} down, {signs.ties} unchanged."
    if found.early or sampled.all_equal:
        return tally
    if found.scope == "these_evals":
        only = f"This speaks about {these_evals(found.n_evals)} only"
        return f"{tally} {only}: the range covers the noise of trials, not other tasks."
    return (
        f"{tally} If the evals are a fair sample of your tasks, a range found this way holds the true effect in 95 of "
        f"100 benchmarks. On these very evals it is {points(fixed.effect)}"
        + (f" ({span_of(fixed.interval)})." if fixed.interval else f" (no range: {fixed.no_interval}).")
    )


def _time_limits(found: Inference) -> str:
    limits = found.time_limits
    if limits is None:
        return ""
    ours = f"{count(limits.primary, 'trial')} of {found.primary}"
    late = f"Time limits ended {ours} and {limits.baseline} of {found.baseline}"
    ways = [
        f"{word} {points(way.effect)}{f' ({span_of(way.interval)})' if way.interval else ''}"
        for word, way in (("left out", limits.excluded), ("counted as failed", limits.failed))
        if way.effect is not None
    ]
    end = "The verdict is the same both ways." if limits.agree else "A verdict would depend on that, so there is none."
    return f"{late}: {', '.join(ways)}. {end}"


def _early_limits(found: Inference) -> str:
    if found.early is None:
        return ""
    sampled = found.tasks_like_these
    explored = f" ({points(sampled.effect)}, {span_of(sampled.interval)})" if sampled and sampled.interval else ""
    return (
        "Trials could stop early, so the verdict is about these evals only; what it says about other tasks"
        f"{explored} is exploratory, and an effect at an early stop is somewhat inflated."
    )


def _negligible(found: Inference) -> str:
    if not found.negligible:
        return ""
    return f"The difference is there, and too small to matter: inside ±{span(found.settings.margin)} points."


def _as_used(found: Inference) -> str:
    used = found.as_used
    if used is None or used.activation_difference > 0.995:
        return ""
    shown = f" ({span_of(used.interval)})" if used.interval else ""
    return (
        f"The skill was used in {percent(used.activation_difference)} more of the trials; on trials that take it up "
        f"the effect is {points(used.effect)}{shown}, if merely having it does nothing."
    )


def _cost(found: Inference) -> str:
    parts = []
    for name, value in (("tokens", found.tokens), ("time", found.seconds)):
        if value:
            shown = f" ({value.interval.low:.2f} to {value.interval.high:.2f})" if value.interval else ""
            parts.append(f"{value.ratio:.2f} times the {name}{shown}")
    return f"It takes {' and '.join(parts)} of {found.baseline}." if parts else ""


def _left_out(found: Inference) -> str:
    parts = [f"{n} of {arm}" for arm, n in found.excluded.items() if n]
    text = f"Trials in no rate: {', '.join(parts)}." if parts else ""
    if found.evals_left_out:
        text += f" Evals without a graded trial in both arms: {', '.join(found.evals_left_out)}."
    return text.strip()


def _plan(found: Inference, price: Price) -> list[str]:
    """What this design could have seen, and what would see the target."""
    trials = round(price.trials)
    design = f"{count(found.n_evals, 'eval')} × {count(trials, 'trial')}"
    basis = " (spread assumed: none was seen)" if price.from_prior else ""
    fixed = found.these_evals
    if found.scope == "these_evals" and fixed and fixed.no_interval:
        seen = f"How small an effect this design ({design}) could see is not known: {fixed.no_interval}."
    elif price.smallest_visible is None:
        seen = f"This design ({design}) could not have seen any effect with 80 % power{basis}."
    else:
        least = f"{span(price.smallest_visible)} points"
        seen = f"The smallest effect this design ({design}) sees with 80 % power is {least}{basis}."
    ways = []
    if price.evals_needed is not None:
        ways.append(f"{price.evals_needed} evals × {count(trials, 'trial')}{_cost_of(price, price.launches_by_evals)}")
    if price.trials_needed is not None:
        ways.append(
            f"{count(found.n_evals, 'eval')} × {count(price.trials_needed, 'trial')}"
            f"{_cost_of(price, price.launches_by_trials)}"
        )
    target = f"To see {span(price.target)} points"
    if not ways:
        return [seen, f"{target}, more than 2,000 evals would be needed."]
    return [seen, f"{target}: {' or '.join(ways)}."]


def _cost_of(price: Price, launches: int | None) -> str:
    if launches is None:
        return ""
    paid = f", about {money(price.cost_per_launch * launches)}" if price.cost_per_launch is not None else ""
    return f" ({launches:,} launches{paid})"
