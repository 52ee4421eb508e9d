"""A baseline taken unchanged from an earlier iteration: cheaper, and marked, since it did not run side by side."""

from __future__ import annotations

from dataclasses import replace

from skill_assay.errors import InputError
from skill_assay.model.plan import Plan
from skill_assay.model.trial import State, TrialId
from skill_assay.runner.session import Session
from skill_assay.workspace.store import Iteration

__all__ = ["adopt", "earlier_baseline", "reusable"]

_SAME_FACTS = ("agent", "agent_version", "model", "invoke")
_SAME_SETTINGS = ("allow", "mcp_config", "pass_env", "sandbox", "timeouts", "judge")


def earlier_baseline(session: Session, named: str) -> Iteration:
    """The iteration whose baseline is meant.

    Args:
        session: a session that begins an iteration.
        named: `iteration-N`, `N`, or `newest`.

    Raises:
        InputError: there is none.
    """
    kept = [one for one in session.workspace.iterations() if one.has_plan]
    number = named.removeprefix("iteration-")
    chosen = kept if named == "newest" else [one for one in kept if number.isdigit() and one.number == int(number)]
    if not chosen:
        have = ", ".join(one.path.name for one in kept) or "no iteration yet"
        raise InputError("--reuse-baseline names no iteration", found=named, expected=have)
    return chosen[-1]


def reusable(session: Session, source: Iteration) -> list[TrialId]:
    """The baseline trials of the session's plan that the earlier iteration already has, unchanged.

    Evals that are new or changed are not among them: their baseline is run.

    Raises:
        InputError: the baselines are not the same, in what the message says.
    """
    old, new = source.read_plan(), session.plan
    arms = [arm.name for arm in new.arms if arm.role == "baseline"]
    changed = [text for arm in arms for text in _differences(old, new, arm)]
    if changed:
        raise InputError(
            f"The baseline of {source.path.name} can't be reused: {'; '.join(dict.fromkeys(changed))}",
            hint="Leave --reuse-baseline out to run it afresh.",
        )
    same = {key for key, digest in new.digests.items() if key.startswith("eval:") and old.digests.get(key) == digest}
    wanted = [one for one in new.order if one.arm in arms and f"eval:{one.eval_id}" in same]
    found = [one for one in wanted if source.is_done(one) and source.load_trial(one).state is State.COMPLETED]
    if not found:
        raise InputError(f"{source.path.name} has no completed baseline trial of these evals to reuse")
    return found


def _differences(old: Plan, new: Plan, arm: str) -> list[str]:
    if arm not in {one.name for one in old.arms}:
        return [f"it has no arm {arm}"]
    changed = []
    if old.digests.get(f"arm:{arm}") != new.digests.get(f"arm:{arm}"):
        changed.append(f"the skill of {arm} differs")
    if old.digests.get("graders") != new.digests.get("graders"):
        changed.append("the graders differ")
    if old.limits != new.limits:
        changed.append("the limits differ")
    before, now = old.agents.get(arm, {}), new.agents.get(arm, {})
    changed += [
        f"{fact.replace('_', ' ')} was {before.get(fact)}, now {now.get(fact)}"
        for fact in _SAME_FACTS
        if before.get(fact) != now.get(fact)
    ]
    changed += [f"{name} differs" for name in _SAME_SETTINGS if old.settings.get(name) != new.settings.get(name)]
    return changed


def adopt(session: Session, source: Iteration, trials: list[TrialId]) -> None:
    """Begin the session's iteration with copies of the trials, and mark its plan."""
    mark = {"from": source.path.name, "trials": len(trials)}
    session.plan = replace(session.plan, settings={**session.plan.settings, "reused_baseline": mark})
    iteration = session.workspace.next_iteration()
    iteration.write_plan(replace(session.plan, iteration=iteration.number))
    for trial in trials:
        iteration.adopt(trial, source)
    session.iteration = iteration
