"""The search: measure a description, ask for a better one with what train showed, again; test picks, fresh tells.

Train and test are run as one batch. Nothing that follows from test reaches the proposer: which description it improves
on, when the search ends and what is run on train all follow from train alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from skill_assay.errors import IncompleteError
from skill_assay.model.optimisation import Accept, Cell, Evidence, Exit, Optimisation, Round
from skill_assay.runner.admission import BudgetReached
from skill_assay.triggering.accept import (
    beats,
    best_round,
    choose,
    deciding_split,
    evidence_on_fresh,
    evidence_on_test,
)
from skill_assay.triggering.allocate import Allocation, Effort, Rival
from skill_assay.triggering.cells import cells_of, with_test
from skill_assay.triggering.proposer import Brief, Proposal, brief_of
from skill_assay.triggering.split import Splits

__all__ = ["Checkpoint", "Measure", "Measured", "Problem", "Propose", "Search", "most_launches"]

_SKIPS = 2
"""So many rounds in a row without a description end the search."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is searched, and how."""

    skill_name: str
    body: str
    original: str
    splits: Splits
    runs: int = 3
    threshold: float = 0.5
    rounds: int = 5
    patience: int = 3
    """So many rounds that do not lead on train end the search."""
    accept: Accept = "best"
    effort: Effort = "adaptive"
    holdout: float = 0.4
    seed: int = 42


@dataclass(frozen=True, slots=True)
class Measured:
    """How the measurement of a description ended."""

    exit: Exit | None = None
    """`None`: as it was meant to."""
    reason: str = ""


class Measure(Protocol):
    """Launches what an allocation asks for, and tells it what each run showed."""

    async def __call__(
        self, place: str, description: str, allocation: Allocation, changed: Callable[[], None]
    ) -> Measured:
        """Measure one description.

        Args:
            place: names the record; what it already holds is told first and not launched again.
            description: the text.
            allocation: says what to run, and is told.
            changed: to be called after every run.
        """
        ...


class Checkpoint(Protocol):
    """Keeps what a resumed search can't find out again: what was proposed."""

    def proposal(self, number: int) -> Proposal | None:
        """That of a round, if it came to one."""
        ...

    def keep(self, number: int, proposal: Proposal) -> None:
        """Write it down."""
        ...


Propose = Callable[[Brief, Sequence[str]], Awaitable[Proposal]]
"""From what may be told, and the descriptions tried, to a new one."""


def most_launches(problem: Problem) -> int:
    """Runs of the full grid over all rounds, fresh ones included."""
    splits = problem.splits
    return problem.runs * (problem.rounds * (len(splits.train) + len(splits.test)) + 2 * len(splits.fresh))


def _unseen(state: Optimisation) -> None:
    """Nobody looks on."""


@dataclass(slots=True)
class Search:
    """One search. `run` again with the same checkpoint and records goes on where it stopped."""

    problem: Problem
    measure: Measure
    propose: Propose
    checkpoint: Checkpoint
    watch: Callable[[Optimisation], None] = _unseen
    rounds: list[Round] = field(default_factory=list)
    _best: Rival | None = None
    _lead: Rival | None = None
    _current: int = 1
    _hard: dict[str, int] = field(default_factory=dict)
    _fresh: list[tuple[int, tuple[Cell, ...]]] = field(default_factory=list)
    _proposals: int = 0
    _extra: int = 0

    async def run(self) -> Optimisation:
        """Search to the end."""
        ended, reason = await self._search()
        if ended in ("all_passed", "max_iterations", "plateau", "no_proposal"):
            late = await self._confirm() or await self._measure_fresh()
            if late is not None:
                ended, reason = late
        return self.state(ended, reason)

    async def _search(self) -> tuple[Exit, str]:
        description, stale, skips = self.problem.original, 0, 0
        for number in range(1, self.problem.rounds + 1):
            if number > 1:
                try:
                    proposal = await self._proposal(number)
                except BudgetReached as reached:
                    return "budget", reached.message
                except IncompleteError as error:
                    return "failure", error.message
                if proposal.description is None:
                    self._add(Round(number, "", skipped=proposal.skipped, refused=proposal.refused))
                    skips += 1
                    if skips == _SKIPS:
                        return "no_proposal", f"no usable description came in {_SKIPS} rounds: {proposal.skipped}"
                    continue
                description, skips = proposal.description, 0
                refused = proposal.refused
            else:
                refused = ()
            before = self._lead
            measured = await self._round(number, description, refused)
            if measured.exit is not None:
                return measured.exit, measured.reason
            if self._is_perfect():
                return "all_passed", f"all train queries pass in round {number}"
            rose = before is None or (self._lead is not None and self._lead.passes > before.passes)
            stale = 0 if rose else stale + 1
            if stale >= self.problem.patience and number < self.problem.rounds:
                return "plateau", f"{stale} rounds in a row passed no more train queries than before"
        return "max_iterations", f"all {self.problem.rounds} rounds are done"

    async def _proposal(self, number: int) -> Proposal:
        proposal = self.checkpoint.proposal(number)
        if proposal is None:
            brief = brief_of(self.problem.skill_name, self.problem.body, self._measured(), self._current)
            proposal = await self.propose(brief, [one.description for one in self._measured()])
            self.checkpoint.keep(number, proposal)
        self._proposals += proposal.asked
        return proposal

    def _measured(self) -> list[Round]:
        return [one for one in self.rounds if one.cells]

    async def _round(self, number: int, description: str, refused: tuple[str, ...]) -> Measured:
        problem, splits = self.problem, self.problem.splits
        allocation = Allocation(
            *(splits.train, splits.test, problem.runs, problem.threshold, problem.effort),
            lead=self._lead,
            best=self._best,
            hard=self._hard,
        )

        def as_it_is(ending: str = "") -> Round:
            cells = cells_of(allocation, {"train": splits.train, "test": splits.test})
            left = (allocation.cannot_lead, allocation.cannot_win)
            return Round(number, description, cells, allocation.done, *left, ending, "", refused)

        self._add(as_it_is("going on"))

        def changed() -> None:
            self.rounds[-1] = as_it_is("going on")
            self.watch(self.state())

        measured = await self.measure(f"round-{number}", description, allocation, changed)
        self.rounds[-1] = as_it_is(measured.reason or measured.exit or "")
        if measured.exit is None:
            self._learn(allocation, self.rounds[-1])
        self.watch(self.state())
        return measured

    def _learn(self, allocation: Allocation, one: Round) -> None:
        """What the next description has to beat, on either side; and which test queries are hard."""
        others = self._measured()[:-1]
        if not others or beats(one, best_round(others)):
            self._best = allocation.rival("test")
        train = allocation.rival("train")
        if self._lead is None or (not one.left_train and train.passes >= self._lead.passes):
            self._lead, self._current = train, one.number
        for cell in one.of("test"):
            self._hard[cell.query.id] = self._hard.get(cell.query.id, 0) + (cell.passed is False)

    def _is_perfect(self) -> bool:
        return all(cell.passed and cell.sure for cell in self.rounds[-1].of("train"))

    async def _confirm(self) -> tuple[Exit, str] | None:
        """Decide every test query of the best one, until the best one is decided."""
        while True:
            leader = best_round(self._measured())
            open_now = tuple(cell.query for cell in leader.of("test") if not cell.sure)
            if not open_now:
                return None
            problem, at = self.problem, self.rounds.index(leader)
            queries = problem.splits.test
            allocation = Allocation((), queries, problem.runs, problem.threshold, "curtailed")

            def changed(leader: Round = leader, at: int = at, allocation: Allocation = allocation) -> None:
                self.rounds[at] = with_test(leader, allocation)
                self.watch(self.state())

            measured = await self.measure(f"round-{leader.number}", leader.description, allocation, changed)
            changed()
            if measured.exit is not None:
                return measured.exit, measured.reason
            if any(not cell.sure for cell in self.rounds[at].of("test")):
                return "failure", "the best description could not be measured to its end"

    async def _measure_fresh(self) -> tuple[Exit, str] | None:
        problem, leader = self.problem, best_round(self._measured())
        if not problem.splits.fresh:
            return None
        for one in dict.fromkeys((self.rounds[0], leader)):
            effort: Effort = "full" if problem.effort == "full" else "curtailed"
            allocation = Allocation((), problem.splits.fresh, problem.runs, problem.threshold, effort)
            measured = await self.measure(
                f"fresh-{one.number}", one.description, allocation, lambda: self.watch(self.state())
            )
            if measured.exit is not None:
                return measured.exit, measured.reason
            self._extra += allocation.done
            self._fresh.append((one.number, cells_of(allocation, {"fresh": problem.splits.fresh})))
        return None

    def _add(self, one: Round) -> None:
        self.rounds.append(one)
        self.watch(self.state())

    def state(self, ended: Exit | None = None, reason: str = "") -> Optimisation:
        """All that is known now."""
        problem = self.problem
        measured = self._measured()
        leader = best_round(measured) if measured else Round(1, problem.original)
        evidence = self._evidence(leader) if ended else ()
        chosen = choose(leader.number, evidence, problem.accept, deciding_split(problem.splits)) if ended else 1
        splits = problem.splits
        return Optimisation(
            skill_name=problem.skill_name,
            original=problem.original,
            rounds=tuple(self.rounds),
            leader=leader.number,
            chosen=chosen,
            exit=ended,
            reason=reason,
            accept=problem.accept,
            evidence=evidence,
            runs=problem.runs,
            threshold=problem.threshold,
            holdout=problem.holdout,
            seed=problem.seed,
            sizes=(len(splits.train), len(splits.test), len(splits.fresh)),
            fresh=tuple(self._fresh),
            launches=sum(one.launches for one in self.rounds) + self._extra,
            proposals=self._proposals,
            over=ended is not None,
        )

    def _evidence(self, leader: Round) -> tuple[Evidence, ...]:
        on_test = evidence_on_test(self._measured(), leader, self.problem.seed)
        if on_test is None:
            return ()
        fresh = dict(self._fresh)
        if leader.number not in fresh:
            return (on_test,)
        return (on_test, evidence_on_fresh(fresh[1], fresh[leader.number]))
