from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.benchmark.descriptive import delta_strings, spread
from skill_assay.errors import FailureKind
from skill_assay.model.benchmark import Benchmark, Spread
from skill_assay.model.grade import Decision, Evidence, Grade
from skill_assay.model.trial import Arm, Trial
from skill_assay.workspace.discovery import discover
from tests.made import foreign, grading, made_iteration, made_plan, made_trial

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def benchmark(tmp_path: Path, trials: list[Trial], **plan: object) -> Benchmark:
    evals = tuple(dict.fromkeys(trial.id.eval_id for trial in trials))
    count = max(trial.id.repeat for trial in trials)
    made = made_plan(evals, count, **plan)  # type: ignore[arg-type]
    return aggregate(discover(made_iteration(tmp_path, made, trials).path), now=NOW)


def pairs(*marks: tuple[str, str], repeat: int = 1) -> list[Trial]:
    """One eval a pair: marks with the skill, marks without."""
    return [
        made_trial(f"e{number}", arm, repeat, mark)
        for number, both in enumerate(marks)
        for arm, mark in zip(("with_skill", "without_skill"), both, strict=True)
    ]


def test_a_spread_is_the_sample_s(tmp_path: Path) -> None:
    assert spread([1.0, 0.0, 0.5]) == Spread(0.5, 0.5, 0.0, 1.0, 3)
    assert spread([0.7]) == Spread(0.7, 0.0, 0.7, 0.7, 1)
    assert spread([]) is None, "unknown is not 0"


def test_fault_01_what_failed_outside_the_agent_s_work_is_in_no_rate_and_counted(tmp_path: Path) -> None:
    found = benchmark(
        tmp_path,
        [
            made_trial(marks="pp", repeat=1),
            made_trial(marks="pp", repeat=2, failure=FailureKind.RATE_LIMITED),
            made_trial(marks="pp", repeat=3, failure=FailureKind.TIME_LIMIT),
            *(made_trial(arm="without_skill", marks="pf", repeat=k) for k in (1, 2, 3)),
        ],
    )
    assert found.primary.pass_rate == Spread(1.0, 0.0, 1.0, 1.0, 1)
    assert (found.primary.completed, found.primary.requested) == (1, 3)
    assert found.primary.excluded == {"rate limit": 1, "time limit": 1}
    assert [(one.number, one.reason, one.failure) for one in found.exclusions] == [
        (2, "rate limit", "rate_limited"),
        (3, "time limit", "time_limit"),
    ]
    assert any("time limits fell unevenly: 1 in with_skill, 0 in without_skill" in note for note in found.notes)
    assert any("lost one trial of with_skill: rate limit" in note for note in found.notes)


def test_an_agent_s_own_failure_counts(tmp_path: Path) -> None:
    found = benchmark(tmp_path, [made_trial(marks="ff", failure=FailureKind.AGENT_LIMIT)])
    assert found.primary.pass_rate == Spread(0.0, 0.0, 0.0, 0.0, 1)
    capped = benchmark(tmp_path / "2", [made_trial(failure=FailureKind.TRIAL_CAP)])
    assert capped.primary.capped == 1


def test_fault_15_the_sign_of_the_difference_is_that_of_the_roles(tmp_path: Path) -> None:
    arms = (Arm("zz", "primary", "x"), Arm("aa", "baseline", "x"))
    trials = [made_trial(arm="zz", marks="pp"), made_trial(arm="aa", marks="ff")]
    assert delta_strings(benchmark(tmp_path, trials, arms=arms))["pass_rate"] == "+1.00"


def test_deltas_are_strings_and_leave_out_what_is_unknown(tmp_path: Path) -> None:
    trials = [
        made_trial(marks="pp", seconds=41.5),
        made_trial(arm="without_skill", marks="pf", seconds=33.0, tokens=None),
    ]
    assert delta_strings(benchmark(tmp_path, trials)) == {"pass_rate": "+0.50", "time_seconds": "+8.5"}


def test_ratios_below_one_are_cheaper(tmp_path: Path) -> None:
    trials = [
        made_trial(marks="pp", tokens=45000, seconds=30),
        made_trial(arm="without_skill", tokens=62000, seconds=40),
    ]
    found = benchmark(tmp_path, trials)
    assert found.improvement_ratio == 2.0
    assert round(found.token_savings_ratio or 0, 2) == 0.73
    assert found.time_savings_ratio == 0.75


def test_no_ratio_to_a_baseline_of_zero_or_none(tmp_path: Path) -> None:
    assert benchmark(tmp_path / "1", pairs(("p", "f"))).improvement_ratio is None
    only = benchmark(tmp_path / "2", [made_trial(), made_trial(arm="without_skill", failure=FailureKind.CRASHED)])
    assert only.improvement_ratio is None


def test_fault_29_expectations_that_cannot_tell_the_arms_apart_are_named(tmp_path: Path) -> None:
    found = benchmark(tmp_path, [*pairs(("pppf", "pffu")), *pairs(("pfpf", "pffu"), repeat=2)])
    assert [(one.text, one.passed, one.trials) for one in found.dead] == [("one", True, 4)]
    assert any('"one" of e0 passes in both arms every time' in note for note in found.notes)
    failing = benchmark(tmp_path / "2", pairs(("pf", "ff")))
    assert any('"two" of e0 fails in both arms every time' in note for note in failing.notes)


def test_an_expectation_decided_in_one_arm_only_is_not_called_dead(tmp_path: Path) -> None:
    assert benchmark(tmp_path / "1", pairs(("p", "u"))).dead == ()
    assert benchmark(tmp_path / "2", [made_trial(marks="p")]).dead == ()


def test_ungraded_expectations_are_counted_and_in_no_rate(tmp_path: Path) -> None:
    found = benchmark(tmp_path, pairs(("pu", "pu"), ("uu", "uu")))
    assert found.primary.pass_rate == Spread(1.0, 0.0, 1.0, 1.0, 1)
    assert found.ungraded == {"one": 2, "two": 4}
    assert any("2 expectations stayed ungraded (6 times)" in note for note in found.notes)


def test_activation_is_a_share_of_what_one_can_tell(tmp_path: Path) -> None:
    trials = [made_trial(repeat=k, used=used) for k, used in enumerate((True, False, None), start=1)]
    found = benchmark(tmp_path, trials)
    assert (found.primary.used, found.primary.use_known) == (1, 2)
    assert any("the skill was used in 1 of 2 trials" in note for note in found.notes)


def test_reliability_of_an_eval(tmp_path: Path) -> None:
    marks = {"steady": "ppp", "wobbly": "pfp", "single": "p"}
    trials = [made_trial(name, marks=mark, repeat=k) for name, row in marks.items() for k, mark in enumerate(row, 1)]
    found = benchmark(tmp_path, trials)
    labels = {one.eval.key: one.arms["with_skill"].reliability for one in found.evals}
    assert labels == {"steady": "high", "wobbly": "low", "single": "unreliable"}


def test_stability_is_about_the_suite_s_mean_per_repeat(tmp_path: Path) -> None:
    steady = [*pairs(("p", "p"), ("f", "f")), *pairs(("f", "p"), ("p", "f"), repeat=2)]
    assert benchmark(tmp_path / "1", steady).primary.stable is True
    moving = [*pairs(("p", "p"), ("p", "f")), *pairs(("f", "p"), ("f", "f"), repeat=2)]
    assert benchmark(tmp_path / "2", moving).primary.stable is False
    assert benchmark(tmp_path / "3", pairs(("p", "f"))).primary.stable is None


def test_a_partial_benchmark_says_it_is_partial(tmp_path: Path) -> None:
    plan = made_plan(("dates",), 3)
    found = aggregate(discover(made_iteration(tmp_path, plan, [made_trial()]).path))
    assert found.partial
    assert found.missing == 5
    assert any("partial: 5 of 6 trials missing" in note for note in found.notes)


def test_a_simulated_arm_labels_the_benchmark(tmp_path: Path) -> None:
    found = benchmark(tmp_path, [made_trial()], agents={"with_skill": {"simulated": True}})
    assert found.simulated
    assert found.notes[0].startswith("simulated")


def test_a_foreign_workspace_says_how_its_roles_were_told(tmp_path: Path) -> None:
    root = foreign(tmp_path, {f"eval-1/{arm}/grading.json": grading("p") for arm in ("with_skill", "old_skill")})
    found = aggregate(discover(root))
    assert found.foreign
    assert any("with_skill as primary, old_skill as baseline" in note for note in found.notes)
    assert not any("--resume" in note for note in found.notes)


@pytest.mark.parametrize(("limit", "met"), [(0.75, True), (0.7501, False)])
def test_a_value_equal_to_its_threshold_passes(tmp_path: Path, limit: float, met: bool) -> None:
    settings = {"thresholds": {"min_pass_rate": limit, "max_avg_tokens": 1000}}
    [rate, tokens] = benchmark(tmp_path, pairs(("pppf", "f")), settings=settings).thresholds
    assert (rate.name, rate.value, rate.met) == ("min_pass_rate", 0.75, met)
    assert (tokens.value, tokens.met) == (1000, True)


def test_what_a_threshold_cannot_know_is_skipped_and_fails_nothing(tmp_path: Path) -> None:
    settings = {"thresholds": {"max_avg_tokens": 5, "min_improvement_ratio": 1.0}}
    found = benchmark(
        tmp_path,
        [made_trial(tokens=None), made_trial("dates", "without_skill", failure=FailureKind.CRASHED)],
        settings=settings,
    )
    assert [(one.met, one.note) for one in found.thresholds] == [
        (None, "tokens unknown"),
        (None, "no completed baseline trial"),
    ]
    assert any("threshold min_improvement_ratio skipped" in note for note in found.notes)


@pytest.mark.parametrize(("ours", "met"), [("p", True), ("f", False)])
def test_a_baseline_of_zero_makes_the_ratio_infinite(tmp_path: Path, ours: str, met: bool) -> None:
    settings = {"thresholds": {"min_improvement_ratio": 1.5}}
    [one] = benchmark(tmp_path, pairs((ours, "f")), settings=settings).thresholds
    assert (one.value, one.met) == (None, met)


def test_decisions_by_pictures_are_counted(tmp_path: Path) -> None:
    """They are allowed though no program looks them up; a judge that saw no evidence names no place."""
    by_picture = Grade("one", Decision.PASSED, "seen", "judge", places=(Evidence("outputs/plot.png"),), verified=None)
    unseen = Grade("two", Decision.FAILED, "no evidence", "judge", verified=None)
    quoted = Grade("three", Decision.PASSED, "quoted", "judge", places=(Evidence("answer.md", 1),), verified=True)
    trials = [*pairs(("ppp", "ppp"))]
    trials[0] = replace(trials[0], grades=(by_picture, unseen, quoted))
    notes = [note for note in benchmark(tmp_path, trials).notes if "pictures" in note]
    assert notes == [
        "1 decision of the judge rests on pictures, which no program looks up again; "
        "the first in eval-e0/with_skill/run-1"
    ]
