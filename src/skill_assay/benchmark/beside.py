"""What is shown beside the verdict: ratios of cost, the effect as used, what the design could see and what would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from skill_assay.benchmark.cells import Cells
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.model.inference import Inference, InferenceSettings, Price
from skill_assay.stats.results import EffectAsUsed, FixedEvals, RatioResult

__all__ = ["beside"]

_METERS: Mapping[str, Callable[[TrialOutcome], float | None]] = {
    "tokens": lambda trial: trial.tokens,
    "seconds": lambda trial: trial.seconds,
    "cost": lambda trial: trial.cost_usd,
}


def beside(found: Inference, used: Cells) -> Inference:
    """The inference with everything else that can be computed, and the reason for what cannot."""
    absent = dict(found.absent)
    ratios = {name: _ratio(used, meter) for name, meter in _METERS.items()}
    absent |= {name: f"no eval has known {name} in both arms" for name, value in ratios.items() if value is None}
    as_used = _as_used(used, found.settings)
    if isinstance(as_used, str):
        absent["as_used"] = as_used
    return replace(
        found,
        tokens=ratios["tokens"],
        seconds=ratios["seconds"],
        cost=ratios["cost"],
        as_used=None if isinstance(as_used, str) else as_used,
        price=_price(used, found),
        absent=absent,
    )


def _ratio(used: Cells, meter: Callable[[TrialOutcome], float | None]) -> RatioResult | None:
    from skill_assay.stats.ratios import ratio

    return ratio(*used.values(meter), used.weights)


def _as_used(used: Cells, settings: InferenceSettings) -> EffectAsUsed | str:
    """The effect on trials that took the skill up, or why it is not computed."""
    from skill_assay.stats.as_used import LEAST_ACTIVATION, effect_as_used

    primary, baseline = used.values(lambda trial: None if trial.skill_used is None else float(trial.skill_used))
    rows = [
        (difference, sum(first) / len(first) - (sum(second) / len(second) if settings.baseline_has_skill else 0.0), w)
        for difference, first, second, w in zip(used.differences(), primary, baseline, used.weights, strict=True)
        if first and (second or not settings.baseline_has_skill)
    ]
    if not rows:
        return "whether the skill was used is not known"
    differences, activation, weights = zip(*rows, strict=True)
    share = sum(a * w for a, w in zip(activation, weights, strict=True)) / sum(weights)
    if share <= LEAST_ACTIVATION:
        return f"activation differs by {share:.0%} between the arms; above {LEAST_ACTIVATION:.0%} is needed"
    return effect_as_used(differences, activation, weights)


def _price(used: Cells, found: Inference) -> Price:
    """What this design could have seen, and which would see the target; from the spread, not the effect."""
    from skill_assay.stats.power import PRIOR, evals_needed, smallest_visible, spread_of, trials_needed

    measured = spread_of(*used.scores(), used.weights)
    spread, target = measured or PRIOR, found.settings.target or found.settings.margin
    sizes = [len(cell) for cell in (*used.primary, *used.baseline)]
    trials = len(sizes) / sum(1 / size for size in sizes)
    evals, repeats = found.n_effective, max(1, round(trials))
    if found.scope == "tasks_like_these":
        visible = smallest_visible(spread, evals=evals, trials=trials)
    else:
        visible = _visible_on_these(found.these_evals)
    more_evals = evals_needed(target, spread, trials=repeats)
    more_trials = trials_needed(target, spread, evals=evals)
    return Price(
        trials=trials,
        smallest_visible=visible,
        target=target,
        evals_needed=more_evals,
        trials_needed=more_trials,
        cost_per_launch=_launch_cost(used, found),
        launches_by_evals=more_evals and more_evals * repeats * 2,
        launches_by_trials=more_trials and more_trials * found.n_evals * 2,
        from_prior=measured is None,
    )


def _visible_on_these(fixed: FixedEvals | None) -> float | None:
    from skill_assay.stats.power import smallest_visible_on_these

    if fixed is None or fixed.standard_error is None or fixed.df is None:
        return None
    return smallest_visible_on_these(fixed.standard_error, fixed.df)


def _launch_cost(used: Cells, found: Inference) -> float | None:
    """USD a launch, averaged over the two arms; `None` unless both report it."""
    means = []
    for arm in (found.primary, found.baseline):
        known = [trial.cost_usd for trial in used.every if trial.arm == arm and trial.cost_usd is not None]
        if not known:
            return None
        means.append(sum(known) / len(known))
    return sum(means) / 2
