"""The members of a suite beside each other: each one's own effect, and the cheaper with the skill against the dearer
without it.

A cheaper member with the skill and a dearer one without it are two arms that happen to lie in two iterations: the same
evals, trials of their own, and so the same inference, paired by eval. "Cheaper" is the mean cost of a trial, the
skill's own cost included; where trials name no cost, list prices of the models decide, and else nothing is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skill_assay.agents.pricing import list_price
from skill_assay.benchmark.cells import outcome_of
from skill_assay.benchmark.derive import Derived
from skill_assay.benchmark.gate import gate
from skill_assay.benchmark.inference import infer
from skill_assay.errors import InputError
from skill_assay.model.benchmark import ArmFigures
from skill_assay.model.inference import InferenceSettings
from skill_assay.model.suite import Member, MemberRow, Rival, Suite, SuiteTable
from skill_assay.model.transcript import Tokens
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.suites import begun_iteration

__all__ = ["member_derived", "suite_table"]

_CHEAPER, _DEARER = "cheaper_with_skill", "dearer_without_skill"
_TYPICAL = Tokens(input=20_000, output=2_000)
"""What two models' list prices are compared on."""
_SETTINGS = (
    *("allow", "grader", "invoke", "judge", "judge_mode", "judge_votes", "margin", "mcp_config", "notes", "pass_env"),
    *("sandbox", "timeouts"),
)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A member with a benchmark."""

    member: Member
    derived: Derived

    @property
    def with_skill(self) -> ArmFigures:
        return self.derived.benchmark.primary

    @property
    def without(self) -> ArmFigures | None:
        """The arm that holds no skill; an older version is none."""
        plan = self.derived.found.plan
        bare = {arm.name for arm in plan.arms if arm.skill is None and arm.skill_name is None} if plan else set()
        return next((arm for arm in self.derived.benchmark.arms if arm.arm.name in bare), None)


def member_derived(workspace: Workspace, member: Member, derive: Callable[[Iteration], Derived]) -> Derived | str:
    """What a member's iteration says, or why it says nothing.

    Args:
        workspace: where it lies.
        member: whose it is.
        derive: from an iteration to its numbers.
    """
    try:
        iteration = begun_iteration(workspace, member)
        if iteration is None:
            return member.reason or "not run yet"
        found = derive(iteration)
    except InputError as error:
        return member.reason or str(error).splitlines()[0]
    if found.benchmark.primary.completed == 0:
        return member.reason or "no trial was graded"
    return found


def suite_table(workspace: Workspace, suite: Suite, members: Mapping[Member, Derived | str]) -> SuiteTable:
    """The table of a suite.

    Args:
        workspace: where its iterations lie.
        suite: which they are.
        members: what each of them says, from `member_derived`.
    """
    measured = [_Measured(member, found) for member, found in members.items() if isinstance(found, Derived)]
    rows = [
        MemberRow(member, error=found)
        if isinstance(found, str)
        else MemberRow(member, found.benchmark, found.inference, gate(found.benchmark))
        for member, found in members.items()
    ]
    margin = float(suite.settings.get("margin", 0.05))
    rivals, notes = _rivals(measured, margin, suite.seed)
    return SuiteTable(
        skill_name=next((one.derived.benchmark.skill_name for one in measured), workspace.path.name),
        rows=tuple(replace(row, adjusted_p=p) for row, p in zip(rows, _adjusted(rows), strict=True)),
        rivals=tuple(replace(one, adjusted_p=p) for one, p in zip(rivals, _adjusted(rivals), strict=True)),
        margin=margin,
        notes=tuple(notes),
    )


def _adjusted(ones: Sequence[MemberRow | Rival]) -> list[float | None]:
    """Benjamini-Hochberg over those that have a p value, each of the scope it speaks about."""
    from skill_assay.stats.counts import benjamini_hochberg

    tested = {at: one.inference.p for at, one in enumerate(ones) if one.inference and one.inference.p is not None}
    adjusted = dict(zip(tested, benjamini_hochberg([p for p in tested.values() if p is not None]), strict=True))
    return [adjusted.get(at) for at in range(len(ones))]


def _rivals(measured: Sequence[_Measured], margin: float, seed: int) -> tuple[list[Rival], list[str]]:
    rivals, notes = [], []
    unknown: set[frozenset[str]] = set()
    for second in measured:
        if second.without is None or second.without.completed == 0:
            notes.append(f"{second.member.label} has no graded trial without a skill: nothing is compared with it")
            continue
        for first in measured:
            if first is second:
                continue
            decided = _cheaper(first, second)
            if decided is None:
                unknown.add(frozenset((first.member.label, second.member.label)))
            elif decided[0]:
                rivals.append(_rival(first, second, decided[1], margin, seed))
    return rivals, [*dict.fromkeys(notes), *_unknown_prices(unknown)]


def _unknown_prices(pairs: set[frozenset[str]]) -> list[str]:
    """A line each for those of whose price nothing is known, however many they would have been compared with."""
    lines = []
    while pairs:
        count = Counter(label for pair in pairs for label in pair)
        most = min(count, key=lambda label: (-count[label], label))
        others = sorted(label for pair in pairs if most in pair for label in pair if label != most)
        named = " or ".join(part for part in (", ".join(others[:-1]), others[-1]) if part)
        lines.append(f"Whether {most} is cheaper than {named} is not known")
        pairs = {pair for pair in pairs if most not in pair}
    return lines


def _cheaper(first: _Measured, second: _Measured) -> tuple[bool, Any] | None:
    """Whether the first with the skill costs less than the second without it, and what says so."""
    assert second.without is not None
    ours, theirs = first.with_skill.cost_usd, second.without.cost_usd
    if ours is not None and theirs is not None:
        return ours.mean < theirs.mean, "measured cost"
    one, two = (list_price(_TYPICAL, member.model) for member in (first.member, second.member))
    return None if one is None or two is None else (one < two, "list prices")


def _rival(first: _Measured, second: _Measured, decided_by: Any, margin: float, seed: int) -> Rival:
    assert second.without is not None
    costs = [arm.cost_usd.mean if arm.cost_usd else None for arm in (first.with_skill, second.without)]
    found = Rival(first.member.label, second.member.label, costs[0], costs[1], decided_by)
    if reasons := _unlike(first.derived, second.derived):
        return replace(found, refused=tuple(reasons))
    outcomes = [
        replace(outcome_of(run), arm=name)
        for one, arm, name in ((first, first.with_skill, _CHEAPER), (second, second.without, _DEARER))
        for run in one.derived.found.runs
        if run.arm == arm.arm.name
    ]
    plan = first.derived.found.plan
    settings = InferenceSettings(margin=margin, seed=seed, timeouts=plan.timeouts if plan else "exclude")
    return replace(found, inference=infer(outcomes, _CHEAPER, _DEARER, settings))


def _unlike(first: Derived, second: Derived) -> list[str]:
    """How two members differ in more than agent and model, so that no difference can be laid at their door."""
    one, two = first.found.plan, second.found.plan
    if one is None or two is None:
        return ["nothing says what was run"]
    words = {"skill": "the skill", "graders": "the graders"}
    reasons = [f"{words[name]} differ" for name in words if one.digests.get(name) != two.digests.get(name)]
    evals = _evals(one.digests) ^ _evals(two.digests)
    reasons += ["the evals differ"] if evals else []
    reasons += [
        f"{name.replace('_', ' ')} differs" for name in _SETTINGS if one.settings.get(name) != two.settings.get(name)
    ]
    reasons += ["the limits differ"] if one.limits != two.limits else []
    simulated = {bool(facts.get("simulated")) for plan in (one, two) for facts in plan.agents.values()}
    return [*reasons, "one of them is simulated"] if len(simulated) > 1 else reasons


def _evals(digests: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(name, digest) for name, digest in digests.items() if name.startswith("eval:")}
