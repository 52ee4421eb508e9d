"""What one run of a query showed: triggered, not triggered, or nothing at all, from the record of its trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import median

from skill_assay.errors import FailureKind
from skill_assay.model.transcript import SkillUse
from skill_assay.model.trial import Attempt, Trial
from skill_assay.model.trigger_results import DecidedBy, RunState, TriggerRun
from skill_assay.triggering.watch import NOT_WITHIN, counts_as_use

__all__ = ["Names", "run_of", "state_of", "with_savings"]

_UNSEEN = "the prompt calls the skill by its name, which leaves no sign with this agent"
_NO_SIGNS = "this agent's output does not show whether a skill is used"


class Names:
    """By which names skills may be called, and the one folder each stands for.

    Args:
        own: all names of the skill under test.
        installed: the folder it is installed under.
        neighbours: name or folder → folder, of every other skill installed.
    """

    def __init__(self, own: frozenset[str], installed: str, neighbours: Mapping[str, str]) -> None:
        self.own, self.installed, self.neighbours = own, installed, neighbours

    def folder(self, name: str) -> str:
        """What a called name stands for; itself where it is none of the installed."""
        return self.installed if name in self.own else self.neighbours.get(name, name)


def state_of(trial: Trial, names: Names, subagents: bool) -> RunState:
    """What the trial's last attempt showed. What is seen only after the allowed turns counts for nothing."""
    attempt = trial.last
    if attempt is None:
        return RunState.ERROR
    unseen = attempt.started is not None and attempt.started.skill_signs is False
    if (attempt.ended_early or "").startswith(NOT_WITHIN):
        return RunState.UNSEEN if unseen else RunState.NOT_TRIGGERED
    if any(counts_as_use(use, names.own, subagents) for use in attempt.skill_uses):
        return RunState.TRIGGERED
    if attempt.failure is not None and attempt.failure.kind is FailureKind.TIME_LIMIT:
        return RunState.TIMEOUT
    if trial.counts and unseen:
        return RunState.UNSEEN
    return RunState.NOT_TRIGGERED if trial.counts and trial.skill_used is not None else RunState.ERROR


def run_of(trial: Trial, names: Names, subagents: bool) -> TriggerRun:
    """One run, as it enters the results."""
    attempt, state = trial.last or Attempt(0), state_of(trial, names, subagents)
    failure = attempt.failure
    said = {RunState.ERROR: _NO_SIGNS, RunState.UNSEEN: _UNSEEN}.get(state, "")
    message = failure.message if failure else said
    return TriggerRun(
        query_id=trial.id.eval_id,
        repeat=trial.id.repeat,
        state=state,
        fired=_fired(attempt.skill_uses, names, subagents),
        refused=tuple(dict.fromkeys(use.name for use in attempt.skill_uses if not use.confirmed)),
        decided_by=_decided_by(attempt, state),
        seconds=attempt.seconds if trial.last else None,
        decided_seconds=attempt.decided_seconds,
        turns=attempt.usage.turns,
        failure=failure.kind if failure else None,
        message=message,
    )


def _fired(uses: Iterable[SkillUse], names: Names, subagents: bool) -> tuple[str, ...]:
    confirmed = [use for use in uses if use.confirmed and (subagents or use.parent is None)]
    return tuple(dict.fromkeys(names.folder(use.name) for use in confirmed))


def _decided_by(attempt: Attempt, state: RunState) -> DecidedBy | None:
    if state is RunState.TRIGGERED:
        return "use"
    if state is RunState.NOT_TRIGGERED:
        return "turns" if attempt.ended_early else "answer"
    return None


def with_savings(runs: Iterable[TriggerRun], trials: Mapping[tuple[str, int], Trial]) -> tuple[TriggerRun, ...]:
    """The runs with what an early end saved: against the median of those that went to their own end, if there are any.

    Args:
        runs: of one evaluation.
        trials: their records, by query and repeat.
    """
    runs = tuple(runs)
    whole = [_wall(trials[run.query_id, run.repeat]) for run in runs if run.decided_by == "answer"]
    if not whole:
        return runs
    usual = median(whole)
    return tuple(
        run
        if run.decided_seconds is None
        else replace(run, saved_seconds=round(max(0.0, usual - run.decided_seconds), 3))
        for run in runs
    )


def _wall(trial: Trial) -> float:
    """Real seconds without waits, also of an agent whose own clock is scripted."""
    attempt = trial.last
    return max(0.0, attempt.wall_seconds - attempt.waited_seconds) if attempt else 0.0
