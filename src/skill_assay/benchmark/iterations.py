"""One iteration against an earlier one: whether they compare, what changed, and what fresh trials confirm.

A regression is *listed* when the majority of an eval's trials all passed before and does not now. At three trials a
listed one is a question: ten evals of middling difficulty list one in most comparisons of a skill with itself. It is
*confirmed* by fresh trials of both versions alone (one-sided Fisher p at most 0.05), never by those that listed it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from skill_assay.errors import InputError, NotFoundError
from skill_assay.model.benchmark import FoundArm, FoundEval, Run
from skill_assay.model.comparison import Change, Comparison, Fresh, Listed, Tally
from skill_assay.workspace.discovery import Found, discover
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.suites import suite_of

__all__ = ["FRESH_TRIALS", "compare", "fresh_trials", "name_of", "previous_of"]

FRESH_TRIALS = 6
"""Fewer completed fresh trials on a side confirm nothing."""

Pairs = dict[str, tuple[Tally, Tally]]


def previous_of(iteration: Iteration, named: str | None = None) -> Iteration | None:
    """The earlier iteration: the one named, else the newest one before that has a record; `None` where there is none.

    Of those before, one of the same agent and model goes first, and others of the same suite were never before.

    Args:
        iteration: the later one.
        named: `iteration-2`, `2`, a folder, or the benchmark.json of one.

    Raises:
        InputError: what was named is no other iteration.
    """
    if named is None:
        return _newest_before(iteration)
    place = Path(named).expanduser()
    if not place.exists():
        number = named.removeprefix("iteration-")
        place = iteration.path.parent / (f"iteration-{number}" if number.isdigit() else named)
    if place.is_file():
        place = place.parent
    if not place.is_dir():
        raise NotFoundError("--previous names no iteration", found=named, expected="iteration-N or its folder")
    if place.resolve() == iteration.path.resolve():
        raise InputError("--previous names the iteration itself", found=named)
    return Iteration(place)


def _newest_before(iteration: Iteration) -> Iteration | None:
    beside = _of_its_suite(iteration)
    ours, other = iteration.asked(), None
    for one in reversed(Workspace(iteration.path.parent).iterations()):
        if one.number >= iteration.number or one.number in beside or not one.has_plan:
            continue
        alike = ours is not None and one.asked() == ours
        if (alike or other is None) and _any_record(one):
            if alike:
                return one
            other = one
    return other


def _of_its_suite(iteration: Iteration) -> tuple[int, ...]:
    """Nothing where the record of suites is damaged: an iteration's numbers do not rest on it."""
    try:
        suite = suite_of(iteration)
    except InputError:
        return ()
    return suite.iterations if suite else ()


def _any_record(iteration: Iteration) -> bool:
    return next(iteration.path.glob("*/*/run-*/trial.json"), None) is not None


def name_of(earlier: Iteration, now: Found) -> str:
    """`iteration-2` beside the later one, else its path."""
    beside = earlier.path.resolve().parent == now.root.resolve().parent
    return earlier.path.name if beside else str(earlier.path)


def fresh_trials(folder: Path) -> Pairs:
    """Tallies (before, now) of every eval run afresh in both versions; nothing where nobody did."""
    pairs: Pairs = {}
    for iteration in Workspace(folder).iterations():
        try:
            found = discover(iteration.path)
        except NotFoundError:
            continue
        ours, theirs = (_runs(found, role) for role in ("primary", "baseline"))
        for key in dict.fromkeys(run.eval.key for run in (*ours, *theirs)):
            before, now = pairs.get(key, (Tally(0, 0), Tally(0, 0)))
            pairs[key] = before + _tally(theirs, key), now + _tally(ours, key)
    return pairs


def compare(
    before: Found, now: Found, *, name: str, number: int = 0, common: bool = False, fresh: Pairs | None = None
) -> Comparison:
    """What changed from one iteration to the next.

    Args:
        before: the earlier one.
        now: the later one.
        name: what to call the earlier one.
        number: its number.
        common: compare what both have unchanged, instead of refusing where their evals differ.
        fresh: tallies (before, now) of trials run to confirm.
    """
    barring, remarks = _conditions(before, now)
    uneven = _uneven(before, now)
    keys = [key for key in _keys(now) if key in set(_keys(before)) and key not in uneven]
    reasons = barring + ([] if common else list(uneven.values()))
    if common:
        remarks += uneven.values()
    if not keys:
        reasons.append("they have no eval in common")
    if reasons:
        return Comparison(name, number, tuple(dict.fromkeys(reasons)), common, tuple(remarks))
    ours, theirs = (_only(_runs(found, "primary"), keys) for found in (now, before))
    evals = {one.key: one for one in now.evals}
    pairs = {key: (_tally(theirs, key), _tally(ours, key)) for key in keys}
    changes = tuple(_changes(evals, pairs, fresh or {}))
    to_run = sum(one.confirmed is None for one in changes) * 2 * FRESH_TRIALS
    price = _mean(ours, "cost_usd")
    return Comparison(
        previous=name,
        number=number,
        common=common,
        remarks=tuple(dict.fromkeys(remarks)),
        evals=tuple(keys),
        figures={
            word: (_mean(theirs, meter), _mean(ours, meter))
            for word, meter in (("pass_rate", "score"), ("tokens", "tokens"), ("time_seconds", "seconds"))
        },
        changes=changes,
        undecided=tuple(evals[key].name for key, pair in pairs.items() if not all(side.completed for side in pair)),
        launches_to_confirm=to_run,
        price_to_confirm=None if price is None else price * to_run,
    )


def _keys(found: Found) -> list[str]:
    return [one.key for one in found.evals]


def _changes(evals: dict[str, FoundEval], pairs: Pairs, fresh: Pairs) -> Iterator[Change]:
    """Regressions, then improvements, each in the order of evals."""
    wanted: dict[Listed, tuple[bool, bool]] = {"regression": (True, False), "improvement": (False, True)}
    for kind, majorities in wanted.items():
        for key, (before, now) in pairs.items():
            if (before.majority, now.majority) == majorities:
                again = _fresh(kind, *fresh[key]) if key in fresh else None
                yield Change(key, evals[key].name, kind, before, now, evals[key].known_issue, again)


def _fresh(kind: Listed, before: Tally, now: Tally) -> Fresh:
    if min(before.completed, now.completed) < FRESH_TRIALS:
        return Fresh(before, now, None)
    from skill_assay.stats.counts import fisher_worse

    first, second = (before, now) if kind == "regression" else (now, before)
    return Fresh(before, now, fisher_worse(first.passed, first.completed, second.passed, second.completed))


def _conditions(before: Found, now: Found) -> tuple[list[str], list[str]]:
    """What forbids the comparison whatever the evals, and what is only to be known."""
    old, new = before.plan, now.plan
    first, second = _primary(before), _primary(now)
    barring = [
        f"the {word} was {a}, now {b}"
        for word, a, b in (("agent", first.agent, second.agent), ("model", _model(before), _model(now)))
        if a != b and a and b
    ]
    if old is None or new is None:
        return barring, ["nothing says whether agent, graders and limits were the same"]
    facts = [plan.agents.get(arm.name, {}) for plan, arm in ((old, first), (new, second))]
    if facts[0].get("invoke") != facts[1].get("invoke"):
        barring.append(f"the skill was invoked as {facts[0].get('invoke')}, now {facts[1].get('invoke')}")
    if old.digests.get("graders") != new.digests.get("graders"):
        barring.append("the graders differ (`assay grade` grades the earlier one by those of today)")
    if bool(old.settings.get("notes")) != bool(new.settings.get("notes")):
        barring.append("only one of them asked the agent for notes")
    if old.settings.get("judge") != new.settings.get("judge"):
        barring.append(f"the judge was {old.settings.get('judge')}, now {new.settings.get('judge')}")
    modes = [plan.settings.get("judge_mode") or "inline" for plan in (old, new)]
    if modes[0] != modes[1]:
        barring.append(f"the judge's mode was {modes[0]}, now {modes[1]}")
    remarks = []
    if facts[0].get("agent_version") != facts[1].get("agent_version"):
        remarks.append(f"the agent's version was {facts[0].get('agent_version')}, now {facts[1].get('agent_version')}")
    if old.limits != new.limits:
        remarks.append("the limits differ")
    remarks += [
        f"{word} was {old.settings.get(word)}, now {new.settings.get(word)}"
        for word in ("allow", "sandbox", "timeouts")
        if old.settings.get(word) != new.settings.get(word)
    ]
    return barring, remarks


def _model(found: Found) -> str | None:
    """The model asked for; where none was, those that answered."""
    arm = _primary(found)
    answered = sorted({run.model for run in found.runs if run.arm == arm.name and run.model})
    return arm.model or ", ".join(answered) or None


def _uneven(before: Found, now: Found) -> dict[str, str]:
    """Evals that only one of them has, or that changed: key → in words."""
    old, new = ({one.key: one for one in found.evals} for found in (before, now))
    found = {key: f"the eval {one.name} is new" for key, one in new.items() if key not in old}
    found |= {key: f"the eval {one.name} is gone" for key, one in old.items() if key not in new}
    for key in old.keys() & new.keys():
        if _changed(before, now, key, old[key], new[key]):
            found[key] = f"the eval {new[key].name} changed"
    return {key: found[key] for key in [*new, *old] if key in found}


def _changed(before: Found, now: Found, key: str, old: FoundEval, new: FoundEval) -> bool:
    if before.plan and now.plan:
        name = f"eval:{key}"
        return before.plan.digests.get(name) != now.plan.digests.get(name)
    return old.prompt is not None and new.prompt is not None and old.prompt.strip() != new.prompt.strip()


def _primary(found: Found) -> FoundArm:
    return next((arm for arm in found.arms if arm.role == "primary"), found.arms[0])


def _runs(found: Found, role: str) -> list[Run]:
    name = next((arm.name for arm in found.arms if arm.role == role), None)
    return [run for run in found.runs if run.arm == name]


def _only(runs: Sequence[Run], keys: Collection[str]) -> list[Run]:
    kept = set(keys)
    return [run for run in runs if run.eval.key in kept]


def _tally(runs: Sequence[Run], key: str) -> Tally:
    scores = [score for run in runs if run.eval.key == key and (score := run.score) is not None]
    return Tally(sum(score == 1.0 for score in scores), len(scores))


def _mean(runs: Sequence[Run], meter: str) -> float | None:
    """Over the trials that count."""
    values = [value for run in runs if run.score is not None and (value := getattr(run, meter)) is not None]
    return math.fsum(values) / len(values) if values else None
