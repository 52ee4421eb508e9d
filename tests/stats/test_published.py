"""Published answers: other people's data and figures, read where they lie."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.benchmark.inference import infer
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.stats.counts import mcnemar_exact
from skill_assay.stats.signflip import sign_test

PAIRS = "results/decimal-labs__skillevaluation/compatibility-tests"
AGGREGATION = (
    "all-errored",
    "empty",
    "error-excluded",
    "error-dominated-floor",
    "error-floor-at-boundary",
    "negative-delta-good",
    "runs-mean-over-repeats",
    "zero-baseline",
)
"""The two others skip a case in which the agent did not try; our trial of that kind counts (failure table)."""


@pytest.fixture
def skillsbench(shared_data: Path) -> list[dict[str, str]]:
    (place,) = (shared_data / "results" / "benchflow-ai__skillsbench-trajectories").glob("*terminus-2*.csv")
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def outcomes(rows: list[dict[str, str]]) -> list[TrialOutcome]:
    repeats: dict[tuple[str, str], int] = {}
    trials = []
    for row in rows:
        key = row["task"], row["condition"]
        repeats[key] = repeats.get(key, 0) + 1
        score = float(row["reward"]) if row["reward"] else None
        trials.append(TrialOutcome(*key, repeat=repeats[key], score=score))
    return trials


def test_paired_means_of_171_trials(skillsbench: list[dict[str, str]]) -> None:
    """81 tasks finished in both arms: mean reward 0.3966 with, 0.2959 without."""
    finished = [o for o in outcomes(skillsbench) if o.score is not None]
    arms = sorted({o.arm for o in finished})
    with_skills, without = (next(a for a in arms if a.startswith(word)) for word in ("skills", "no"))
    found = infer(finished, with_skills, without)
    assert found.n_evals == 81
    scores: dict[str, dict[str, float]] = {arm: {} for arm in arms}
    for o in finished:
        if o.eval_id in found.per_eval and o.score is not None:
            scores[o.arm][o.eval_id] = o.score
    assert round(sum(scores[with_skills].values()) / 81, 4) == 0.3966
    assert round(sum(scores[without].values()) / 81, 4) == 0.2959
    assert found.effect == pytest.approx(0.3966 - 0.2959, abs=1e-4)
    solved = {arm: {e for e, score in of_arm.items() if score == 1.0} for arm, of_arm in scores.items()}
    only_with, only_without = solved[with_skills] - solved[without], solved[without] - solved[with_skills]
    assert (len(only_with), len(only_without)) == (14, 6)
    assert round(mcnemar_exact(len(only_with), len(only_without)), 4) == 0.1153
    assert found.these_evals and found.these_evals.interval is None


def read(shared_data: Path, kind: str, name: str) -> tuple[Any, Any]:
    folder = shared_data / PAIRS / kind / name
    load = (json.loads((folder / file).read_text(encoding="utf-8")) for file in ("input.json", "expected.json"))
    given, expected = load
    return given, expected


def as_trials(results: list[dict[str, Any]]) -> list[TrialOutcome]:
    trials: list[TrialOutcome] = []
    for number, case in enumerate(results):
        for arm in ("with_skill", "without_skill"):
            side = case.get(arm, {})
            lost = case["outcome"] == "error" or side.get("errored")
            score = None if lost or not side else float(side["passed"])
            trials.append(TrialOutcome(case["case_name"], arm, number + 1, score))
    return trials


@pytest.mark.parametrize("name", AGGREGATION)
def test_conformance_pairs_of_aggregation(shared_data: Path, name: str) -> None:
    """Fault 1: errored cases are in no rate. Where they withhold a delta for too many errors we still show it."""
    given, expected = read(shared_data, "aggregation", name)
    trials = as_trials(given["case_results"])
    found = infer(trials, "with_skill", "without_skill")
    rates = {arm: [o.score for o in trials if o.arm == arm and o.score is not None] for arm in found.trials}
    for arm, scores in rates.items():
        rate = round(sum(scores) / len(scores), 4) if scores else None
        assert rate == expected["pass_rate"][arm]
    assert (found.effect is None) == (expected["pass_rate"]["with_skill"] is None)
    if expected["pass_rate"]["delta_pts"] is not None:
        assert found.effect is not None
        assert round(found.effect * 100, 2) == expected["pass_rate"]["delta_pts"]


@pytest.mark.parametrize(
    ("name", "tally"),
    [("flip-to-pass", (1, 0, 0)), ("pass-kept", (0, 1, 0)), ("fail-kept", (0, 1, 0)), ("flip-to-fail", (0, 0, 1))],
)
def test_conformance_pairs_of_outcomes(shared_data: Path, name: str, tally: tuple[int, int, int]) -> None:
    given, _ = read(shared_data, "outcomes", name)
    found = sign_test([float(given["with_passed"]) - float(given["without_passed"])])
    assert (found.wins, found.ties, found.losses) == tally
