"""Which run to launch next for one description: only where a decision is open.

`curtailed`: each query until its pass or fail can't change; the decisions are those of the full grid.
`adaptive`: besides,
- a query that looks wrong at its first run is run on at once; one that looks right is confirmed, but not where the
  description to beat passed it in every run (it is then seen once, and passes by that);
- train is left once the description will hardly lead there any more, test once it will hardly win any more.
What is run on train never depends on test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from skill_assay.model.triggers import Query, Split
from skill_assay.stats.racing import chance_of_at_least, pass_chance
from skill_assay.stats.triggering import decided_fires, reaches

__all__ = ["HOPELESS", "Allocation", "Effort", "Rival", "Tally"]

Effort = Literal["full", "curtailed", "adaptive"]
HOPELESS = 0.15
"""A part is left when the chance to come out ahead in it is below this."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A description to beat, on one side of the split."""

    passed: Mapping[str, bool | None]
    """Query → pass or fail."""
    steady: frozenset[str] = frozenset()
    """Queries it passed in every run, at least two of them (its own, or those of the one it had to beat)."""

    @property
    def passes(self) -> int:
        """How many queries pass."""
        return sum(passed is True for passed in self.passed.values())


@dataclass(slots=True)
class Tally:
    """What the runs of one query showed so far."""

    query: Query
    split: Split
    planned: int
    threshold: float
    whole: bool = False
    """Whether all its runs are wanted."""
    fired: int = 0
    silent: int = 0
    failed: int = 0
    running: int = 0

    @property
    def decided_runs(self) -> int:
        """Runs that triggered or did not."""
        return self.fired + self.silent

    @property
    def right(self) -> int:
        """Runs that went as they should."""
        return self.fired if self.query.should_trigger else self.silent

    @property
    def passed(self) -> bool | None:
        """By the runs so far; `None` without any that counts."""
        if not self.decided_runs:
            return None
        return reaches(self.fired, self.decided_runs, self.threshold) == self.query.should_trigger

    @property
    def left(self) -> int:
        """Runs of the full grid that are not settled."""
        return self.planned - self.decided_runs - self.failed

    @property
    def sure(self) -> bool:
        """Whether no further run can change the pass or fail."""
        return self._is_sure(self.fired, self.silent, self.left)

    def _is_sure(self, fired: int, silent: int, left: int) -> bool:
        return left == 0 or decided_fires(fired, silent, left, self.threshold) is not None

    @property
    def may_be_launched(self) -> bool:
        """Whether one more run can matter, whatever those that are running bring."""
        left = self.left - self.running
        if left <= 0 or (self.sure and not self.whole):
            return False
        if self.whole or not self.running:
            return True
        ends = ((self.fired + self.running, self.silent), (self.fired, self.silent + self.running))
        return not any(self._is_sure(fired, silent, left) for fired, silent in ends)

    def chance(self, rival: Rival, *, at_worst: bool = False) -> float:
        """The chance that it passes in the end; at worst: if what is running goes wrong."""
        if self.sure:
            return float(self.passed is True)
        before = rival.passed.get(self.query.id) is True
        lost = self.running if at_worst else 0
        wrong, label = self.decided_runs - self.right + lost, self.query.should_trigger
        return pass_chance(
            self.right, wrong, self.left - lost, self.threshold, should_trigger=label, passed_before=before
        )


@dataclass(slots=True)
class Allocation:
    """Chooses runs for one description, and keeps what they showed.

    Args:
        train, test: the queries; none of the one in the other.
        runs: of each query in the full grid.
        threshold: a positive passes at this rate and above, a negative below it.
        effort: how much is left out.
        lead: the best so far on train; `None` for the first one, which is measured whole.
        best: the best so far on test, likewise.
        hard: test query → how many earlier descriptions failed it; these come first.
    """

    train: Sequence[Query]
    test: Sequence[Query]
    runs: int
    threshold: float
    effort: Effort = "adaptive"
    lead: Rival | None = None
    best: Rival | None = None
    hard: Mapping[str, int] = field(default_factory=dict)
    _tallies: dict[str, Tally] = field(default_factory=dict)

    def __post_init__(self) -> None:
        hardest = sorted(self.test, key=lambda query: -self.hard.get(query.id, 0))
        parts: tuple[tuple[Split, Sequence[Query]], ...] = (("train", self.train), ("test", hardest))
        for split, queries in parts:
            for query in queries:
                self._tallies[query.id] = Tally(query, split, self.runs, self.threshold, self.effort == "full")

    def of(self, split: Split) -> list[Tally]:
        """The tallies of one side, in the order in which they are run."""
        return [tally for tally in self._tallies.values() if tally.split == split]

    def next(self) -> str | None:
        """The query to run now, or `None`: nothing, at least until a run settles."""
        chosen = next((tally for tally in self._in_order(now=True) if tally.may_be_launched), None)
        if chosen is None:
            return None
        chosen.running += 1
        return chosen.query.id

    def settled(self, query_id: str, outcome: bool | None) -> None:
        """A run that was launched has ended; `None` is one that counts for nothing."""
        self._tallies[query_id].running -= 1
        self.recorded(query_id, outcome)

    def recorded(self, query_id: str, outcome: bool | None) -> None:
        """A run of an earlier session, of whatever query."""
        tally = self._tallies.get(query_id)
        if tally is None:
            return
        tally.fired += outcome is True
        tally.silent += outcome is False
        tally.failed += outcome is None

    @property
    def done(self) -> int:
        """Settled runs, earlier sessions' included."""
        return sum(tally.decided_runs + tally.failed for tally in self._tallies.values())

    @property
    def finished(self) -> bool:
        """Nothing more will be launched, whatever comes."""
        running = any(tally.running for tally in self._tallies.values())
        return not running and not any(tally.may_be_launched for tally in self._in_order())

    @property
    def cannot_lead(self) -> bool:
        """Whether train was left: the description will hardly reach the best one so far there."""
        return self._hopeless("train")

    @property
    def cannot_win(self) -> bool:
        """Whether test was left: the description will hardly beat the best one so far there."""
        return self._hopeless("test")

    def _hopeless(self, split: Split, *, at_worst: bool = False) -> bool:
        rival, more = (self.lead, 0) if split == "train" else (self.best, 1)
        if self.effort != "adaptive" or rival is None:
            return False
        known = [tally for tally in self.of(split) if rival.passed.get(tally.query.id) is not None]
        chances = [tally.chance(rival, at_worst=at_worst) for tally in known]
        return chance_of_at_least(rival.passes + more, chances) < HOPELESS

    def _in_order(self, *, now: bool = False) -> list[Tally]:
        """What is worth a run, the most telling first; now: less what may be settled by the runs that are going on."""
        if self.effort != "adaptive":
            return list(self._tallies.values())
        train = [] if self._hopeless("train", at_worst=now) else _looked_at(self.of("train"), self.lead, whole=True)
        test = [] if self._hopeless("test", at_worst=now) else _looked_at(self.of("test"), self.best, whole=False)
        return [*train, *test]

    def rival(self, split: Split) -> Rival:
        """This description as the next one's to beat."""
        before = {"train": self.lead, "test": self.best}.get(split)
        known = before.steady if before else frozenset()
        tallies = self.of(split)
        return Rival(
            {tally.query.id: tally.passed for tally in tallies},
            frozenset(tally.query.id for tally in tallies if _is_steady(tally, known)),
        )


def _is_steady(tally: Tally, known: frozenset[str]) -> bool:
    always = tally.decided_runs > 0 and tally.right == tally.decided_runs
    return always and (tally.decided_runs > 1 or tally.query.id in known)


def _looked_at(tallies: Sequence[Tally], rival: Rival | None, *, whole: bool) -> list[Tally]:
    """Those without a result; then those that look wrong; once these are settled, those that look right.

    Args:
        whole: where all looks right every query is confirmed, since that ends the search.
    """
    unseen = [tally for tally in tallies if not tally.decided_runs]
    wrong = [tally for tally in tallies if tally.decided_runs and not tally.passed]
    begun = [tally for tally in unseen if not tally.running] + wrong
    if any(tally.left for tally in unseen) or not all(tally.sure for tally in wrong):
        return begun
    steady = rival.steady if rival and not (whole and not wrong and not unseen) else frozenset()
    return [tally for tally in tallies if tally.passed and tally.query.id not in steady]
