"""The numbers of one iteration: runs as found, figures per arm and per eval, and what was left out.

Everything here is descriptive. What may be concluded from it is `Benchmark.inference`, filled in by
`benchmark.inference` and absent until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from skill_assay.model.comparison import Comparison
from skill_assay.model.prompt_classes import NEGATIVE

__all__ = [
    "NOTHING_GRADED",
    "ArmFigures",
    "Benchmark",
    "DeadExpectation",
    "EvalArm",
    "EvalFigures",
    "Exclusion",
    "ExpectationResult",
    "FoundArm",
    "FoundEval",
    "Reliability",
    "Run",
    "Skipped",
    "Spread",
    "ThresholdResult",
]

NOTHING_GRADED = "nothing was graded"
"""The reason for leaving out a trial that ended well and in which no expectation was decided."""
ArmRole = Literal["primary", "baseline", "other"]
Reliability = Literal["high", "medium", "low", "unreliable"]
ThresholdStatus = Literal["met", "missed", "cannot tell", "skipped"]


class ExpectationResult(NamedTuple):
    """One expectation of one run, as its `grading.json` says."""

    text: str
    passed: bool | None
    """`None`: ungraded."""
    evidence: str
    counted: bool = True
    """Whether it enters the pass rate."""
    severity: str = "required"
    grader: str | None = None


@dataclass(frozen=True, slots=True)
class FoundEval:
    """One eval, as its metadata or its folder says."""

    id: int | str
    name: str
    prompt: str | None = None
    weight: float = 1.0
    known_issue: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The id as text: what two places are compared by."""
        return str(self.id)

    @property
    def negative(self) -> bool:
        """Whether the skill should not be used in it."""
        return NEGATIVE in self.tags


@dataclass(frozen=True, slots=True)
class FoundArm:
    """One arm, with the role it plays in the comparison."""

    name: str
    role: ArmRole
    guessed: bool = False
    """True where no plan says the role and its name had to."""
    agent: str | None = None
    model: str | None = None
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One trial, wherever it was found."""

    eval: FoundEval
    arm: str
    number: int
    """The repeat, from 1."""
    folder: str
    """Relative to the iteration, `/`-separated."""
    expectations: tuple[ExpectationResult, ...] = ()
    seconds: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    excluded: str | None = None
    """Why it is in no rate; `None`: it counts."""
    failure: str | None = None
    """The failure's kind, also where the trial counts (a cap, an agent's own limit)."""
    skill_used: bool | None = None
    tool_calls: int | None = None
    errors: int | None = None
    model: str | None = None
    unchecked: int = 0
    """Decisions of a judge by evidence no program can look up (pictures)."""
    doubts: int = 0
    """Points the agent noted about its own work (`user_notes.md`)."""
    unknown_events: int = 0
    """Lines of a type the adapter has never heard of."""
    stated_rate: float | None = None
    """The pass rate its file states, where that is the list's own, rounded; shared files are averaged over these."""
    failed_outright: bool = False
    """It counts as failed whatever was graded: a time limit under `--timeouts fail`."""
    _decided: tuple[int, int] | None = field(default=None, init=False, repr=False, compare=False)
    """Counted once: everything about a large iteration asks for it again and again."""

    @property
    def decided(self) -> tuple[int, int]:
        """(passed, failed) over the expectations that count."""
        if self._decided is None:
            passed = failed = 0
            for one in self.expectations:
                if one.counted:
                    passed += one.passed is True
                    failed += one.passed is False
            object.__setattr__(self, "_decided", (passed, failed))
            return passed, failed
        return self._decided

    @property
    def score(self) -> float | None:
        """Share of counted, decided expectations that passed; `None`: nothing was measured, or it is excluded."""
        if self.excluded is not None:
            return None
        if self.failed_outright:
            return 0.0
        passed, failed = self.decided
        return passed / (passed + failed) if passed + failed else None

    @property
    def shown_rate(self) -> float | None:
        """The score as its file states it, rounded there or not. For descriptive figures only."""
        score = self.score
        return score if score is None or self.stated_rate is None else self.stated_rate


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that looked like a run and could not be read as one."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, sample standard deviation (n - 1; 0.0 when n = 1), least and greatest, and how many."""

    mean: float
    stddev: float
    min: float
    max: float
    n: int


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm over all trials."""

    arm: FoundArm
    requested: int
    completed: int
    """Trials that count and in which something was graded."""
    pass_rate: Spread | None
    seconds: Spread | None
    tokens: Spread | None
    cost_usd: Spread | None
    used: int
    """Trials in which the arm's skill was used."""
    use_known: int
    """Trials in which one can tell."""
    suite_stddev: float | None = None
    """Sample standard deviation of the means per repeat; `None` below two repeats."""
    capped: int = 0
    """Counted trials that our own per-trial cap ended."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """Reason → trials."""

    @property
    def stable(self) -> bool | None:
        """Whether the suite's mean moves by less than 0.05 from repeat to repeat."""
        return None if self.suite_stddev is None else self.suite_stddev < 0.05


@dataclass(frozen=True, slots=True)
class EvalArm:
    """One eval in one arm."""

    scores: tuple[float | None, ...]
    """One per trial found, in order of repeat; `None`: excluded or not gradable."""
    requested: int
    mean: float | None
    stddev: float | None
    """Of the scores, n - 1; `None` without any."""
    seconds: float | None
    tokens: float | None
    used: int
    use_known: int
    excluded: Mapping[str, int] = field(default_factory=dict)

    @property
    def completed(self) -> int:
        """Trials with a score."""
        return sum(score is not None for score in self.scores)

    @property
    def all_passed(self) -> int:
        """Trials in which every counted expectation passed."""
        return sum(score == 1.0 for score in self.scores)

    @property
    def reliability(self) -> Reliability:
        """How far one may trust this eval's mean."""
        if self.completed < 2 or self.stddev is None:
            return "unreliable"
        if self.stddev >= 0.3:
            return "low"
        return "high" if self.stddev == 0 and self.completed >= 3 else "medium"


@dataclass(frozen=True, slots=True)
class EvalFigures:
    """One eval in every arm."""

    eval: FoundEval
    arms: Mapping[str, EvalArm]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One trial that is in no rate."""

    eval: FoundEval
    arm: str
    number: int
    reason: str
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class DeadExpectation:
    """An expectation that came out the same in every trial of every arm compared."""

    eval: FoundEval
    text: str
    passed: bool
    trials: int


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """One threshold that was asked for."""

    name: str
    limit: float | str
    value: float | str | None
    met: bool | None
    """`None`: skipped; it fails nothing and is left out of `thresholds_met`."""
    note: str = ""
    causes: tuple[str, ...] = ()
    """The evals that cause a miss, the worst first, in words: `two-currencies 56 %`."""
    cannot_tell: bool = False
    """Not met because too little was measured, which is not a pass."""

    @property
    def status(self) -> ThresholdStatus:
        """The one word for it."""
        if self.met is None:
            return "skipped"
        return "met" if self.met else "cannot tell" if self.cannot_tell else "missed"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The numbers of one iteration."""

    skill_name: str
    skill_path: str
    iteration: int
    timestamp: str
    """UTC, ISO 8601, of the derivation."""
    arms: tuple[ArmFigures, ...]
    """The primary first, then the baseline it is compared with, then the others."""
    evals: tuple[EvalFigures, ...]
    runs: tuple[Run, ...]
    """In the order of `arms`, evals, and run folders as text."""
    trials: int
    """Requested repeats per eval and arm (found ones, where no plan says)."""
    improvement_ratio: float | None = None
    token_savings_ratio: float | None = None
    time_savings_ratio: float | None = None
    thresholds: tuple[ThresholdResult, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    dead: tuple[DeadExpectation, ...] = ()
    ungraded: Mapping[str, int] = field(default_factory=dict)
    """Expectation text → trials in which nothing decided it."""
    skipped: tuple[Skipped, ...] = ()
    mismatches: tuple[Skipped, ...] = ()
    """Summaries that disagree with the list below them; the list was believed."""
    missing: int = 0
    """Planned trials without a record."""
    notes: tuple[str, ...] = ()
    """What is worth a look, one plain sentence each."""
    simulated: bool = False
    foreign: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict)
    inference: Mapping[str, Any] | None = None
    """What may be concluded; `None` until it is computed."""
    comparison: Comparison | None = None
    """With the iteration before; `None` where there is none."""
    again: str = "assay run SKILL --resume"
    """The command that runs what is missing; ready to be copied where the skill is still in its place."""

    @property
    def primary(self) -> ArmFigures:
        """The arm whose worth is asked."""
        return self.arms[0]

    @property
    def baseline(self) -> ArmFigures | None:
        """The arm it is compared with."""
        return next((arm for arm in self.arms if arm.arm.role == "baseline"), None)

    def use(self, *, wanted: bool) -> tuple[int, int]:
        """(used, known): the primary arm's trials over the evals in which the skill should be used, or should not."""
        cells = [one.arms[self.primary.arm.name] for one in self.evals if one.eval.negative is not wanted]
        return sum(cell.used for cell in cells), sum(cell.use_known for cell in cells)

    @property
    def partial(self) -> bool:
        """Whether planned trials are missing."""
        return self.missing > 0

    @property
    def gated(self) -> tuple[EvalFigures, ...]:
        """The evals a gate looks at: those without a known issue."""
        return tuple(one for one in self.evals if one.eval.known_issue is None)
