from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import POLICIES, FailureKind, NotFoundError
from skill_assay.model.trial import Arm, State, Trial, TrialId
from skill_assay.workspace.discovery import discover
from skill_assay.workspace.own import arms_of_plan
from tests.made import made_eval, made_iteration, made_plan, made_trial


@pytest.mark.parametrize("kind", list(FailureKind))
def test_fault_01_what_a_run_counts_as_follows_the_failure_table(tmp_path: Path, kind: FailureKind) -> None:
    iteration = made_iteration(tmp_path, made_plan(), [made_trial(marks="pp", failure=kind)])
    [run] = discover(iteration.path).runs
    assert run.failure == kind
    assert (run.excluded is None) == POLICIES[kind].counts
    assert (run.score is None) != POLICIES[kind].counts


def test_every_reader_of_a_trial_agrees(tmp_path: Path) -> None:
    trials = [
        made_trial(marks="pfp", repeat=1, used=True),
        made_trial(marks="ppu", repeat=2, tokens=None),
        made_trial(marks="uuu", repeat=3),
        made_trial(marks="pp", repeat=4, failure=FailureKind.RATE_LIMITED),
        made_trial(marks="pp", repeat=5, failure=FailureKind.TRIAL_CAP, seconds=0.5),
    ]
    iteration = made_iteration(tmp_path, made_plan(trials=5), trials, [made_eval(texts=["one", "two", "three"])])
    for run, trial in zip(discover(iteration.path).runs, trials, strict=True):
        assert run.score == trial.score
        assert trial.last is not None
        assert run.seconds == trial.last.seconds
        assert run.tokens == (trial.last.usage.tokens.total if trial.last.usage.tokens else None)
        assert run.cost_usd == trial.last.usage.cost_usd
        assert run.skill_used == trial.skill_used
        assert run.tool_calls == 2
        assert run.model == "model-1"
        assert [one.text for one in run.expectations] == [grade.text for grade in trial.grades]
        assert [one.passed for one in run.expectations] == [grade.passed for grade in trial.grades]


def test_fault_32_activation_checks_and_info_never_enter_the_score(tmp_path: Path) -> None:
    trial = made_trial(marks="pfp")
    first, second, third = trial.grades
    grades = (first, dataclasses.replace(second, counted=False), dataclasses.replace(third, severity="info"))
    trial = dataclasses.replace(trial, grades=grades)
    [run] = discover(made_iteration(tmp_path, made_plan(), [trial]).path).runs
    assert run.score == 1.0
    assert run.decided == (1, 0)


def test_fault_15_roles_are_those_of_the_plan_whatever_the_names(tmp_path: Path) -> None:
    arms = (Arm("with_skill", "baseline", "x"), Arm("bare", "baseline", "x"), Arm("a", "primary", "x", "m"))
    assert [(arm.name, arm.role) for arm in arms_of_plan(made_plan(arms=arms))] == [
        ("a", "primary"),
        ("with_skill", "baseline"),
        ("bare", "other"),
    ]
    trials = [made_trial(arm="a"), made_trial(arm="bare"), made_trial(arm="with_skill")]
    iteration = made_iteration(tmp_path, made_plan(arms=arms), trials)
    assert [run.arm for run in discover(iteration.path).runs] == ["a", "with_skill", "bare"]
    asked = discover(iteration.path, baseline="bare")
    assert [(arm.name, arm.role, arm.model) for arm in asked.arms] == [
        ("a", "primary", "m"),
        ("bare", "baseline", None),
        ("with_skill", "other", None),
    ]


def test_planned_trials_without_a_record_are_missing_not_skipped(tmp_path: Path) -> None:
    iteration = made_iteration(tmp_path, made_plan(("dates", "rows"), 2), [made_trial()])
    with iteration.run_folder(TrialId("dates", "with_skill", 2)).attempt_sink(1) as sink:
        sink.line(b"{}", 0.0)
    found = discover(iteration.path)
    assert found.missing == 7
    assert found.skipped == ()
    assert [one.key for one in found.evals] == ["dates", "rows"]


def test_fault_02_an_iteration_without_a_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no trial is recorded"):
        discover(made_iteration(tmp_path, made_plan(), []).path)


def test_a_damaged_record_is_skipped_with_its_reason(tmp_path: Path) -> None:
    iteration = made_iteration(tmp_path, made_plan(trials=3), [made_trial(repeat=k) for k in (1, 2, 3)])
    iteration.run_folder(TrialId("dates", "with_skill", 2)).trial_path.write_text("{")
    iteration.run_folder(TrialId("dates", "with_skill", 3)).trial_path.write_text("{}")
    found = discover(iteration.path)
    assert len(found.runs) == 1
    assert ["does not parse" in one.reason for one in found.skipped] == [True, False]
    assert "damaged" in found.skipped[1].reason


def test_what_an_eval_weighs_and_its_known_issue_come_along(tmp_path: Path) -> None:
    one = made_eval(weight=2.0, known_issue="flaky", tags=("slow",), name="Dates", original_id="dates")
    [found] = discover(made_iteration(tmp_path, made_plan(), [made_trial()], [one]).path).evals
    assert (found.weight, found.known_issue, found.tags, found.name) == (2.0, "flaky", ("slow",), "Dates")
    assert found.prompt == "Do dates."


def test_a_numeric_id_stays_a_number(tmp_path: Path) -> None:
    one = made_eval("3", original_id=3)
    found = discover(made_iteration(tmp_path, made_plan(["3"]), [made_trial("3")], [one]).path)
    assert found.evals[0].id == 3
    assert found.missing == 1, "only the baseline is"


def test_fault_33_a_time_limit_counts_as_failed_only_on_request(tmp_path: Path) -> None:
    late = made_trial(failure=FailureKind.TIME_LIMIT)
    for how, score in (("exclude", None), ("fail", 0.0)):
        iteration = made_iteration(tmp_path / how, made_plan(settings={"timeouts": how}), [late])
        assert discover(iteration.path).runs[0].score == score


ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.none(), max_size=2)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += _paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _paths(item, (*path, index))
    return found


def _sample() -> dict[str, Any]:
    from skill_assay.formats.trial_record import trial_to_dict

    made: dict[str, Any] = json.loads(json.dumps(trial_to_dict(made_trial(failure=FailureKind.TRIAL_CAP))))
    return made


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(path=st.sampled_from(_paths(_sample())), value=ODD)
def test_any_damage_gives_a_run_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], value: Any
) -> None:
    iteration = made_iteration(tmp_path_factory.mktemp("ws"), made_plan(trials=2), [made_trial(), made_trial(repeat=2)])
    record = _sample()
    inner: Any = record
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    iteration.run_folder(TrialId("dates", "with_skill", 2)).trial_path.write_text(json.dumps(record))
    found = discover(iteration.path)
    assert len(found.runs) + len(found.skipped) == 2
    for run in found.runs:
        assert run.score is None or 0 <= run.score <= 1


def test_an_interrupted_trial_says_so(tmp_path: Path) -> None:
    trial = Trial(TrialId("dates", "with_skill", 1), State.INTERRUPTED)
    [run] = discover(made_iteration(tmp_path, made_plan(), [trial]).path).runs
    assert run.excluded == "interrupted"
