"""From trials to a verdict: the rule end to end, its qualifications, and properties that hold for any trials."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.benchmark.cells import outcome_of
from skill_assay.benchmark.inference import infer
from skill_assay.model.benchmark import ExpectationResult, FoundEval, Run
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.model.inference import EarlyStop, Inference, InferenceSettings
from skill_assay.stats.simulate import World, simulate

WITH, WITHOUT = "with_skill", "without_skill"
Scores = Sequence[Sequence[float | None]]


def trials(primary: Scores, baseline: Scores, weights: Sequence[float] | None = None) -> list[TrialOutcome]:
    """One row of scores an eval."""
    return [
        TrialOutcome(f"eval-{number}", arm, repeat, score, weight=weights[number] if weights else 1.0)
        for arm, rows in ((WITH, primary), (WITHOUT, baseline))
        for number, row in enumerate(rows)
        for repeat, score in enumerate(row, 1)
    ]


def simulated(world: World, *, evals: int, repeats: int, seed: int) -> list[TrialOutcome]:
    drawn = simulate(world, evals=evals, trials=repeats, samples=1, seed=seed)
    sides = ((WITH, drawn.primary, drawn.primary_timed_out), (WITHOUT, drawn.baseline, drawn.baseline_timed_out))
    return [
        TrialOutcome(f"e{e}", arm, t + 1, None if late[0, e, t] else float(y[0, e, t]), bool(late[0, e, t]))
        for arm, y, late in sides
        for e in range(evals)
        for t in range(repeats)
    ]


def conclude(outcomes: Sequence[TrialOutcome], **options: object) -> Inference:
    return infer(outcomes, WITH, WITHOUT, InferenceSettings(**options))  # type: ignore[arg-type]


GOOD = [[1.0, 1.0, 0.75], [1.0, 0.75, 1.0], [0.5, 0.75, 1.0], [1.0, 1.0, 1.0]] * 2
POOR = [[0.5, 0.5, 0.25], [0.75, 0.25, 0.5], [0.25, 0.75, 0.5], [0.75, 0.5, 0.5]] * 2


def test_a_clear_effect_is_better_on_tasks_like_these() -> None:
    found = conclude(trials(GOOD, POOR))
    assert (found.verdict, found.scope, found.n_evals) == ("better", "tasks_like_these", 8)
    assert found.p == pytest.approx(2 / 256)
    assert found.interval and found.interval.low > 0
    assert found.trials == {WITH: 24, WITHOUT: 24}


def test_fault_15_roles_are_explicit_and_never_by_sort_order() -> None:
    outcomes = [replace(o, arm="old_skill" if o.arm == WITHOUT else o.arm) for o in trials(GOOD, POOR)]
    there, back = infer(outcomes, WITH, "old_skill"), infer(outcomes, "old_skill", WITH)
    assert (there.verdict, back.verdict) == ("better", "worse")
    assert there.effect == pytest.approx(-(back.effect or 0))


def test_five_evals_speak_about_themselves() -> None:
    found = conclude(trials(GOOD[:5], POOR[:5]))
    assert (found.verdict, found.scope) == ("better", "these_evals")
    assert found.these_evals and found.interval == found.these_evals.interval
    assert found.p == found.these_evals.test.p < 0.05
    assert found.tasks_like_these and found.tasks_like_these.test.p == pytest.approx(0.0625)


def test_unequal_weights_count_as_fewer_evals() -> None:
    """Eight evals of which one weighs most: fewer than six effective ones."""
    found = conclude(trials(GOOD, POOR, [20, 1, 1, 1, 1, 1, 1, 1]))
    assert found.n_evals == 8 and found.n_effective < 2
    assert found.scope == "these_evals"


def test_excluded_trials_are_counted_and_evals_left_out_are_named() -> None:
    primary = [*GOOD[:7], [None, None, None]]
    found = conclude(trials(primary, [*POOR[:6], [None, 0.5, 0.25], POOR[7]]))
    assert found.n_evals == 7 and found.evals_left_out == ("eval-7",)
    assert found.excluded == {WITH: 3, WITHOUT: 1}


def test_nothing_in_both_arms_is_no_effect_of_0() -> None:
    for outcomes in ([], trials([[None]], [[1.0]])):
        found = conclude(outcomes)
        assert found.verdict == "inconclusive" and found.effect is None and found.p is None
        assert "graded trial in both arms" in found.absent["effect"]
        json.dumps(found.to_dict(), allow_nan=False)


def test_all_equal_shows_no_interval() -> None:
    same, apart = conclude(trials([[1.0] * 3] * 8, [[1.0] * 3] * 8)), conclude(trials([[1.0] * 3] * 8, [[0.0] * 3] * 8))
    assert same.verdict == "inconclusive" and same.effect == 0
    assert apart.verdict == "better" and apart.p == pytest.approx(2 / 256)
    for found in (same, apart):
        assert found.interval is None
        assert found.tasks_like_these and found.tasks_like_these.differ_at_most == pytest.approx(0.3123, abs=1e-4)


def late(outcomes: list[TrialOutcome], arm: str, ids: Sequence[str], repeats: Sequence[int]) -> list[TrialOutcome]:
    """The same trials, some of them ended by the time limit."""
    return [
        replace(o, score=None, timed_out=True) if o.arm == arm and o.eval_id in ids and o.repeat in repeats else o
        for o in outcomes
    ]


def test_fault_33_uneven_time_limits_take_a_verdict_back() -> None:
    """A slow skill whose failing trials run into the limit: better only while those are dropped."""
    primary = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.25], [0.75, 0.0, 0.0]] * 2
    outcomes = late(trials(primary, POOR), WITH, [f"eval-{k}" for k in range(8)], [2, 3])
    found = conclude(outcomes)
    assert found.time_limits is not None
    assert (found.time_limits.primary, found.time_limits.baseline) == (16, 0)
    assert found.time_limits.excluded.verdict == "better"
    assert found.time_limits.failed.verdict != "better"
    assert found.verdict == "inconclusive"
    counted = conclude(outcomes, timeouts="fail")
    assert counted.time_limits == found.time_limits and counted.verdict == "inconclusive"
    assert counted.effect == pytest.approx(found.time_limits.failed.effect)
    assert found.to_dict()["time_limits"]["agree"] is False


def test_uneven_time_limits_let_a_verdict_stand_that_both_ways_give() -> None:
    found = conclude(late(trials(GOOD, POOR), WITHOUT, ["eval-0"], [1]))
    assert found.time_limits and found.time_limits.agree and found.verdict == "better"


def test_even_time_limits_need_no_second_way() -> None:
    outcomes = late(late(trials(GOOD, POOR), WITH, ["eval-1"], [1]), WITHOUT, ["eval-2"], [3])
    assert conclude(outcomes).time_limits is None
    assert conclude(outcomes).excluded == {WITH: 1, WITHOUT: 1}
    assert conclude(outcomes, timeouts="fail").excluded == {WITH: 0, WITHOUT: 0}


@pytest.mark.slow
def test_fault_33_a_useless_slower_skill_is_rarely_called_better() -> None:
    """No effect, 1.6 times slower: dropping time-outs shows a gain; the verdict must not follow it."""
    world = World(time_limit=2.0, slower=1.6, failing_slower=2.5)
    found = [conclude(simulated(world, evals=15, repeats=5, seed=k), resamples=500) for k in range(150)]
    dropped = [f.effect for f in found if f.effect is not None]
    assert sum(dropped) / len(dropped) > 0.03
    naive = sum(f.time_limits.excluded.verdict == "better" for f in found if f.time_limits) / 150
    ours = sum(f.verdict == "better" for f in found) / 150
    assert naive > 0.06 > 0.05 >= ours


def used(outcomes: Sequence[TrialOutcome], share: Sequence[bool | None]) -> list[TrialOutcome]:
    return [replace(o, skill_used=share[(o.repeat - 1) % len(share)] if o.arm == WITH else None) for o in outcomes]


def test_effect_as_used_only_above_30_percent_activation() -> None:
    base = trials(GOOD, POOR)
    often = conclude(used(base, [True, True, False]))
    assert often.as_used and often.as_used.activation_difference == pytest.approx(2 / 3)
    assert often.as_used.effect == pytest.approx((often.effect or 0) * 1.5)
    seldom = conclude(used([o for o in base if o.repeat < 3], [False, None]))
    assert seldom.as_used is None and "0%" in seldom.absent["as_used"]
    assert "not known" in conclude(base).absent["as_used"]


def test_fault_16_unknown_meters_are_absent_with_a_reason() -> None:
    found = conclude(trials(GOOD, POOR))
    assert found.tokens is None and "tokens" in found.absent and found.price and found.price.cost_per_launch is None
    paid = [replace(o, tokens=200.0 if o.arm == WITH else 100.0, cost_usd=0.1) for o in trials(GOOD, POOR)]
    known = conclude(paid)
    assert known.tokens and known.tokens.ratio == pytest.approx(2) and "tokens" not in known.absent
    assert known.price and known.price.cost_per_launch == pytest.approx(0.1)


def test_price_is_planned_from_spread_and_not_from_the_observed_effect() -> None:
    """Shifting every outcome of one arm changes the effect and no plan."""
    low = [[0.0, 0.25, 0.5], [0.25, 0.0, 0.25], [0.5, 0.25, 0.0]] * 4
    high = [[y + 0.26 for y in row] for row in low]
    other = [[0.25, 0.25, 0.0], [0.0, 0.5, 0.25], [0.125, 0.375, 0.5]] * 4
    near, far = conclude(trials(low, other), target=0.1), conclude(trials(high, other), target=0.1)
    assert near.price and far.price
    assert near.effect != far.effect
    assert near.price.evals_needed == pytest.approx(far.price.evals_needed, abs=12)
    assert near.price.target == 0.1


def test_early_stop_speaks_about_these_evals_at_every_look() -> None:
    outcomes = simulated(World(effect=0.35), evals=20, repeats=2, seed=3)
    found = conclude(outcomes, early=EarlyStop(rounds=5))
    assert found.early and found.early.look == 2 and found.early.stopped
    assert (found.verdict, found.scope) == ("better", "these_evals")
    assert found.interval == found.early.interval
    last = conclude(simulated(World(), evals=20, repeats=5, seed=4), early=EarlyStop(rounds=5))
    assert last.scope == "these_evals" and last.early and not last.early.stopped


def test_early_stop_drops_the_pair_of_an_excluded_trial() -> None:
    outcomes = simulated(World(effect=0.35), evals=20, repeats=2, seed=3)
    holed = [replace(o, score=None) if (o.eval_id, o.arm, o.repeat) == ("e3", WITH, 1) else o for o in outcomes]
    found = conclude(holed, early=EarlyStop(rounds=5))
    assert found.early and found.early.pairs_left_out == 1


def test_a_look_waits_until_every_trial_of_the_round_is_settled() -> None:
    """A third round of which one trial is still to come changes neither look nor effect."""
    outcomes = simulated(World(effect=0.1), evals=10, repeats=3, seed=3)
    settled = [o for o in outcomes if o.repeat < 3]
    partial = [o for o in outcomes if (o.eval_id, o.arm, o.repeat) != ("e4", WITHOUT, 3)]
    whole, waiting, done = (conclude(x, early=EarlyStop(rounds=5)) for x in (settled, partial, outcomes))
    assert whole.early and waiting.early and done.early
    assert waiting.early == whole.early and waiting.effect == whole.effect == whole.early.effect
    assert done.early.look == 3
    none = conclude([o for o in partial if (o.eval_id, o.repeat) != ("e4", 1)], early=EarlyStop(rounds=5))
    assert none.verdict == "inconclusive" and none.early and none.early.look == 0


def test_a_run_wherever_found_becomes_an_outcome() -> None:
    run = Run(
        FoundEval(7, "seven", weight=2.0),
        WITH,
        3,
        "eval-7/with_skill/run-3",
        expectations=(ExpectationResult("a", True, "seen"), ExpectationResult("b", False, "not seen")),
        seconds=4.0,
        tokens=90,
        skill_used=True,
    )
    assert outcome_of(run) == TrialOutcome("7", WITH, 3, 0.5, False, 90, 4.0, None, True, 2.0)
    lost = outcome_of(replace(run, excluded="time limit", failure="time_limit"))
    assert lost.score is None and lost.timed_out


LEVELS = st.integers(0, 4).map(lambda k: k / 4)
ROWS = st.lists(st.lists(st.one_of(LEVELS, st.none()), min_size=1, max_size=3), min_size=7, max_size=7)
PAIRED = st.tuples(ROWS, ROWS, st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=7, max_size=7))
OPPOSITE = {"better": "worse", "worse": "better"}
some = settings(deadline=None, max_examples=40)


@some
@given(PAIRED)
def test_swapping_arms_flips_sign_and_verdict(case: tuple[Scores, Scores, list[float]]) -> None:
    primary, baseline, weights = case
    there, back = conclude(trials(primary, baseline, weights)), conclude(trials(baseline, primary, weights))
    assert back.verdict == OPPOSITE.get(there.verdict, there.verdict)
    assert (back.negligible, back.scope) == (there.negligible, there.scope)
    if there.effect is not None and back.effect is not None:
        assert back.effect == pytest.approx(-there.effect)
        assert back.p == pytest.approx(there.p)


@pytest.mark.slow
@some
@given(PAIRED, st.randoms())
def test_the_order_of_trials_changes_nothing(case: tuple[Scores, Scores, list[float]], rng: random.Random) -> None:
    outcomes = trials(*case)
    shuffled = list(outcomes)
    rng.shuffle(shuffled)
    assert conclude(shuffled) == conclude(outcomes)


@pytest.mark.slow
@some
@given(PAIRED)
def test_an_excluded_trial_changes_nothing_but_its_count(case: tuple[Scores, Scores, list[float]]) -> None:
    outcomes = trials(*case)
    more = conclude([*outcomes, replace(outcomes[0], repeat=9, score=None)])
    less = conclude(outcomes)
    assert more.excluded[WITH] == less.excluded[WITH] + 1
    assert replace(more, excluded=less.excluded) == less


@pytest.mark.slow
@some
@given(PAIRED, st.sampled_from([0.5, 4.0]))
def test_equal_weights_are_no_weights(case: tuple[Scores, Scores, list[float]], weight: float) -> None:
    primary, baseline, _ = case
    plain, weighted = conclude(trials(primary, baseline)), conclude(trials(primary, baseline, [weight] * 7))
    assert (plain.verdict, plain.scope, plain.negligible) == (weighted.verdict, weighted.scope, weighted.negligible)
    assert plain.n_effective == pytest.approx(weighted.n_effective)
    if plain.effect is not None:
        assert weighted.effect == pytest.approx(plain.effect) and weighted.p == pytest.approx(plain.p)


@pytest.mark.slow
@some
@given(PAIRED)
def test_what_is_written_is_plain_json(case: tuple[Scores, Scores, list[float]]) -> None:
    """No NaN, no infinity, nothing that json refuses; and the same again from the same trials."""
    found = conclude(trials(*case)).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["verdict"] in ("better", "worse", "equivalent", "inconclusive")


def test_the_seed_decides_what_is_drawn() -> None:
    outcomes = simulated(World(effect=0.04, effect_spread=0.15), evals=40, repeats=3, seed=5)
    first, again = conclude(outcomes, seed=1), conclude(outcomes, seed=1)
    assert first == again
    assert first.p != conclude(outcomes, seed=2).p
