"""A search for a better description: inputs, estimate, consent, search, results, `--apply`, exit code."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.cli.optimize_display import SearchDisplay
from skill_assay.cli.optimize_end import Choices, finish_search
from skill_assay.cli.resolve import Resolved
from skill_assay.cli.talk import confirm, estimate_line
from skill_assay.cli.trigger_run import subject_of
from skill_assay.errors import InputError
from skill_assay.formats.skill import with_description
from skill_assay.model.optimisation import Optimisation
from skill_assay.runner.estimate import Estimate, estimate
from skill_assay.runner.execute import price_book
from skill_assay.runner.prices import TRIAL_PRIORS, PriceBook
from skill_assay.runner.session import Session
from skill_assay.triggering.accept import refuse_undecidable
from skill_assay.triggering.checkpoint import StoredCheckpoint, refuse_other_search
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.measuring import Measurer
from skill_assay.triggering.optimise import Problem, Search, most_launches
from skill_assay.triggering.proposing import PROPOSER, ProposerDesk, proposer_of
from skill_assay.triggering.split import split_queries
from skill_assay.triggering.subject import Subject
from skill_assay.workspace.journal import Lock
from skill_assay.workspace.optimise_store import OptimisationFolder, newest_optimisation, next_optimisation
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.trigger_store import TriggerWorkspace
from skill_assay.workspace.writing import utc_now

__all__ = ["optimize_skill"]


def optimize_skill(root: Path, resolved: Resolved, choice: TriggerChoice, choices: Choices) -> int:
    """Search; the exit code says whether the search came to its own end."""
    task = _Task(root, resolved, choice, choices)
    problem = task.problem()
    workspace = TriggerWorkspace(resolved.workspace or default_workspace(task.subject.skill.root))
    display = SearchDisplay(choices.progress)
    with ExitStack() as stack:
        folder = task.earlier(workspace)
        if folder is not None:
            refuse_other_search(folder.read_search(), task.inputs_fixing(), str(folder.path))
        scratch = folder or OptimisationFolder(workspace.path / "optimisations" / "none", workspace.writer)
        with task.measurer(scratch, display).open("round-1", problem.original, task.names(problem)) as evaluation:
            session = evaluation.session
            proposer = proposer_of(choices.proposer, session)
            display.begin(task.head(problem, session, proposer, evaluation.notes), 0)
            expected = task.expected(problem, session, proposer, folder, display)
            if choices.dry_run:
                click.echo("Nothing was launched.")
                return 0
            confirm(expected, choices.yes, "--rounds, --runs, --query or --budget")
            fixing = task.fixing(problem, session, proposer)
            if folder is not None:
                refuse_other_search(folder.read_search(), fixing, str(folder.path))
            writer = TriggerWorkspace.create(workspace.path, _redactor(session)).writer
            workspace = TriggerWorkspace(workspace.path, writer)
        folder = OptimisationFolder(folder.path, workspace.writer) if folder else next_optimisation(workspace)
        stack.enter_context(Lock(folder.lock_path))
        if not (folder.path / "search.json").is_file():
            folder.write_search({"schema_version": 1, **fixing, "started_at": utc_now()})
        found = anyio.run(_search, task, problem, folder, display, proposer, session)
    return finish_search(found, folder, task.subject, root, choices)


async def _search(
    task: _Task, problem: Problem, folder: OptimisationFolder, display: SearchDisplay, proposer: str, session: Session
) -> Optimisation:
    from skill_assay.reports.optimise_html import optimisation_page

    with ProposerDesk(proposer, folder, session, task.resolved.settings) as desk:
        measurer = task.measurer(folder, display)
        measurer.asked = lambda: desk.spent
        desk.others = lambda: measurer.spent

        def facts(state: Optimisation) -> Optimisation:
            spent = measurer.spent + desk.spent
            return replace(
                state,
                usd=spent.usd,
                assumed_usd=spent.assumed_usd,
                tokens=spent.tokens,
                agent=session.agent.name,
                proposer=proposer,
                simulated=session.agent.capabilities.simulated,
                started_at=str(folder.read_search().get("started_at", "")),
                notes=task.subject.notes,
            )

        display.write_page = lambda state: folder.write_report(optimisation_page(facts(state)))
        display.start()
        try:
            search = Search(problem, measurer, desk.propose(task.refuse), StoredCheckpoint(folder), display.watch)
            found = facts(await search.run())
            display.watch(found)
        finally:
            display.end()
        return found


class _Task:
    """One skill and what was asked for."""

    def __init__(self, root: Path, resolved: Resolved, choice: TriggerChoice, choices: Choices) -> None:
        self.root, self.resolved, self.choice, self.choices = root, resolved, choice, choices
        self.subject: Subject = subject_of(root, resolved, choice)

    def problem(self) -> Problem:
        """The search, and every mistake in its inputs."""
        subject, settings, choices = self.subject, self.resolved.settings, self.choices
        file = str(subject.file.source)
        splits = split_queries(
            subject.queries, holdout=choices.holdout, seed=settings.seed, fresh=choices.fresh, file=file
        )
        refuse_undecidable(splits, choices.accept, file)
        with_description(subject.skill, subject.skill.description)
        return Problem(
            skill_name=subject.skill.name,
            body=subject.skill.body,
            original=subject.skill.description,
            splits=splits,
            runs=settings.trials,
            threshold=self.choice.threshold,
            rounds=choices.rounds,
            patience=choices.patience,
            accept=choices.accept,
            effort=choices.effort,
            holdout=choices.holdout,
            seed=settings.seed,
        )

    def names(self, problem: Problem) -> list[str]:
        """The queries of every round."""
        return [query.id for query in (*problem.splits.train, *problem.splits.test)]

    def refuse(self, text: str) -> str | None:
        """Why a text can't be written into SKILL.md."""
        try:
            with_description(self.subject.skill, text)
        except InputError as error:
            return error.message
        return None

    def measurer(self, folder: OptimisationFolder, display: SearchDisplay) -> Measurer:
        """Measures descriptions of this skill."""
        return Measurer(self.subject, self.choice, self.resolved.settings, folder, display, dict(os.environ))

    def earlier(self, workspace: TriggerWorkspace) -> OptimisationFolder | None:
        """The search to go on with; one that is unfinished is pointed out where another would begin."""
        newest = newest_optimisation(workspace)
        if self.choices.resume:
            if newest is None:
                raise InputError("There is no search to go on with", hint="Leave --resume out to begin one.")
            return newest
        if newest is None or self.choices.begin or self.choices.dry_run:
            return None
        if not _is_over(newest):
            raise InputError(
                f"the search {newest.path.name} of this skill is unfinished",
                file=str(newest.path),
                hint="Go on with --resume, or begin another with --new.",
            )
        return None

    def inputs_fixing(self) -> dict[str, Any]:
        """What of the skill's own makes rounds belong together."""
        return {
            "skill": self.subject.skill.digest,
            "queries": self.subject.file.digest,
            "asked": [query.id for query in self.subject.queries],
        }

    def fixing(self, problem: Problem, session: Session, proposer: str) -> dict[str, Any]:
        """What makes rounds belong together."""
        return {
            **self.inputs_fixing(),
            "agent": session.agent.name,
            "agent_version": session.detected.version if session.detected else "",
            "model": session.settings.model,
            "runs": problem.runs,
            "threshold": problem.threshold,
            "decide_after": self.choice.decide_after,
            "subagents": self.choice.subagents,
            "holdout": problem.holdout,
            "fresh": self.choices.fresh,
            "seed": problem.seed,
            "effort": problem.effort,
            "proposer": proposer,
        }

    def head(self, problem: Problem, session: Session, proposer: str, notes: tuple[str, ...]) -> list[str]:
        """What is about to be run."""
        skill, splits = self.subject.skill, problem.splits
        version = session.detected.version if session.detected else ""
        model = f" ({session.settings.model})" if session.settings.model else ""
        parts = [f"{skill.name} {skill.digest[:7]}", f"{session.agent.name} {version}".strip() + model]
        parts += [f"proposer {proposer}", f"seed {problem.seed}"]
        if session.agent.capabilities.simulated:
            parts.append("simulated: no real agent's work")
        sizes = f"{len(splits.train)} train + {len(splits.test)} test"
        fresh = f", {len(splits.fresh)} fresh queries kept for the end" if splits.fresh else ""
        grid = (
            f"({sizes} queries) × {problem.runs} runs × up to {problem.rounds} rounds{fresh}: at most "
            f"{most_launches(problem)} launches and {4 * (problem.rounds - 1)} questions to the proposer"
        )
        return [" · ".join(parts), grid, *notes]

    def expected(
        self,
        problem: Problem,
        session: Session,
        proposer: str,
        folder: OptimisationFolder | None,
        display: SearchDisplay,
    ) -> Estimate:
        """What may still be launched at most, at past prices."""
        done = folder.recorded_runs() if folder else 0
        left = 0 if folder and _is_over(folder) else max(0, most_launches(problem) - done)
        runs = estimate([session.plan.arms[0].name] * left, price_book(session), session.settings.workers)
        if left:
            prices = PriceBook(free=proposer.startswith("scripted"), simulated=True, priors=TRIAL_PRIORS)
            asked = estimate([PROPOSER] * (problem.rounds - 1), prices, 1)
            runs = Estimate(runs.spend + asked.spend, runs.seconds + asked.seconds, runs.measured)
        display.say(f"At most: {estimate_line(runs)}" + (f"; {done} runs are recorded" if folder else ""))
        return runs


def _redactor(session: Session) -> Redactor:
    secrets = [value for kit in session.kits.values() for value in kit.sign_in.env.values()]
    secrets += [os.environ[name] for name in session.settings.pass_env if name in os.environ]
    return Redactor(secrets, keep=session.settings.keep_secrets)


def _is_over(folder: OptimisationFolder) -> bool:
    """Whether a search came to its own end."""
    results = folder.read_results()
    cut = ("budget", "interrupted", "failure", "in_progress")
    return isinstance(results, dict) and str(results.get("exit_reason")) not in cut
