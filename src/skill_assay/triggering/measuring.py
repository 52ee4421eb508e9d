"""Measures a description with real runs: one trigger evaluation a description, its runs chosen by an allocation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skill_assay.model.money import Spend
from skill_assay.model.optimisation import Exit
from skill_assay.model.trial import Trial, TrialSpec
from skill_assay.runner.canary import ensure_canary
from skill_assay.runner.engine import Ending, Stopped
from skill_assay.runner.execute import make_sandbox
from skill_assay.runner.progress import Display, Progress
from skill_assay.runner.settings import Budget, RunSettings
from skill_assay.triggering.allocate import Allocation
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.evaluate import Evaluation, evaluate, open_evaluation
from skill_assay.triggering.optimise import Measured
from skill_assay.triggering.subject import Subject
from skill_assay.workspace.journal import replay
from skill_assay.workspace.optimise_store import OptimisationFolder

__all__ = ["Allotted", "Measurer", "remaining"]

_EXITS: Mapping[Ending, Exit] = {Ending.BUDGET: "budget", Ending.INTERRUPTED: "interrupted"}


class Allotted:
    """A `Scheduler` that runs what an allocation asks for; runs of a query in the order of their repeats.

    Args:
        specs: the runs that are still open.
        recorded: those that are not.
        allocation: says what to run, and is told what it showed.
        outcome: triggered or not; `None` for a run that is in no rate.
        changed: called after every run.
    """

    def __init__(
        self,
        specs: Sequence[TrialSpec],
        recorded: Iterable[Trial],
        allocation: Allocation,
        outcome: Callable[[Trial], bool | None],
        changed: Callable[[], None],
    ) -> None:
        self._allocation, self._outcome, self._changed = allocation, outcome, changed
        self._waiting: dict[str, deque[TrialSpec]] = {}
        for spec in sorted(specs, key=lambda spec: spec.id.repeat):
            self._waiting.setdefault(spec.id.eval_id, deque()).append(spec)
        for trial in recorded:
            allocation.recorded(trial.id.eval_id, outcome(trial))
        changed()

    def next(self) -> TrialSpec | None:
        """The next run that may matter."""
        query = self._allocation.next()
        return None if query is None else self._waiting[query].popleft()

    def arms_of(self, spec: TrialSpec) -> list[str]:
        """Only its own."""
        return [spec.id.arm]

    def settled(self, trial: Trial) -> None:
        """Tell the allocation."""
        self._allocation.settled(trial.id.eval_id, self._outcome(trial))
        self._changed()

    @property
    def finished(self) -> bool:
        """Whether nothing more is asked for."""
        return self._allocation.finished


def remaining(budget: Budget, spent: Spend) -> Budget:
    """The caps that are left after something was spent; never below nothing."""
    return Budget(
        None if budget.usd is None else max(0.0, budget.usd - spent.usd),
        None if budget.tokens is None else max(0, budget.tokens - spent.tokens),
        None if budget.trials is None else max(0, budget.trials - spent.launches),
    )


@dataclass(slots=True)
class Measurer:
    """Implements `triggering.optimise.Measure`.

    Args:
        subject: the skill with all its queries.
        choice: how a run is decided.
        settings: what every run shares; its budget is that of the whole search.
        folder: where the search is kept.
        display: is told what must not be lost.
        environment: the user's.
        base_url: a model server of our own, for tests.
        asked: what the proposer has cost so far.
    """

    subject: Subject
    choice: TriggerChoice
    settings: RunSettings
    folder: OptimisationFolder
    display: Display
    environment: Mapping[str, str]
    base_url: str | None = None
    asked: Callable[[], Spend] = Spend
    _spent: dict[str, Spend] = field(default_factory=dict)
    _queries: dict[str, frozenset[str]] = field(default_factory=dict)
    _tested: bool = False

    @property
    def spent(self) -> Spend:
        """By all measurements, those of earlier sessions included once they were gone through again."""
        return sum(self._spent.values(), Spend())

    def open(self, place: str, description: str, queries: Iterable[str]) -> Evaluation:
        """The evaluation of a place, its earlier runs found again."""
        names = self._queries.setdefault(place, frozenset(queries))
        same = description == self.subject.skill.description
        subject = (self.subject if same else self.subject.described(description)).only(names)
        workspace = self.folder.round(place)
        others = sum((spend for name, spend in self._spent.items() if name != place), self.asked())
        return open_evaluation(
            subject,
            self.choice,
            replace(self.settings, budget=remaining(self.settings.budget, others)),
            workspace,
            "resume" if any(one.has_plan for one in workspace.iterations()) else "new",
            environment=self.environment,
            base_url=self.base_url,
        )

    async def __call__(
        self, place: str, description: str, allocation: Allocation, changed: Callable[[], None]
    ) -> Measured:
        """Launch what the allocation asks for."""
        queries = [tally.query.id for side in ("train", "test") for tally in allocation.of(side)]
        with self.open(place, description, queries) as evaluation:
            await self._self_test(evaluation)

            def schedule(specs: Sequence[TrialSpec], recorded: Iterable[Trial]) -> Allotted:
                return Allotted(specs, recorded, allocation, evaluation.outcome, changed)

            result = await evaluate(evaluation, _Inner(self.display), schedule)
            state = replay(result.iteration.journal_path())
            self._spent[place] = state.spent + state.unsettled
            return _measured(result.stopped)

    async def _self_test(self, evaluation: Evaluation) -> None:
        session = evaluation.session
        if self._tested or session.detected is None or self.base_url is not None:
            return
        self._tested = True
        report = await ensure_canary(session.agent, session.detected, make_sandbox(session.settings))
        if report is not None:
            self.display.say(f"✓ detection self-test on your CLI: {report.passed} of {len(report.results)}")


def _measured(stopped: Stopped) -> Measured:
    if stopped.ending is Ending.DONE:
        return Measured()
    return Measured(_EXITS.get(stopped.ending, "failure"), stopped.reason or stopped.ending)


@dataclass(slots=True)
class _Inner:
    """The display of one evaluation inside a search: only what must not be lost goes on."""

    outer: Display

    def begin(self, lines: Sequence[str], total: int) -> None:
        """The search has said it."""

    def update(self, progress: Progress) -> None:
        """The table shows it."""

    def settled(self, trial: Trial) -> None:
        """An excluded run is said."""
        self.outer.settled(trial)

    def say(self, text: str) -> None:
        """A line."""
        self.outer.say(text)

    def end(self) -> None:
        """The search goes on."""
