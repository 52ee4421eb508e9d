"""The two thresholds on what was concluded: the verdict, and regressions since the iteration before.

What too few trials leave open answers "cannot tell", which is not a pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_assay.model.benchmark import Benchmark, ThresholdResult
from skill_assay.model.comparison import Change
from skill_assay.reports.figures import launches

__all__ = ["regressions", "verdict"]

_SCOPES = {"tasks_like_these": "on tasks like these", "these_evals": "on these evals"}
_EVALS_TO_DECIDE = 6


def verdict(limit: str | Mapping[str, Any], found: Benchmark) -> ThresholdResult:
    """The verdict against `better` or `not_worse`, on a scope where one is demanded.

    `not_worse` must have been shown: `better`, `equivalent`, a 95 % interval above minus the margin, or at least six
    evals that all came out the same in both arms.
    """
    wanted, scope = (limit, None) if isinstance(limit, str) else (str(limit.get("is")), limit.get("scope"))
    asked = f"{wanted} {_SCOPES.get(str(scope), str(scope))}" if scope else str(wanted)
    facts = found.inference
    if facts is None:
        return ThresholdResult("verdict", asked, None, None, "no baseline to compare with")
    given, where = str(facts["verdict"]), str(facts["scope"])
    shown = f"{given}{' (negligible)' if facts.get('negligible') else ''} {_SCOPES.get(where, where)}"
    if scope and scope != where:
        return ThresholdResult("verdict", asked, shown, False, f"it speaks {_SCOPES.get(where, where)} only", (), True)
    if given == "better" or (wanted == "not_worse" and given == "equivalent"):
        return ThresholdResult("verdict", asked, shown, True)
    if given == "worse":
        return ThresholdResult("verdict", asked, shown, False, causes=_losers(found))
    if given == "equivalent":
        return ThresholdResult("verdict", asked, shown, False, "no difference that matters")
    if wanted == "not_worse" and (why := _shown_not_worse(facts)):
        return ThresholdResult("verdict", asked, shown, True, why)
    return ThresholdResult("verdict", asked, shown, False, "too little was seen to say", (), True)


def _shown_not_worse(facts: Mapping[str, Any]) -> str:
    """Why an inconclusive verdict still shows that it is not worse; empty when it does not."""
    limits = facts.get("time_limits")
    if facts.get("effect") is None or (limits and not limits.get("agree")):
        return ""
    interval, margin = facts.get("interval"), facts["settings"]["margin"]
    if interval and interval["low"] > -margin:
        return f"the 95 % interval lies above −{margin * 100:g} points"
    differences = facts.get("per_eval") or {}
    if len(differences) >= _EVALS_TO_DECIDE and not any(differences.values()):
        return f"all {len(differences)} evals came out the same in both arms"
    return ""


def _losers(found: Benchmark) -> tuple[str, ...]:
    """Evals that lost, the worst first."""
    names = {one.eval.key: one.eval.name for one in found.evals}
    differences = (found.inference or {}).get("per_eval") or {}
    lost = sorted((d, names.get(key, key)) for key, d in differences.items() if d < 0)
    return tuple(f"{name} {d * 100:+.0f} points" for d, name in lost)


def regressions(limit: str, found: Benchmark) -> ThresholdResult:
    """No regression since the iteration before: none that fresh trials confirm, or none listed at all."""
    name, compared = "no_regressions", found.comparison
    if compared is None:
        return ThresholdResult(name, limit, None, None, "no earlier iteration")
    if compared.refused:
        reason = f"{compared.previous} does not compare: {'; '.join(compared.refused)}"
        return ThresholdResult(name, limit, None, False, reason, (), True)
    listed = [one for one in compared.regressions if one.known_issue is None]
    if limit == "listed":
        bad, open_ = listed, []
    else:
        bad = [one for one in listed if one.confirmed]
        open_ = [one for one in listed if one.confirmed is None]
    if bad:
        return ThresholdResult(name, limit, f"{len(bad)} {limit}", False, causes=tuple(map(_told, bad)))
    if open_:
        told = "; ".join(map(_told, open_))
        price = compared.price_to_confirm
        cost = launches(compared.launches_to_confirm) + (f", ${price:.2f}" if price is not None else "")
        return ThresholdResult(
            name, limit, None, False, f"{told}; `assay run --confirm` ({cost})", tuple(map(_told, open_)), True
        )
    if compared.undecided:
        reason = f"no completed trial to compare: {', '.join(compared.undecided)}"
        return ThresholdResult(name, limit, None, False, reason, (), True)
    return ThresholdResult(name, limit, f"0 {limit}", True)


def _told(one: Change) -> str:
    text = f"{one.name} {one.before} before, {one.now} now"
    if one.fresh is None:
        return text
    p = f"p {one.fresh.p:.3f}" if one.fresh.p is not None else "too few to say"
    return f"{text}; fresh trials {one.fresh.before} and {one.fresh.now} ({p})"
