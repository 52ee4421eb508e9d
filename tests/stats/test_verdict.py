"""The verdict rule, case by case as it is written down."""

from __future__ import annotations

import pytest

from skill_assay.stats.fixed_evals import fixed_evals
from skill_assay.stats.results import Decision, FixedEvals, Interval, SampledEvals, SignTest, TestResult
from skill_assay.stats.sampled_evals import sampled_evals
from skill_assay.stats.verdict import decide, decide_on_these

NO_SIGNS = SignTest(0, 0, 0, 1.0)
SILENT = FixedEvals(0.0, TestResult(1.0, True))


def sampled(effect: float, p: float, low: float, high: float, *, n: float = 10.0, inner: float = 0.8) -> SampledEvals:
    """A result with the given 95 % interval; the 90 % one is narrower about its middle by `inner`."""
    middle, reach = (low + high) / 2, (high - low) / 2 * inner
    return SampledEvals(
        effect,
        n,
        TestResult(p, True),
        NO_SIGNS,
        False,
        interval=Interval(low, high),
        interval_90=Interval(middle - reach, middle + reach, 0.90),
    )


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (sampled(0.3, 0.02, 0.1, 0.5), Decision("better", False, "tasks_like_these")),
        (sampled(-0.3, 0.02, -0.5, -0.1), Decision("worse", False, "tasks_like_these")),
        (sampled(0.3, 0.05, 0.1, 0.5), Decision("better", False, "tasks_like_these")),
        (sampled(0.3, 0.051, 0.1, 0.5), Decision("inconclusive", False, "tasks_like_these")),
        (sampled(0.3, 0.02, -0.01, 0.6), Decision("inconclusive", False, "tasks_like_these")),
        (sampled(0.02, 0.02, 0.001, 0.04), Decision("better", True, "tasks_like_these")),
        (sampled(0.0, 0.9, -0.04, 0.04), Decision("equivalent", False, "tasks_like_these")),
        (sampled(0.02, 0.2, -0.02, 0.06, inner=0.7), Decision("equivalent", False, "tasks_like_these")),
        (sampled(0.0, 0.9, -0.04, 0.04, n=7.9), Decision("inconclusive", False, "tasks_like_these")),
        (sampled(0.0, 0.9, -0.04, 0.04, n=8.0), Decision("equivalent", False, "tasks_like_these")),
        (sampled(0.3, 0.03125, 0.1, 0.5, n=6.0), Decision("better", False, "tasks_like_these")),
        (sampled(0.3, 0.001, 0.1, 0.5, n=5.9), Decision("inconclusive", False, "these_evals")),
    ],
)
def test_tasks_like_these(result: SampledEvals, expected: Decision) -> None:
    assert decide(result, SILENT, margin=0.05) == expected


@pytest.mark.parametrize(
    ("interval", "p", "verdict"),
    [
        (Interval(0.1, 0.5), 0.01, "better"),
        (Interval(-0.1, 0.5), 0.01, "inconclusive"),
        (Interval(0.1, 0.5), 0.06, "inconclusive"),
        (None, 0.01, "better"),
        (None, 0.06, "inconclusive"),
    ],
)
def test_these_evals(interval: Interval | None, p: float, verdict: str) -> None:
    """Five evals or fewer: permutation p, and the interval off 0 where there is one."""
    fixed = FixedEvals(0.3, TestResult(p, True), interval=interval, interval_90=interval)
    found = decide(sampled(0.3, 0.0625, 0.1, 0.5, n=5.0), fixed, margin=0.05)
    assert (found.verdict, found.scope) == (verdict, "these_evals")


def test_these_evals_never_equivalent() -> None:
    tiny = Interval(-0.01, 0.01)
    assert decide_on_these(0.0, False, tiny, tiny, margin=0.05).verdict == "inconclusive"


def test_fault_17_one_of_three_flips_is_no_progress() -> None:
    """One flip in three pooled trials reads as +33 points elsewhere."""
    found = fixed_evals([[1, 1, 0]], [[1, 0, 0]], seed=1, resamples=100)
    result = sampled_evals([1 / 3], seed=1, resamples=100)
    assert decide(result, found, margin=0.05).verdict == "inconclusive"


def test_all_zero_is_inconclusive_and_never_equivalent() -> None:
    assert decide(sampled_evals([0.0] * 12, seed=1, resamples=10), SILENT, margin=0.05).verdict == "inconclusive"


@pytest.mark.parametrize(("n", "verdict"), [(6, "better"), (12, "better")])
def test_all_equal_is_decided_by_the_sign_flip_alone(n: int, verdict: str) -> None:
    assert decide(sampled_evals([1.0] * n, seed=1, resamples=10), SILENT, margin=0.05).verdict == verdict


def test_all_equal_and_small_is_not_equivalent() -> None:
    """`equivalent` needs differences that are not all equal."""
    found = decide(sampled_evals([0.01] * 12, seed=1, resamples=10), SILENT, margin=0.05)
    assert found == Decision("better", False, "tasks_like_these")
