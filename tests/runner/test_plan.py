"""The order of trials, and what makes two plans fit together."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.model.plan import Plan
from skill_assay.model.trial import Arm, Limits
from skill_assay.runner.plan import differences, interleave

IDS = st.lists(st.text("abc123", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)


@given(IDS, st.integers(1, 4), st.integers(0, 10))
def test_every_trial_stands_in_the_order_once(ids: list[str], trials: int, seed: int) -> None:
    order = interleave(ids, ["with_skill", "without_skill"], trials, seed)
    assert Counter(order).most_common(1)[0][1] == 1
    assert len(order) == len(ids) * 2 * trials


@given(IDS, st.integers(1, 4), st.integers(0, 10))
def test_fault_11_arms_run_side_by_side(ids: list[str], trials: int, seed: int) -> None:
    order = interleave(ids, ["a", "b", "c"], trials, seed)
    for start in range(0, len(order), 3):
        block = order[start : start + 3]
        assert len({(trial.eval_id, trial.repeat) for trial in block}) == 1
        assert {trial.arm for trial in block} == {"a", "b", "c"}


@given(IDS, st.integers(1, 3), st.integers(0, 10))
def test_more_repeats_leave_the_order_of_the_others_alone(ids: list[str], trials: int, seed: int) -> None:
    short = interleave(ids, ["a", "b"], trials, seed)
    assert interleave(ids, ["a", "b"], trials + 1, seed)[: len(short)] == short


def test_no_arm_always_goes_first() -> None:
    firsts = Counter(trial.arm for trial in interleave([str(n) for n in range(50)], ["a", "b"], 1, 42)[::2])
    assert min(firsts.values()) > 10


def plan(**changes: object) -> Plan:
    base = Plan(
        skill_name="s",
        skill_path="s",
        iteration=1,
        arms=(Arm("with_skill", "primary", "x"), Arm("without_skill", "baseline", "x")),
        order=(),
        trials=3,
        seed=42,
        limits=Limits(),
        digests={"skill": "a" * 64, "graders": "g", "eval:1": "e", "arm:with_skill": "a", "arm:without_skill": ""},
        agents={"with_skill": {"agent": "x", "agent_version": "1", "model": None}},
    )
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def test_a_plan_fits_itself_and_added_evals_are_no_change() -> None:
    assert differences(plan(), plan()) == []
    assert differences(plan(), plan(trials=5, digests={**plan().digests, "eval:2": "new"})) == []


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        (plan(digests={**plan().digests, "skill": "b" * 64}), "the skill changed"),
        (plan(digests={**plan().digests, "eval:1": "other"}), "the eval 1 changed"),
        (plan(digests={**plan().digests, "graders": "h"}), "the graders changed"),
        (plan(digests={**plan().digests, "arm:without_skill": "z"}), "the skill of the arm without_skill changed"),
        (plan(agents={"with_skill": {"agent": "x", "agent_version": "2", "model": None}}), "agent version"),
        (plan(agents={"with_skill": {"agent": "x", "agent_version": "1", "model": "m"}}), "model of with_skill"),
        (plan(seed=1), "the seed was 42, now 1"),
        (plan(arms=plan().arms[:1]), "the arms were"),
    ],
)
def test_each_change_is_named(changed: Plan, word: str) -> None:
    assert any(word in said for said in differences(plan(), changed))
