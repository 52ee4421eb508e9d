"""What to do next, from regressions, missed thresholds, low reliability, dead expectations and cost."""

from __future__ import annotations

from collections.abc import Iterator

from skill_assay.model.benchmark import Benchmark, ThresholdResult
from skill_assay.reports.figures import count
from skill_assay.reports.thresholds import causes_of, figure

__all__ = ["recommendations"]

_MANY = 5
_DEAR = 1.5
"""From this many times the baseline's tokens on, cost is worth a word."""


def recommendations(found: Benchmark) -> tuple[str, ...]:
    """One plain sentence each, the most urgent first."""
    return (
        *_regressions(found),
        *(_missed(one) for one in found.thresholds if one.status == "missed" and one.name != "no_regressions"),
        *_unsettled(found),
        *_activation(found),
        *_unreliable(found),
        *_dead(found),
        *_cost(found),
    )


def _regressions(found: Benchmark) -> Iterator[str]:
    listed = found.comparison.regressions if found.comparison else ()
    for one in listed:
        if one.confirmed and one.known_issue is None:
            yield f"{one.name} got worse, and fresh trials confirm it: compare its transcripts with the version before"
    asked = [one.name for one in listed if one.confirmed is None and one.known_issue is None]
    if asked:
        yield (
            f"{_named(asked)} may have got worse; so few trials list one by chance often: "
            "assay run --confirm runs both versions again"
        )


def _missed(one: ThresholdResult) -> str:
    where = f": begin with {causes_of(one)}" if one.causes else f" ({one.note})" if one.note else ""
    return f"{one.name} is {figure(one.name, one.value)}, asked {figure(one.name, one.limit)}{where}"


def _unsettled(found: Benchmark) -> Iterator[str]:
    price = (found.inference or {}).get("price")
    if (found.inference or {}).get("verdict") != "inconclusive" or not price:
        return
    ways = []
    if price.get("evals_needed"):
        ways.append(count(price["evals_needed"], "eval"))
    if price.get("trials_needed"):
        ways.append(f"{count(price['trials_needed'], 'trial')} an arm and eval")
    if ways:
        yield f"to see {price['target'] * 100:g} points, measure with {' or '.join(ways)}; assay power shows the prices"


def _activation(found: Benchmark) -> Iterator[str]:
    used, known = found.use(wanted=True)
    if used < known:
        yield (
            f"the skill stayed unused in {known - used} of {known} trials: look at its description before its body, "
            "since an unused skill changes nothing"
        )


def _unreliable(found: Benchmark) -> Iterator[str]:
    arms = [arm.arm.name for arm in found.arms[:2]]
    shaky = [one.eval.name for one in found.evals if any(one.arms[arm].reliability == "low" for arm in arms)]
    if shaky:
        yield (
            f"{_named(shaky)}: outcomes vary from trial to trial; read a passing and a failing transcript side by "
            "side, and make the instruction that decides between them explicit"
        )
    alone = [one.eval.name for one in found.evals if any(one.arms[arm].reliability == "unreliable" for arm in arms)]
    if alone:
        yield f"{_named(alone)}: fewer than two completed trials in an arm say nothing of reliability; add trials"


def _dead(found: Benchmark) -> Iterator[str]:
    for word, passed in (("passes", True), ("fails", False)):
        dead = [one for one in found.dead if one.passed is passed]
        if not dead:
            continue
        what = f'"{dead[0].text[:60]}" of {dead[0].eval.name}' + (f" and {len(dead) - 1} more" if dead[1:] else "")
        advice = "ask more of it, or drop it" if passed else "check the expectation itself, then the skill"
        yield f"{count(len(dead), 'expectation')} always {word} in both arms ({what}): {advice}"


def _cost(found: Benchmark) -> Iterator[str]:
    ratio = found.token_savings_ratio
    if ratio is None or ratio < _DEAR or found.primary.pass_rate is None or found.baseline is None:
        return
    theirs = found.baseline.pass_rate
    gain = (found.primary.pass_rate.mean - theirs.mean) * 100 if theirs else None
    bought = f" for {gain:+.0f} points" if gain is not None else ""
    yield f"it takes {ratio:.1f} times the baseline's tokens{bought}: see whether SKILL.md loads more than a task needs"


def _named(names: list[str]) -> str:
    return ", ".join(names[:_MANY]) + (f" and {len(names) - _MANY} more" if len(names) > _MANY else "")
