"""Executes a plan on this machine: asks the scheduler, launches as many as admission lets through, keeps the record.

It stops launching when a cap is reached, when a failure awaits every trial alike (not signed in, unknown model),
when the first trials all fail for the same outside reason, or when the user interrupts; what is running is then
finished or, on an interrupt, ended, and all that was measured is kept.
"""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import anyio
from anyio.abc import TaskGroup, TaskStatus

from skill_assay.errors import AssayError, Failure, FailureKind, policy
from skill_assay.model.protocols import Scheduler, StopWhen
from skill_assay.model.trial import State, Trial, TrialId, TrialSpec
from skill_assay.runner.admission import BudgetReached
from skill_assay.runner.earlier import NOTHING, Earlier
from skill_assay.runner.progress import Display, Progress
from skill_assay.runner.rig import Rig
from skill_assay.runner.trial import run_trial
from skill_assay.workspace.writing import explained

__all__ = ["Ending", "Engine", "Stopped", "never"]

_DEGENERATE = 10
"""So many first trials that all fail for one outside reason stop a run."""


def never(spec: TrialSpec) -> StopWhen | None:
    """Nothing ends a trial before the agent does."""


def _fine(trial: Trial) -> str | None:
    """Nothing is wrong with any trial."""


class Ending(StrEnum):
    """Why a run ended."""

    DONE = "done"
    BUDGET = "budget"
    FAILURE = "failure"
    """A failure that awaits every other trial."""
    DEGENERATE = "degenerate"
    INTERRUPTED = "interrupted"
    UNEQUAL = "unequal"
    """The arms differ in more than the skill."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """How a run ended, and in words why."""

    ending: Ending
    reason: str = ""
    failure: Failure | None = None


@dataclass(slots=True)
class Engine:
    """One run of a plan."""

    rig: Rig
    scheduler: Scheduler
    display: Display
    total: int
    stop_when: Callable[[TrialSpec], StopWhen | None] = never
    earlier: Mapping[TrialId, Earlier] = field(default_factory=dict)
    check_first: Callable[[Trial], str | None] = _fine
    """Sees every settled trial; a text stops the run because the arms are not equal."""
    _running: int = 0
    _done: int = 0
    _retried: int = 0
    _excluded: int = 0
    _settled: list[Trial] = field(default_factory=list)
    _stopped: Stopped | None = None
    _began: float = 0.0
    _error: BaseException | None = None
    _held: set[tuple[str, int]] = field(default_factory=set)
    _first: set[str] = field(default_factory=set)
    """Arms of which a launch runs before any of theirs had a price."""
    _tried: set[str] = field(default_factory=set)
    """Arms of which a launch came to its end."""
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> Stopped:
        """Run to the end, or until something stops it."""
        self._began = anyio.current_time()
        async with anyio.create_task_group() as outer:
            await outer.start(self._listen_for_signals, outer.cancel_scope)
            async with anyio.create_task_group() as tasks:
                await self._launch_all(tasks)
            outer.cancel_scope.cancel()
        if self._error is not None:
            raise self._error
        return self._stopped or Stopped(Ending.DONE)

    async def _listen_for_signals(self, scope: anyio.CancelScope, *, task_status: TaskStatus[None]) -> None:
        if threading.current_thread() is not threading.main_thread():
            # Signals reach the main thread alone; who runs us in another one cancels from outside.
            task_status.started()
            return
        try:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                task_status.started()
                async for _ in signals:
                    self._stop(Stopped(Ending.INTERRUPTED, "interrupted"))
                    scope.cancel()
                    return
        except (NotImplementedError, ValueError):
            # A platform without signal receivers: Ctrl-C then cancels from outside.
            task_status.started()

    async def _launch_all(self, tasks: TaskGroup) -> None:
        while self._stopped is None:
            if self._running >= self.rig.admission.workers:
                await self._something_changes()
                continue
            spec = self.scheduler.next()
            if spec is None:
                if self.scheduler.finished or self._running == 0:
                    return
                await self._something_changes()
                continue
            if not await self._price_comes(spec.id.arm):
                return
            if not self._afford(spec):
                self._stop(Stopped(Ending.BUDGET, "the budget is reached"))
                return
            self._running += 1
            if self._is_first(spec.id.arm):
                self._first.add(spec.id.arm)
            tasks.start_soon(self._one, spec)
            self._tell()

    async def _price_comes(self, arm: str) -> bool:
        """Wait while an arm's first launch runs, or it would be dearer than set aside once a worker. False: stopped."""
        while arm in self._first and self._stopped is None:
            await self._something_changes()
        return self._stopped is None

    def _is_first(self, arm: str) -> bool:
        budget, bounded = self.rig.settings.budget, self.rig.arms[arm].agent.capabilities.cost_cap
        asked = budget.tokens is not None or (budget.usd is not None and not bounded)
        return asked and arm not in self._tried and not self.rig.prices.known(arm)

    def _afford(self, spec: TrialSpec) -> bool:
        """Set aside a whole repeat of an eval, all arms together, before its first launch."""
        block = (spec.id.eval_id, spec.id.repeat)
        if block in self._held:
            return True
        prices = self.rig.prices
        parts = {
            (
                TrialId(spec.id.eval_id, arm, spec.id.repeat),
                len(self._earlier(spec.id, arm).attempts) + 1,
            ): prices.worst(arm)
            for arm in self._arms_waiting(spec)
        }
        if not self.rig.ledger.hold(parts):
            return False
        self._held.add(block)
        return True

    def _arms_waiting(self, spec: TrialSpec) -> list[str]:
        waiting = getattr(self.scheduler, "arms_of", None)
        return waiting(spec) if waiting else [spec.id.arm]

    def _earlier(self, trial: TrialId, arm: str) -> Earlier:
        return self.earlier.get(TrialId(trial.eval_id, arm, trial.repeat), NOTHING)

    async def _one(self, spec: TrialSpec) -> None:
        note = self.rig.ledger.note
        note("trial_state", trial=str(spec.id), state=State.RUNNING)
        try:
            trial = await run_trial(spec, self.rig, self.stop_when(spec), self.earlier.get(spec.id, NOTHING))
        except BudgetReached as reached:
            note("trial_state", trial=str(spec.id), state=State.INTERRUPTED)
            self._stop(Stopped(Ending.BUDGET, reached.message))
        except AssayError as error:
            self._give_up(error)
        except OSError as error:
            self._give_up(explained(error, Path(error.filename or tempfile.gettempdir())))
        except Exception as error:
            # A fault of ours in one trial does not throw away what the others have cost so far.
            self._give_up(error)
        else:
            note("trial_state", trial=str(spec.id), state=trial.state)
            self._settle(trial)
        finally:
            self._running -= 1
            self._first.discard(spec.id.arm)
            self._tried.add(spec.id.arm)
            self._tell()

    def _give_up(self, error: Exception) -> None:
        """Launch no more; what runs is finished and recorded, as far as that is still possible."""
        self._error = self._error or error
        self._stop(Stopped(Ending.FAILURE, error.message if isinstance(error, AssayError) else repr(error)))

    def _settle(self, trial: Trial) -> None:
        self._done += 1
        self._retried += len(trial.attempts) > 1
        self._excluded += trial.state is State.EXCLUDED
        self._settled.append(trial)
        self.scheduler.settled(trial)
        self.display.settled(trial)
        failure = trial.failure
        if failure is not None and policy(failure).stops_run:
            self._stop(Stopped(Ending.FAILURE, failure.message, failure))
        elif (wait := self._asked_to_wait(failure)) is not None:
            self._stop(Stopped(Ending.FAILURE, wait))
        elif self._is_degenerate():
            said = failure.message if failure else ""
            reason = f"the first {_DEGENERATE} trials all failed for the same reason: {said}"
            self._stop(Stopped(Ending.DEGENERATE, reason, failure))
        elif (unequal := self.check_first(trial)) is not None:
            self._stop(Stopped(Ending.UNEQUAL, unequal))

    def _asked_to_wait(self, failure: Failure | None) -> str | None:
        """A wait beyond what we wait at all awaits every other trial: each would be launched only to be excluded."""
        if failure is None or not policy(failure).shared or failure.retry_after is None:
            return None
        if failure.retry_after <= self.rig.settings.retrying.total_seconds:
            return None
        return f"the API asks to wait for {failure.retry_after / 60:,.0f} minutes ({failure.message})"

    def _is_degenerate(self) -> bool:
        if len(self._settled) != _DEGENERATE:
            return False
        kinds: set[FailureKind | None] = {trial.failure.kind if trial.failure else None for trial in self._settled}
        return len(kinds) == 1 and None not in kinds and not any(trial.counts for trial in self._settled)

    def _stop(self, stopped: Stopped) -> None:
        self._stopped = self._stopped or stopped
        self._wake()

    async def _something_changes(self) -> None:
        # A worker may also come free by time alone, when the API's pause is over.
        with anyio.move_on_after(1.0):
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _tell(self) -> None:
        self._wake()
        spent = self.rig.ledger.spent
        admission = self.rig.admission
        self.display.update(
            Progress(
                done=self._done,
                total=self.total - getattr(self.scheduler, "dropped", 0),
                running=self._running,
                workers=admission.workers,
                worker_limit=admission.ceiling,
                retried=self._retried,
                excluded=self._excluded,
                usd=spent.usd,
                assumed_usd=spent.assumed_usd,
                tokens=spent.tokens,
                seconds=anyio.current_time() - self._began,
            )
        )
