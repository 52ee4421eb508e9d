"""The answer as a person reads it, word for word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skill_assay.model.inference import Early, Inference, InferenceSettings, Price, TimeLimits, Way
from skill_assay.reports.figures import money, p_text, points, span, span_of
from skill_assay.reports.verdict import headline
from skill_assay.reports.verdict_explained import explanation
from skill_assay.stats.results import (
    EffectAsUsed,
    FixedEvals,
    Interval,
    RatioResult,
    SampledEvals,
    SignTest,
    TestResult,
)

PRICE = Price(
    trials=3.0,
    smallest_visible=0.28,
    target=0.05,
    evals_needed=232,
    trials_needed=None,
    cost_per_launch=0.065,
    launches_by_evals=1392,
    launches_by_trials=None,
)


def inference(n: int = 8, **changes: object) -> Inference:
    fixed = FixedEvals(0.31, TestResult(0.001, True), 0.05, 20.0, Interval(0.22, 0.40), Interval(0.24, 0.38, 0.9))
    sampled = SampledEvals(
        0.31,
        float(n),
        TestResult(0.0156, True),
        SignTest(7, 1, 0, 0.0156),
        False,
        0.2,
        0.08,
        n - 1.0,
        Interval(0.12, 0.50),
        Interval(0.16, 0.46, 0.9),
    )
    base = Inference(
        "better",
        False,
        "tasks_like_these",
        "with_skill",
        "without_skill",
        0.31,
        n,
        float(n),
        {"with_skill": 24, "without_skill": 24},
        {"with_skill": 0, "without_skill": 0},
        InferenceSettings(),
        these_evals=fixed,
        tasks_like_these=sampled,
        price=PRICE,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def equal(found: Inference, effect: float, p: float, n: int) -> Inference:
    assert found.tasks_like_these and found.these_evals
    ties = n if effect == 0 else 0
    sampled = SampledEvals(
        effect,
        float(n),
        TestResult(p, True),
        SignTest(n - ties, ties, 0, p),
        True,
        no_interval="every eval shows the same difference",
        differ_at_most=1 - 0.05 ** (1 / n),
    )
    fixed = FixedEvals(effect, TestResult(p, True), no_interval="no spread inside any eval")
    return replace(found, effect=effect, n_evals=n, tasks_like_these=sampled, these_evals=fixed)


def test_the_sketch_of_a_first_run() -> None:
    assert headline(inference()) == (
        "Better with the skill: +31 points on tasks like these (95 % +12 to +50, p 0.02, 8 evals)"
    )


def test_five_evals_or_fewer() -> None:
    found = inference(5, scope="these_evals")
    assert headline(found) == (
        "Better on these 5 evals: +31 points (+22 to +40). Say more about other tasks with at least 6."
    )


def test_few_evals_undecided_or_without_an_interval() -> None:
    found = inference(1, scope="these_evals", verdict="inconclusive")
    assert headline(found).startswith("Cannot tell on this 1 eval: +31 points (+22 to +40, p 0.001).")
    assert found.these_evals
    bare = replace(found.these_evals, interval=None, no_interval="one trial an arm")
    assert "p 0.001; no interval: one trial an arm" in headline(replace(found, these_evals=bare))


def test_weights_that_make_eight_evals_worth_fewer_are_named() -> None:
    found = inference(8, scope="these_evals", n_effective=4.23)
    assert headline(found).endswith("Unequal weights make them worth 4.2; say more about other tasks with at least 6.")


def test_worse_against_an_older_version() -> None:
    found = inference(verdict="worse", effect=-0.12, settings=InferenceSettings(baseline_has_skill=True))
    assert headline(found).startswith("Worse with this version: -12 points on")
    assert headline(found, subject="for the first arm").startswith("Worse for the first arm: -12 points on")


def test_negligible_and_equivalent_name_the_margin() -> None:
    assert headline(inference(negligible=True)).startswith("Better with the skill by a negligible amount: +31 points")
    assert "90 % +16 to +46, inside ±5, p 0.02, 8 evals" in headline(inference(negligible=True))
    assert headline(inference(verdict="equivalent", effect=0.004)).startswith(
        "No difference that matters with the skill: +0.4 points on tasks like these (90 %"
    )


def test_no_difference_seen() -> None:
    found = equal(inference(verdict="inconclusive"), 0.0, 1.0, 8)
    assert headline(found) == (
        "No difference seen: all 8 evals came out the same in both arms; at most 31 % of such tasks would differ (95 %)"
    )


def test_all_against_nothing() -> None:
    found = equal(inference(), 1.0, 2 / 256, 8)
    assert headline(found) == (
        "Better with the skill: +100 points on every one of 8 evals (p 0.008); "
        "at most 31 % of such tasks would differ from this (95 %)"
    )
    few = equal(inference(scope="these_evals"), 1.0, 1e-6, 5)
    assert headline(few).startswith("Better on these 5 evals: +100 points on every one (p < 0.001); at most 45 %")


def test_fault_33_time_limits_that_decide_are_the_headline() -> None:
    limits = TimeLimits(9, 0, Way(0.12, "better"), Way(0.03, "inconclusive"))
    found = inference(verdict="inconclusive", time_limits=limits)
    assert headline(found) == (
        "Cannot tell: time limits decide it. Time-outs left out +12 points (better), "
        "counted as failed +3 points (cannot tell)"
    )
    told = " ".join(explanation(found))
    assert "Time limits ended 9 trials of with_skill and 0 of without_skill" in told and "there is none" in told


def test_an_early_stop_says_its_look_and_what_may_not_be_concluded() -> None:
    early = Early(2, 5, "pocock", 0.31, True, 0.2, Interval(0.05, 0.57))
    found = inference(20, scope="these_evals", early=early)
    assert headline(found) == (
        "Better on these 20 evals: +31 points (+5 to +57 at every look at once, stopped at look 2 of 5)"
    )
    assert any("exploratory" in line and "inflated" in line for line in explanation(found))


def test_nothing_measured() -> None:
    found = inference(
        verdict="inconclusive",
        effect=None,
        these_evals=None,
        tasks_like_these=None,
        absent={"effect": "no eval has a graded trial in both arms"},
    )
    assert headline(found) == "Cannot tell: no eval has a graded trial in both arms"


def test_inconclusive_says_what_it_could_have_seen_and_what_would_and_its_price() -> None:
    lines = explanation(inference(verdict="inconclusive"))
    assert "The smallest effect this design (8 evals × 3 trials) sees with 80 % power is 28 points." in lines
    assert "To see 5 points: 232 evals × 3 trials (1,392 launches, about $90.48)." in lines
    both = replace(PRICE, trials_needed=9, launches_by_trials=144, from_prior=True)
    told = explanation(inference(verdict="inconclusive", price=both))
    assert told[-2].endswith("(spread assumed: none was seen).")
    assert told[-1].endswith("or 8 evals × 9 trials (144 launches, about $9.36).")
    hopeless = replace(PRICE, smallest_visible=None, evals_needed=None, launches_by_evals=None)
    told = explanation(inference(verdict="inconclusive", price=hopeless))
    assert "could not have seen any effect" in told[-2] and "more than 2,000 evals" in told[-1]


def test_a_decided_verdict_needs_no_plan() -> None:
    assert not any("power" in line for line in explanation(inference()))


def test_exclusions_are_never_silent() -> None:
    found = inference(excluded={"with_skill": 0, "without_skill": 2}, evals_left_out=("refund-rows",))
    assert explanation(found)[-1] == (
        "Trials in no rate: 2 of without_skill. Evals without a graded trial in both arms: refund-rows."
    )


def test_use_and_cost_are_told() -> None:
    found = inference(
        as_used=EffectAsUsed(0.62, 0.5, 8, Interval(0.24, 1.0)),
        tokens=RatioResult(1.36, 8, Interval(1.2, 1.55)),
        seconds=RatioResult(0.9, 8),
    )
    told = " ".join(explanation(found))
    assert "used in 50 % more of the trials" in told and "+62 points (+24 to +100)" in told
    assert "It takes 1.36 times the tokens (1.20 to 1.55) and 0.90 times the time of without_skill." in told
    everywhere = replace(found, as_used=EffectAsUsed(0.31, 1.0, 8))
    assert not any("take it up" in line for line in explanation(everywhere))


@pytest.mark.parametrize(
    ("value", "text"), [(0.31, "+31 points"), (-0.01, "-1 point"), (0.0, "0 points"), (0.004, "+0.4 points")]
)
def test_points(value: float, text: str) -> None:
    assert points(value) == text


def test_rounding_never_moves_a_bound_onto_0() -> None:
    assert span_of(Interval(0.0004, 0.2)) == "+0.04 to +20"
    assert span_of(Interval(-0.0004, 0.2)) == "-0.04 to +20"
    assert span(0.05) == "5"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0156, "p 0.02"),
        (0.0497, "p 0.050"),
        (0.0503, "p 0.0503"),
        (0.0521, "p 0.052"),
        (0.0078, "p 0.008"),
        (0.0002, "p < 0.001"),
        (None, "no p"),
    ],
)
def test_p_values(p: float | None, text: str) -> None:
    assert p_text(p) == text


def test_money() -> None:
    assert (money(3.1), money(0.004), money(1234.5), money(0)) == ("$3.10", "$0.004", "$1,234", "$0.00")
