"""Runs a query no further once its pass or fail can't change: the decisions of the full grid with fewer launches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skill_assay.model.trial import Trial, TrialSpec
from skill_assay.stats.triggering import decided_fires

__all__ = ["Curtailed"]

_Key = tuple[str, str]


@dataclass(slots=True)
class _Tally:
    """One query under one description."""

    fired: int = 0
    silent: int = 0
    failed: int = 0
    running: int = 0

    def add(self, outcome: bool | None) -> None:
        self.fired += outcome is True
        self.silent += outcome is False
        self.failed += outcome is None

    def decided(self, planned: int, threshold: float) -> bool:
        left = planned - self.fired - self.silent - self.failed
        return decided_fires(self.fired, self.silent, left, threshold) is not None

    def may_be_decided(self, planned: int, threshold: float) -> bool:
        """Whether what is running now could decide it, so that one more launch may be one too many."""
        left = planned - self.fired - self.silent - self.failed - self.running
        ends = ((self.fired + self.running, self.silent), (self.fired, self.silent + self.running))
        return self.running > 0 and any(decided_fires(*end, left, threshold) is not None for end in ends)


class Curtailed:
    """A `Scheduler`: runs in the plan's order, less those of queries that are decided.

    Runs of one query are launched in the order of their repeats, so those that are recorded are the first ones.

    Args:
        specs: the runs that are still open.
        recorded: those that are not.
        planned: runs of a query in the full grid.
        threshold: of the rate.
        outcome: triggered or not; `None` for a run that is in no rate.
    """

    def __init__(
        self,
        specs: Sequence[TrialSpec],
        recorded: Iterable[Trial],
        planned: int,
        threshold: float,
        outcome: Callable[[Trial], bool | None],
    ) -> None:
        self._waiting = deque(specs)
        self._planned, self._threshold, self._outcome = planned, threshold, outcome
        self._tallies: dict[_Key, _Tally] = {}
        self.dropped = 0
        """Runs that will not be launched, since nothing depends on them."""
        for trial in recorded:
            self._tally(trial.id.eval_id, trial.id.arm).add(outcome(trial))
        self._drop()

    def next(self) -> TrialSpec | None:
        """The next run that may matter, or `None` while what is running may decide all that is left."""
        for spec in self._waiting:
            tally = self._tally(spec.id.eval_id, spec.id.arm)
            if not tally.may_be_decided(self._planned, self._threshold):
                tally.running += 1
                self._waiting.remove(spec)
                return spec
        return None

    def arms_of(self, spec: TrialSpec) -> list[str]:
        """Only its own: descriptions are not compared run by run."""
        return [spec.id.arm]

    def settled(self, trial: Trial) -> None:
        """Count it, and drop what can change nothing any more."""
        tally = self._tally(trial.id.eval_id, trial.id.arm)
        tally.running -= 1
        tally.add(self._outcome(trial))
        self._drop()

    @property
    def finished(self) -> bool:
        """Whether all that may matter was handed out."""
        return not self._waiting

    def _drop(self) -> None:
        before = len(self._waiting)
        self._waiting = deque(spec for spec in self._waiting if not self._is_decided(spec))
        self.dropped += before - len(self._waiting)

    def _is_decided(self, spec: TrialSpec) -> bool:
        return self._tally(spec.id.eval_id, spec.id.arm).decided(self._planned, self._threshold)

    def _tally(self, query: str, arm: str) -> _Tally:
        return self._tallies.setdefault((query, arm), _Tally())
