"""Rounds for `--stop early`: one trial an arm and eval, then a look, then the next round, or none.

A look happens only when every trial of the round is settled, so that the arms stay balanced and no slow trial is
judged by its absence. The scheduler knows no statistics: what a look says is handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from skill_assay.model.trial import Trial, TrialSpec

__all__ = ["Crossed", "Rounds"]

Crossed = Callable[[Sequence[Trial]], bool]
"""From all settled trials of the rounds seen so far: is the answer clear?"""


class Rounds:
    """Hands out the trials of one round after another, until a look says stop.

    Args:
        specs: the trials still to be run.
        recorded: those settled before, by an earlier session.
        planned: rounds fixed in advance.
        crossed: the look.
    """

    def __init__(
        self, specs: Iterable[TrialSpec], recorded: Iterable[Trial], *, planned: int, crossed: Crossed
    ) -> None:
        self._waiting = deque(sorted(specs, key=lambda spec: spec.id.repeat))
        self._open = {spec.id for spec in self._waiting}
        self._settled = [trial for trial in recorded if trial.id not in self._open]
        self._planned, self._crossed = planned, crossed
        self._round = 0
        self.stopped_at: int | None = None
        """The round after which nothing more is run, where that is before the last one."""
        self.dropped = 0
        """Planned trials that will not be run."""
        self._advance()

    def next(self) -> TrialSpec | None:
        """A trial of the round at hand."""
        if self._waiting and self._waiting[0].id.repeat <= self._round:
            return self._waiting.popleft()
        return None

    def arms_of(self, spec: TrialSpec) -> list[str]:
        """The arms of this eval and repeat that are still to be run, this one included."""
        same = (spec.id.eval_id, spec.id.repeat)
        return [spec.id.arm, *(s.id.arm for s in self._waiting if (s.id.eval_id, s.id.repeat) == same)]

    def settled(self, trial: Trial) -> None:
        """Look when it was the round's last."""
        self._open.discard(trial.id)
        self._settled.append(trial)
        self._advance()

    @property
    def finished(self) -> bool:
        """Whether all rounds were handed out, or a look stopped them."""
        return not self._waiting

    def _advance(self) -> None:
        """Go to the next round for as long as the one at hand is settled; rounds that were settled before count too."""
        while self._round < self._planned and not any(one.repeat <= self._round for one in self._open):
            if self._round > 0 and self._crossed([t for t in self._settled if t.id.repeat <= self._round]):
                self.stopped_at = self._round
                self.dropped = len(self._waiting)
                self._waiting.clear()
                self._open.clear()
                return
            self._round += 1
