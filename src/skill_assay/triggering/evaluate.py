"""A trigger evaluation from its inputs to its results: the runner's own trials, each of which may be decided early.

    subject = read_subject(root, choice, …)            the skill, its queries, its neighbours
    with open_evaluation(subject, choice, settings, workspace) as evaluation:
        ran = await evaluate(evaluation, display)      launches what is missing; every run is recorded as it settles
        runs = evaluation.runs(ran.iteration)          what they showed, from the records
        queries = judged(evaluation, runs)             pass or fail

An optimiser opens one evaluation a description (`subject.described(text)`, `subject.only(ids)`), each in a folder of
its own; an interrupted one goes on with `mode="resume"`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.model.protocols import Agent, Scheduler, StopWhen
from skill_assay.model.trial import Trial, TrialSpec
from skill_assay.model.trigger_results import CatalogueCheck, QueryResult, TriggerResults, TriggerRun
from skill_assay.runner.engine import Ending
from skill_assay.runner.execute import Result, Schedule, execute, in_order, own_names
from skill_assay.runner.progress import Display
from skill_assay.runner.session import Mode, Session, open_session
from skill_assay.runner.settings import Retrying, RunSettings
from skill_assay.triggering.advice import advise
from skill_assay.triggering.catalogue import check_catalogue, copy_neighbours, installed_as, listing_warnings
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.curtail import Curtailed
from skill_assay.triggering.reach import reach_notes
from skill_assay.triggering.results import by_class, by_context, by_tag, judge_query, make_matrix, score
from skill_assay.triggering.states import Names, run_of, state_of, with_savings
from skill_assay.triggering.subject import Subject
from skill_assay.triggering.watch import Decider
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.trigger_store import TriggerWorkspace

__all__ = ["RETRY_SECONDS", "Evaluation", "evaluate", "judged", "open_evaluation", "trigger_results"]

RETRY_SECONDS = 300.0
"""Waits for one run's retries, all together."""


@dataclass(slots=True)
class Evaluation:
    """A resolved trigger evaluation, before anything is launched or written."""

    subject: Subject
    choice: TriggerChoice
    session: Session
    names: Names
    catalogue: CatalogueCheck
    notes: tuple[str, ...]
    _stack: ExitStack

    def close(self) -> None:
        """Remove the private copies."""
        self._stack.close()

    def __enter__(self) -> Evaluation:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def planned(self) -> int:
        """Runs of each query in the full grid."""
        return self.session.plan.trials

    def outcome(self, trial: Trial) -> bool | None:
        """Triggered or not; `None` for a run that is in no rate."""
        return state_of(trial, self.names, self.choice.subagents).outcome

    def stop_when(self, spec: TrialSpec) -> StopWhen:
        """What ends a run early."""
        return Decider(self.names.own, self.choice.decide_after, self.choice.subagents)

    def curtailed(self, specs: Sequence[TrialSpec], recorded: Iterable[Trial]) -> Scheduler:
        """Leaves out runs that can change no decision."""
        return Curtailed(specs, recorded, self.planned, self.choice.threshold, self.outcome)

    def trials(self, folder: Iteration) -> list[Trial]:
        """The recorded runs of this evaluation."""
        planned = set(self.session.plan.order)
        return [trial for trial in folder.trials() if trial.id in planned]

    def runs(self, folder: Iteration) -> tuple[TriggerRun, ...]:
        """What the recorded runs of this evaluation showed."""
        trials = {(trial.id.eval_id, trial.id.repeat): trial for trial in self.trials(folder)}
        return with_savings((run_of(trial, self.names, self.choice.subagents) for trial in trials.values()), trials)


def open_evaluation(
    subject: Subject,
    choice: TriggerChoice,
    settings: RunSettings,
    workspace: TriggerWorkspace,
    mode: Mode = "new",
    *,
    fresh: bool = False,
    environment: Mapping[str, str] | None = None,
    base_url: str | None = None,
) -> Evaluation:
    """Resolve an evaluation. Writes nothing in the workspace and launches nothing.

    Args:
        subject: from `read_subject`.
        choice: how a run is decided.
        settings: what every run shares; `trials` are the runs of each query. Nothing is said about the skill, and
            there is no baseline, whatever they say.
        workspace: where evaluations lie.
        mode: begin, go on, or add queries or runs.
        fresh: begin another although the newest is unfinished.
        environment: the user's environment.
        base_url: a model server of our own, for tests.

    Raises:
        InputError: something is missing, changed, or more than the agent can do.
    """
    stack = ExitStack()
    try:
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-catalogue-")))
        inputs = subject.inputs(choice, *copy_neighbours(subject.neighbours, private))
        session = stack.enter_context(
            open_session(
                inputs,
                _as_queries(settings),
                workspace,
                mode,
                fresh=fresh,
                environment=environment,
                base_url=base_url,
            )
        )
        _refuse_unable(session.agent)
        catalogue = check_catalogue(
            [subject.skill, *subject.neighbours], session.agent.capabilities.listing, settings.model
        )
        warnings = listing_warnings(catalogue, installed_as(subject.skill), settings.model)
        notes = (*subject.notes, *warnings, *reach_notes(subject, session.agent))
        return Evaluation(subject, choice, session, _names(subject, session), catalogue, notes, stack)
    except BaseException:
        stack.close()
        raise


def _as_queries(settings: RunSettings) -> RunSettings:
    retrying: Retrying = replace(settings.retrying, total_seconds=min(RETRY_SECONDS, settings.retrying.total_seconds))
    return replace(settings, invoke="auto", baselines=(), retrying=retrying)


def _refuse_unable(agent: Agent) -> None:
    can = agent.capabilities
    if not can.skills or not can.skill_signs:
        what = "looks for no skills in a folder" if not can.skills else "shows no sign of a skill's use"
        raise InputError(
            f"{agent.name} {what}, so triggering can't be measured with it",
            hint="Use another agent; assay run measures the skill's effect with this one.",
        )


def _names(subject: Subject, session: Session) -> Names:
    known = [(skill, installed_as(skill)) for skill in subject.neighbours]
    neighbours = {name: folder for skill, folder in known for name in (skill.folder, skill.name)}
    return Names(own_names(session), installed_as(subject.skill), neighbours | {folder: folder for _, folder in known})


async def evaluate(evaluation: Evaluation, display: Display, schedule: Schedule | None = None) -> Result:
    """Launch what is missing; each run is recorded as it settles, so an end at any time loses none.

    Args:
        evaluation: from `open_evaluation`.
        display: shows it.
        schedule: chooses among the runs; all in order, or curtailed where that was chosen.
    """
    chosen = schedule or (evaluation.curtailed if evaluation.choice.curtail else in_order)
    return await execute(evaluation.session, display, schedule=chosen, stop_when=evaluation.stop_when)


def judged(evaluation: Evaluation, runs: Iterable[TriggerRun]) -> tuple[QueryResult, ...]:
    """Every planned query with its runs and its pass or fail, in the order of the file."""
    choice, planned = evaluation.choice, set(evaluation.session.plan.eval_ids)
    of: dict[str, list[TriggerRun]] = {}
    for run in runs:
        of.setdefault(run.query_id, []).append(run)
    return tuple(
        judge_query(query, of.get(query.id, ()), evaluation.planned, choice.threshold, curtail=choice.curtail)
        for query in evaluation.subject.file.queries
        if query.id in planned
    )


def trigger_results(evaluation: Evaluation, result: Result) -> TriggerResults:
    """All that is known after a run, from the records."""
    session, choice, subject = evaluation.session, evaluation.choice, evaluation.subject
    runs = evaluation.runs(result.iteration)
    queries = judged(evaluation, runs)
    own, seed = installed_as(subject.skill), session.plan.seed
    found = TriggerResults(
        skill_name=subject.skill.name,
        skill=own,
        description=subject.skill.description,
        skill_digest=subject.skill.digest,
        agent=session.agent.name,
        agent_version=session.detected.version if session.detected else "",
        model=session.settings.model or _model(result.iteration),
        simulated=session.agent.capabilities.simulated,
        runs=evaluation.planned,
        threshold=choice.threshold,
        decide_after=choice.decide_after,
        subagents=choice.subagents,
        curtail=choice.curtail,
        seed=seed,
        queries=queries,
        scores=score(queries, seed),
        by_tag=by_tag(queries, seed),
        by_context=by_context(queries, seed),
        by_class=by_class(queries),
        matrix=make_matrix(queries, own, evaluation.names.neighbours),
        catalogue=evaluation.catalogue,
        kind=choice.kind,
        edited_description=subject.edited,
        notes=evaluation.notes,
        ending="" if result.stopped.ending is Ending.DONE else result.stopped.reason or result.stopped.ending,
        launches=sum(len(trial.attempts) for trial in evaluation.trials(result.iteration)),
        usd=result.spent.usd,
        assumed_usd=result.spent.assumed_usd,
        tokens=result.spent.tokens,
        unbilled=sum(_unbilled(trial) for trial in evaluation.trials(result.iteration))
        if session.agent.capabilities.cost
        else 0,
        started_at=session.plan.created_at,
        digests=dict(session.plan.digests),
    )
    return replace(found, advice=advise(found))


def _unbilled(trial: Trial) -> bool:
    """Whether it was ended before its agent told what it cost."""
    last = trial.last
    return last is not None and last.ended_early is not None and last.usage.cost_usd is None


def _model(folder: Iteration) -> str | None:
    """What the agent itself said."""
    for trial in folder.trials():
        if trial.last and trial.last.started:
            return trial.last.started.model
    return None
