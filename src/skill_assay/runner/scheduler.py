"""What to run next, when all of it is known beforehand."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from skill_assay.model.trial import Trial, TrialSpec

__all__ = ["FixedPlan"]


class FixedPlan:
    """Hands out the given trials in order."""

    def __init__(self, specs: Iterable[TrialSpec]) -> None:
        self._waiting = deque(specs)

    def next(self) -> TrialSpec | None:
        """The next trial in order."""
        return self._waiting.popleft() if self._waiting else None

    def arms_of(self, spec: TrialSpec) -> list[str]:
        """The arms of this eval and repeat that are still to be run, this one included."""
        same = (spec.id.eval_id, spec.id.repeat)
        return [spec.id.arm, *(s.id.arm for s in self._waiting if (s.id.eval_id, s.id.repeat) == same)]

    def settled(self, trial: Trial) -> None:
        """Nothing follows from it."""

    @property
    def finished(self) -> bool:
        """Whether all were handed out."""
        return not self._waiting
