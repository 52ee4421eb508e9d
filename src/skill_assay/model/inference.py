"""What a benchmark concludes: the verdict, both questions' answers, and what they cost. `verdict` is what decides."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skill_assay.stats.results import (
    EffectAsUsed,
    FixedEvals,
    Interval,
    RatioResult,
    SampledEvals,
    Scope,
    Spending,
    Verdict,
)

__all__ = ["Early", "EarlyStop", "Inference", "InferenceSettings", "Price", "TimeLimits", "Way"]


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """`--stop early`: fixed before the first trial."""

    rounds: int
    """Rounds planned: trials an arm and eval if nothing stops it."""
    spending: Spending = "pocock"


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    """What the inference depends on besides the trials."""

    margin: float = 0.05
    """Differences smaller than this do not matter; a fraction."""
    seed: int = 42
    timeouts: Literal["exclude", "fail"] = "exclude"
    """Whether a trial ended by the time limit is left out or counts as failed."""
    resamples: int = 10_000
    target: float | None = None
    """The effect to plan for (`--effect`); the margin unless set."""
    baseline_has_skill: bool = False
    """Whether the baseline holds a version of the skill, so that its activation counts."""
    early: EarlyStop | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """The answer with time-outs handled one way."""

    effect: float | None
    verdict: Verdict
    negligible: bool = False
    interval: Interval | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits that fell unevenly: a verdict stands only if both ways give it."""

    primary: int
    """Trials of the primary arm ended by the time limit."""
    baseline: int
    excluded: Way
    failed: Way

    @property
    def agree(self) -> bool:
        """Whether both ways give the same verdict."""
        return self.excluded.verdict == self.failed.verdict


@dataclass(frozen=True, slots=True)
class Early:
    """Where a run with `--stop early` stands, or stopped."""

    look: int
    """Rounds settled, that is, in which no trial is still to come."""
    rounds: int
    """Planned."""
    spending: Spending
    effect: float | None
    """Over the pairs of the rounds seen; `None` before the first settled round."""
    crossed: bool
    boundary: float | None
    """The effect needed to stop at this look."""
    interval: Interval | None
    """Repeated confidence interval: holds at every look at once."""
    pairs_left_out: int = 0
    """Pairs with an excluded trial."""

    @property
    def stopped(self) -> bool:
        """Whether it stopped before the last round."""
        return self.crossed and self.look < self.rounds


@dataclass(frozen=True, slots=True)
class Price:
    """What this design could see, and what design would see the target."""

    trials: float
    """An arm and eval, harmonic mean over what was measured."""
    smallest_visible: float | None
    """Smallest true effect seen with 80 % power in the verdict's scope; `None`: none up to 100 points."""
    target: float
    evals_needed: int | None
    """With as many trials as now; `None` above 2,000."""
    trials_needed: int | None
    """With as many evals as now; `None` where no number up to 50 is enough."""
    cost_per_launch: float | None
    """USD, mean over both arms; `None` unless both report one."""
    launches_by_evals: int | None
    launches_by_trials: int | None
    from_prior: bool = False
    """No spread was seen, so that of the project's simulator is used."""


@dataclass(frozen=True, slots=True)
class Inference:
    """The conclusion about a primary and a baseline arm."""

    verdict: Verdict
    negligible: bool
    scope: Scope
    primary: str
    baseline: str
    effect: float | None
    """Primary minus baseline, a fraction; `None` where no eval has a graded trial in both arms."""
    n_evals: int
    n_effective: float
    trials: Mapping[str, int]
    """Graded trials an arm, in the evals that count."""
    excluded: Mapping[str, int]
    """Trials an arm in no rate."""
    settings: InferenceSettings
    evals_left_out: tuple[str, ...] = ()
    """Without a graded trial in both arms."""
    these_evals: FixedEvals | None = None
    tasks_like_these: SampledEvals | None = None
    per_eval: Mapping[str, float] = field(default_factory=dict)
    """The difference of each eval."""
    time_limits: TimeLimits | None = None
    early: Early | None = None
    as_used: EffectAsUsed | None = None
    tokens: RatioResult | None = None
    seconds: RatioResult | None = None
    cost: RatioResult | None = None
    price: Price | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    """What could not be computed, and why, in words."""

    @property
    def p(self) -> float | None:
        """The p value of the scope shown; `None` for a run that may stop early, where the boundary decides."""
        if self.early:
            return None
        answer = self.these_evals if self.scope == "these_evals" else self.tasks_like_these
        return answer.test.p if answer else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the scope shown."""
        if self.early:
            return self.early.interval
        answer = self.these_evals if self.scope == "these_evals" else self.tasks_like_these
        return answer.interval if answer else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `benchmark.json`; no NaN, no infinity. Raises `ValueError` on either."""
        plain = _plain(dataclasses.asdict(self))
        assert isinstance(plain, dict)
        for name, value in (("p", self.p), ("interval", self.interval and dataclasses.asdict(self.interval))):
            plain[name] = _plain(value)
        if self.time_limits:
            plain["time_limits"]["agree"] = self.time_limits.agree
        if self.early:
            plain["early"]["stopped"] = self.early.stopped
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"not a number that JSON knows: {value}")
        return round(value, 10)
    return value
