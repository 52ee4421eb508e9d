"""What the statistics say: frozen results, without numpy, so that naming one costs nothing.

Effects, shares and their intervals are fractions (0.31 is 31 points); p values are two-sided unless said so.
What cannot be computed is `None`, with the reason in words beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Agreement",
    "Calibration",
    "Classification",
    "Decision",
    "EarlyCalibration",
    "EffectAsUsed",
    "FixedEvals",
    "Interval",
    "RatioResult",
    "SampledEvals",
    "Scope",
    "Share",
    "SignTest",
    "Spending",
    "TestResult",
    "Verdict",
]

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]
Scope = Literal["tasks_like_these", "these_evals"]
Spending = Literal["pocock", "obrien_fleming"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = 0.95

    @property
    def off_zero(self) -> bool:
        """Whether 0 lies outside."""
        return self.low > 0 or self.high < 0

    def inside(self, margin: float) -> bool:
        """Whether it lies wholly between -margin and +margin."""
        return self.low > -margin and self.high < margin


@dataclass(frozen=True, slots=True)
class TestResult:
    """A permutation or sign-flip p value, and how it was found."""

    __test__ = False

    p: float
    exact: bool
    """Whether every rearrangement was counted; else `resamples` random ones, with the +1 correction."""
    resamples: int = 0
    """Number of random rearrangements drawn; 0 when exact."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge's yes or no against a person's, who is taken to be right."""

    n: int
    agreed: int
    true_passes: int
    """As the person says."""
    true_fails: int
    kappa: float | None
    alpha: float | None
    sensitivity: float | None
    """Share of true passes that the judge passed; `None` without any."""
    specificity: float | None
    """Share of true fails that the judge failed; `None` without any."""


@dataclass(frozen=True, slots=True)
class SignTest:
    """Evals won, tied and lost by the primary arm, and the exact sign test that ignores ties."""

    wins: int
    ties: int
    losses: int
    p: float


@dataclass(frozen=True, slots=True)
class FixedEvals:
    """Question 1: the effect on these very evals; only the noise of trials is random."""

    effect: float
    test: TestResult
    """Arm labels permuted within each eval."""
    standard_error: float | None = None
    df: float | None = None
    """Welch-Satterthwaite degrees of freedom."""
    interval: Interval | None = None
    interval_90: Interval | None = None
    no_interval: str | None = None
    """Why there is no interval."""


@dataclass(frozen=True, slots=True)
class SampledEvals:
    """Question 2: the effect on tasks like these; the evals are a sample of them."""

    effect: float
    n_effective: float
    """(sum w)^2 / sum w^2; the number of evals when all weigh the same."""
    test: TestResult
    """Sign flips of the weighted differences."""
    signs: SignTest
    all_equal: bool
    """Whether every eval shows the same difference."""
    standard_deviation: float | None = None
    standard_error: float | None = None
    df: float | None = None
    interval: Interval | None = None
    interval_90: Interval | None = None
    no_interval: str | None = None
    differ_at_most: float | None = None
    """With all differences equal: the share of such tasks that would differ is at most this (95 %)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict rule's answer."""

    verdict: Verdict
    negligible: bool
    """Decided, and the 90 % interval lies inside the margin: a difference too small to matter."""
    scope: Scope


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with Wilson's interval."""

    count: int
    n: int
    interval: Interval | None = None
    """`None` when nothing was counted."""

    @property
    def value(self) -> float | None:
        """The share; `None` when nothing was counted."""
        return self.count / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Classification:
    """How well a set of positives and negatives is told apart, counted in queries.

    Precision and F1 hold for this set's share of positives.
    """

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int
    accuracy: Share
    precision: Share
    recall: Share
    specificity: Share
    f1: float | None
    """`None` without a positive, wanted or found."""
    f1_interval: Interval | None
    """Equal-tailed posterior interval (Dirichlet); `None` likewise."""


@dataclass(frozen=True, slots=True)
class EffectAsUsed:
    """The effect on complying trials: the effect divided by the difference in activation."""

    effect: float
    activation_difference: float
    n: int
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class RatioResult:
    """Primary over baseline as a geometric mean over evals; below 1 is cheaper."""

    ratio: float
    n: int
    """Evals with a positive value in both arms."""
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often each thing happened in simulated benchmarks of one design; shares of `samples`."""

    evals: int
    trials: int
    true_effect: float
    samples: int
    better: float
    worse: float
    equivalent: float
    inconclusive: float
    naive_better: float
    """What the rule "the difference is above 0" would have called better."""
    coverage: float
    """Share of 95 % intervals of question 2 that hold the true effect, of those there are."""

    @property
    def decided(self) -> float:
        """Share with a verdict of better or worse."""
        return self.better + self.worse


@dataclass(frozen=True, slots=True)
class EarlyCalibration:
    """The same for a run that looks after every round."""

    evals: int
    rounds: int
    true_effect: float
    samples: int
    decided: float
    """Share that crossed a boundary."""
    saved: float
    """Share of the planned trials not run, on average."""
