"""Runs an opened session: lock, journal, rig, engine; and afterwards says how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skill_assay.agents.process import Identity
from skill_assay.errors import Failure, FailureKind, policy
from skill_assay.graders.checks import CheckGrader
from skill_assay.graders.program import ProgramGrader
from skill_assay.graders.script import ScriptGrader
from skill_assay.model.money import Spend
from skill_assay.model.plan import Plan
from skill_assay.model.protocols import Grader, Sandbox, Scheduler, StopWhen
from skill_assay.model.trial import Attempt, State, Trial, TrialId, TrialSpec
from skill_assay.runner.admission import WAIT_SECONDS, AdaptiveAdmission, memory_workers
from skill_assay.runner.code import SandboxedCode
from skill_assay.runner.earlier import Earlier
from skill_assay.runner.engine import Engine, Stopped, never
from skill_assay.runner.fairness import Fairness
from skill_assay.runner.grading import Grading
from skill_assay.runner.judging import make_judges, priors_of, promised
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import QUERY_PRIORS, TRIAL_PRIORS, PriceBook
from skill_assay.runner.progress import Display
from skill_assay.runner.reap import reap
from skill_assay.runner.rig import Rig
from skill_assay.runner.sandbox import NoSandbox, PrefixSandbox
from skill_assay.runner.scheduler import FixedPlan
from skill_assay.runner.session import Session, newest
from skill_assay.runner.settings import RunSettings
from skill_assay.workspace.journal import Journal, JournalState, Lock, RunningProcess, replay
from skill_assay.workspace.store import Iteration

__all__ = [
    "Result",
    "Schedule",
    "execute",
    "identity_of",
    "in_order",
    "make_graders",
    "make_sandbox",
    "own_names",
    "price_book",
    "specs_to_run",
]


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended."""

    iteration: Iteration
    stopped: Stopped
    launched: int
    spent: Spend
    """In all sessions."""
    sign_in: str = ""
    """What a person can do when the agent was not signed in."""
    unequal: tuple[str, ...] = ()
    """How the arms differ in more than the skill, where that was allowed."""


Schedule = Callable[[Sequence[TrialSpec], Iterable[Trial]], Scheduler]
"""From the trials still to be run, and those recorded before, to what says which comes next."""


def in_order(specs: Sequence[TrialSpec], _: Iterable[Trial]) -> Scheduler:
    """All of them, in the plan's order."""
    return FixedPlan(specs)


async def execute(
    session: Session,
    display: Display,
    *,
    schedule: Schedule = in_order,
    stop_when: Callable[[TrialSpec], StopWhen | None] = never,
) -> Result:
    """Run what is missing of the session's plan.

    Args:
        session: from `open_session`.
        display: shows it.
        schedule: chooses among the trials as results come in.
        stop_when: what may end a trial before its agent does.
    """
    iteration = session.iteration or session.workspace.next_iteration()
    with Lock(iteration.lock_path()), _journal(iteration) as (journal, state):
        _reap(state, journal)
        plan = replace(session.plan, iteration=iteration.number)
        iteration.write_plan(plan)
        if not iteration.snapshot_path.exists():
            primary = session.kits[plan.arms[0].name]
            iteration.write_snapshot(primary.skill_source or session.inputs.skill.root, primary.skill_files)
        rig = _rig(session, iteration, journal, state)
        specs = _to_run(session, iteration, state)
        fairness = Fairness(plan.arms, session.settings.allow_unequal)
        earlier = {spec.id: _earlier(iteration, spec.id, state) for spec in specs}
        open_now = {spec.id for spec in specs}
        scheduler = schedule(specs, [trial for trial in iteration.trials() if trial.id not in open_now])
        engine = Engine(rig, scheduler, display, len(specs), stop_when, earlier, fairness.check)
        journal.write("run_began", trials=len(specs), mode=session.mode)
        stopped = await engine.run()
        journal.write("run_ended", ending=stopped.ending, reason=stopped.reason, unequal=fairness.found)
        spent = rig.ledger.spent
        return Result(
            iteration,
            stopped,
            launched=spent.launches - state.spent.launches,
            spent=spent,
            sign_in=session.agent.capabilities.sign_in,
            unequal=tuple(fairness.found),
        )


def identity_of(process: RunningProcess) -> Identity:
    """What names a recorded process for good."""
    return Identity(process.pid, process.started, process.pgid or 0, process.program_started)


@contextlib.contextmanager
def _journal(iteration: Iteration) -> Iterator[tuple[Journal, JournalState]]:
    state = replay(iteration.journal_path())
    journal = Journal(iteration.journal_path(), iteration.writer)
    try:
        yield journal, state
    finally:
        journal.close()


def _reap(state: JournalState, journal: Journal) -> None:
    for pid in reap(identity_of(process) for process in state.running):
        journal.write("reaped", pid=pid)


def _rig(session: Session, iteration: Iteration, journal: Journal, state: JournalState) -> Rig:
    settings = session.settings
    sandbox = make_sandbox(settings)
    code = SandboxedCode(sandbox, session.environment)
    ledger = BudgetLedger(settings.budget, journal.write, state.spent + state.unsettled)
    prices = price_book(session)
    workers = memory_workers(settings.workers) if session.agent.capabilities.network else settings.workers
    admission = AdaptiveAdmission(workers, ledger, prices, _hold_back(session))
    judges = make_judges(settings, iteration, admission, sandbox, session.environment, session.base_url)
    skill = session.inputs.skill
    return Rig(
        iteration=iteration,
        arms=session.kits,
        sandbox=sandbox,
        admission=admission,
        ledger=ledger,
        prices=prices,
        grading=Grading(
            make_graders(settings, session.inputs.evals_root, judges, kept=session.graded_by),
            code,
            ledger,
            skill.name,
            session.graded_by,
        ),
        code=code,
        settings=settings,
        skill_names=own_names(session),
        session=state.lines,
        base_url=session.base_url,
        environment=session.environment,
        versions=dict(session.plan.versions),
    )


def own_names(session: Session) -> frozenset[str]:
    """The names by which an agent may call the skill under test: its declared ones, and where it is installed."""
    declared = {arm.skill_name for arm in session.plan.arms if arm.skill_name}
    return frozenset(declared | {kit.folder for kit in session.kits.values() if kit.folder})


def _hold_back(session: Session) -> float:
    return 0.0 if session.agent.capabilities.simulated else WAIT_SECONDS


def price_book(session: Session) -> PriceBook:
    """Prices for a session's agent: from its past trials, in the iteration gone on with or else the newest one."""
    can = session.agent.capabilities
    priors = QUERY_PRIORS if session.inputs.queries else TRIAL_PRIORS
    others = priors_of(session.settings)
    prices = PriceBook(
        free=not can.network, capped=session.settings.budget, simulated=can.simulated, priors=priors, others=others
    )
    past = session.iteration
    if past is None and not can.simulated:
        past = _newest_alike(session)
    if past is not None:
        _learn(prices, past, session.plan)
    return prices


def _newest_alike(session: Session) -> Iteration | None:
    """The newest iteration of the same agent and model; else the newest, of whose arms some may be the same."""
    # An old plan that can't be read any more has no say in what this run costs.
    alike = (one for one in reversed(session.workspace.iterations()) if one.asked() == session.plan.asked)
    return next(alike, None) or newest(session.workspace)


def _learn(prices: PriceBook, past: Iteration, plan: Plan) -> None:
    """From whole bills of the same arms, agents and models."""
    arms = {(arm.name, arm.agent, arm.model) for arm in plan.arms}
    for trial in past.trials():
        if (trial.id.arm, trial.arm_agent, trial.arm_model) not in arms:
            continue
        asks_usd, asks_tokens = prices.asks_usd(trial.id.arm), prices.asks_tokens(trial.id.arm)
        for attempt in trial.attempts:
            usage = attempt.usage
            whole = (usage.cost_usd is not None or not asks_usd) and (usage.tokens is not None or not asks_tokens)
            if policy(attempt.failure).graded and whole:
                spend = Spend(usage.cost_usd or 0.0, usage.tokens.total if usage.tokens else 0, 1)
                prices.learn(trial.id.arm, spend, attempt.wall_seconds)


def make_sandbox(settings: RunSettings) -> Sandbox:
    """The wall asked for by `--sandbox`."""
    if settings.sandbox == "none":
        return NoSandbox()
    if settings.sandbox == "bwrap":
        from skill_assay.runner.bwrap import BwrapSandbox

        return BwrapSandbox()
    return PrefixSandbox(settings.sandbox)


def make_graders(
    settings: RunSettings,
    evals_root: Path | None,
    judges: Sequence[Grader] | None = None,
    *,
    kept: Path | None = None,
) -> list[Grader]:
    """The graders in their order: machine checks, the project's own script, a grader program, people, the judge.

    Args:
        settings: the options.
        evals_root: the skill's `evals/`, by which a grader program's words are understood.
        judges: without them only a promise stands for them, to ask what could be decided.
        kept: a copy of it, from which files are read.
    """
    read_from = kept or evals_root
    graders: list[Grader] = [CheckGrader(read_from), ScriptGrader(read_from)]
    if settings.grader:
        graders.append(ProgramGrader(settings.grader, evals_root))
    return [*graders, *(promised(settings) if judges is None else judges)]


def specs_to_run(session: Session) -> list[TrialSpec]:
    """The trials this session would run, without touching anything."""
    if session.iteration is None:
        return list(session.specs)
    return _to_run(session, session.iteration, replay(session.iteration.journal_path()))


def _to_run(session: Session, iteration: Iteration, state: JournalState) -> list[TrialSpec]:
    """Trials without a record; and, when the session before ended by itself, those that were excluded.

    After a session that was killed the excluded ones stay, so that going on ends as the undisturbed run would have.
    """
    again = session.mode == "resume" and not state.cut_off
    return [spec for spec in session.specs if _open(iteration, spec.id, again)]


def _open(iteration: Iteration, trial: TrialId, again: bool) -> bool:
    if not iteration.is_done(trial):
        return True
    return again and iteration.load_trial(trial).state is not State.COMPLETED


def _earlier(iteration: Iteration, trial: TrialId, state: JournalState) -> Earlier:
    if iteration.is_done(trial):
        attempts = iteration.load_trial(trial).attempts
        return Earlier(attempts, settled=len(attempts))
    collected = iteration.run_folder(trial).load_collected()
    if collected is not None:
        return Earlier(collected.attempts, collected=collected)
    return Earlier(tuple(_from_journal(state.ended.get(str(trial), {}))))


def _from_journal(ended: Mapping[int, Mapping[str, object]]) -> Iterator[Attempt]:
    for number in sorted(ended):
        kind = ended[number].get("failure")
        if isinstance(kind, str) and kind in set(FailureKind):
            yield Attempt(number, Failure(FailureKind(kind), str(ended[number].get("message") or "")))
