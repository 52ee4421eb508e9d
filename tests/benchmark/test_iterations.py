from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_assay.benchmark.derive import derive
from skill_assay.benchmark.files import write_benchmark
from skill_assay.benchmark.iterations import compare, fresh_trials, previous_of
from skill_assay.errors import InputError, NotFoundError
from skill_assay.model.comparison import Comparison, Tally
from skill_assay.model.trial import Arm
from skill_assay.workspace.discovery import discover
from skill_assay.workspace.store import Iteration
from tests.made import foreign, grading, made_iteration, made_plan, made_trial

AGENT = {"with_skill": {"agent": "claude-code", "agent_version": "2.1", "model": "m", "invoke": "told"}}


def iteration(tmp_path: Path, marks: dict[str, list[str]], tokens: int = 1000, **facts: Any) -> Iteration:
    """One eval a key, a trial a text of marks, the same in both arms."""
    digests = {"graders": "g", **{f"eval:{name}": "1" for name in marks}, **facts.pop("digests", {})}
    agents = {**AGENT, **facts.pop("agents", {})}
    plan = made_plan(tuple(marks), max(map(len, marks.values())), digests=digests, agents=agents, **facts)
    trials = [
        made_trial(name, arm, k, mark, tokens=tokens)
        for name, texts in marks.items()
        for k, mark in enumerate(texts, 1)
        for arm in ("with_skill", "without_skill")
    ]
    return made_iteration(tmp_path, plan, trials)


def compared(before: Iteration, now: Iteration, **more: Any) -> Comparison:
    return compare(discover(before.path), discover(now.path), name=before.path.name, **more)


def test_a_majority_lost_is_listed_and_a_majority_won_too(tmp_path: Path) -> None:
    first = iteration(tmp_path, {"a": ["pp", "pp", "pf"], "b": ["pf", "pf", "pp"], "c": ["pp", "pf", "pf"]})
    second = iteration(tmp_path, {"a": ["pp", "pf", "pf"], "b": ["pp", "pp", "pf"], "c": ["pf"] * 3}, tokens=900)
    found = compared(first, second)
    assert [(one.eval_id, str(one.before), str(one.now)) for one in found.regressions] == [("a", "2/3", "1/3")]
    assert [one.eval_id for one in found.improvements] == ["b"], "c had no majority to lose"
    assert all(one.confirmed is None for one in found.changes), "what listed them confirms nothing"
    assert found.figures["tokens"] == (1000.0, 900.0)
    assert found.launches_to_confirm == 24


def test_fault_17_only_fresh_trials_confirm(tmp_path: Path) -> None:
    first, second = iteration(tmp_path, {"a": ["pp"] * 3}), iteration(tmp_path, {"a": ["pf"] * 3})
    bad = compared(first, second, fresh={"a": (Tally(6, 6), Tally(1, 6))}).changes[0]
    assert bad.confirmed is True
    assert bad.fresh and bad.fresh.p == pytest.approx(7 / 924)
    unclear = compared(first, second, fresh={"a": (Tally(6, 6), Tally(4, 6))}).changes[0]
    assert unclear.confirmed is False
    assert compared(first, second, fresh={"a": (Tally(5, 5), Tally(0, 6))}).changes[0].confirmed is None, "too few"
    better = compared(second, first, fresh={"a": (Tally(1, 6), Tally(6, 6))}).changes[0]
    assert (better.kind, better.confirmed) == ("improvement", True), "the other direction likewise"


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"digests": {"eval:a": "2"}}, "the eval a changed"),
        ({"digests": {"graders": "h"}}, "the graders differ"),
        ({"agents": {"with_skill": {**AGENT["with_skill"], "invoke": "auto"}}}, "invoked as told, now auto"),
        ({"settings": {"judge": "opus"}}, "the judge was"),
        ({"settings": {"notes": True}}, "only one of them asked the agent for notes"),
    ],
)
def test_iterations_that_do_not_compare_are_named_and_refused(
    tmp_path: Path, facts: dict[str, Any], reason: str
) -> None:
    first = iteration(tmp_path, {"a": ["pp"], "b": ["pp"]})
    found = compared(first, iteration(tmp_path, {"a": ["pf"], "b": ["pf"]}, **facts))
    assert any(reason in text for text in found.refused)
    assert not found.changes and not found.figures


def test_the_common_part_is_compared_when_asked(tmp_path: Path) -> None:
    first = iteration(tmp_path, {"a": ["pp"], "b": ["pp"], "gone": ["pp"]})
    second = iteration(tmp_path, {"a": ["pf"], "b": ["pf"], "new": ["pp"]}, digests={"eval:b": "2"})
    assert set(compared(first, second).refused) == {
        "the eval b changed",
        "the eval new is new",
        "the eval gone is gone",
    }
    common = compared(first, second, common=True)
    assert (common.refused, common.evals) == ((), ("a",))
    assert [one.eval_id for one in common.regressions] == ["a"]
    assert "the eval b changed" in common.remarks
    third = iteration(tmp_path, {"x": ["pp"]})
    assert "they have no eval in common" in compared(first, third, common=True).refused


def test_another_agent_version_is_a_remark(tmp_path: Path) -> None:
    agents = {"with_skill": {**AGENT["with_skill"], "agent_version": "2.2"}}
    found = compared(iteration(tmp_path, {"a": ["pp"]}), iteration(tmp_path, {"a": ["pp"]}, agents=agents))
    assert not found.refused
    assert found.remarks == ("the agent's version was 2.1, now 2.2",)


def test_the_one_before_is_found_or_named(tmp_path: Path) -> None:
    first, second, third = (iteration(tmp_path, {"a": ["pp"]}) for _ in range(3))
    assert previous_of(first) is None
    assert previous_of(third) == second
    for named in ("1", "iteration-1", str(first.path), str(first.path / "plan.json")):
        chosen = previous_of(third, named)
        assert chosen is not None and chosen.path == first.path
    with pytest.raises(NotFoundError, match="names no iteration"):
        previous_of(third, "iteration-9")
    with pytest.raises(InputError, match="the iteration itself"):
        previous_of(third, "3")


def test_one_of_the_same_agent_goes_first_and_else_the_newest_with_a_record(tmp_path: Path) -> None:
    arms = (Arm("with_skill", "primary", "codex", skill=Path("skill")), Arm("without_skill", "baseline", "codex"))
    ours, other = iteration(tmp_path, {"a": ["pp"]}), iteration(tmp_path, {"a": ["pp"]}, arms=arms)
    made_iteration(tmp_path, made_plan(("a",)), [])
    last = iteration(tmp_path, {"a": ["pp"]})
    assert previous_of(last) == ours, "not the newest of all, and not one of the same agent without a record"
    (ours.path / "plan.json").write_text("{", encoding="utf-8")
    assert previous_of(last) == other, "whom a damaged plan asked is not known"
    (other.path / "plan.json").unlink()
    assert previous_of(last) == ours


def test_the_comparison_is_derived_and_written(tmp_path: Path) -> None:
    iteration(tmp_path, {"a": ["pp"]})
    second = iteration(tmp_path, {"a": ["pf"]})
    derived = derive(second.path)
    assert derived.benchmark.comparison is not None
    write_benchmark(second, derived.benchmark)
    text = (second.path / "against-iteration-1.json").read_text("utf-8")
    assert '"previous": "iteration-1"' in text and '"confirmed": null' in text


def test_another_tool_s_workspace_is_compared_where_named(tmp_path: Path) -> None:
    arms = ("with_skill", "without_skill")
    theirs = foreign(tmp_path / "old", {f"eval-1/{arm}/grading.json": grading("p") for arm in arms})
    ours = foreign(tmp_path / "new", {f"eval-1/{arm}/grading.json": grading("f") for arm in arms})
    assert derive(ours).benchmark.comparison is None
    found = derive(ours, previous=str(theirs)).benchmark.comparison
    assert found is not None and [one.kind for one in found.changes] == ["regression"]
    assert found.remarks == ("nothing says whether agent, graders and limits were the same",)


def test_fresh_trials_of_several_tries_are_pooled(tmp_path: Path) -> None:
    for marks in (["pp"] * 3, ["pf"] * 3):
        iteration(tmp_path, {"a": marks})
    assert fresh_trials(tmp_path / "pdf-workspace") == {"a": (Tally(3, 6), Tally(3, 6))}
    assert fresh_trials(tmp_path / "nowhere") == {}
