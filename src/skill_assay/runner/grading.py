"""Grading of stored trials: in a run, and again later without an agent."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.agents.registry import stored_parser
from skill_assay.formats.user_notes import summary_of_notes
from skill_assay.graders.chain import grade_all
from skill_assay.model.evals import Eval
from skill_assay.model.protocols import Agent, CodeRunner, Grader, Ledger
from skill_assay.model.transcript import Event, Usage
from skill_assay.model.trial import Trial
from skill_assay.model.work import Work
from skill_assay.workspace.store import RunFolder

__all__ = ["Grading", "grade", "stored_events"]


@dataclasses.dataclass(frozen=True, slots=True)
class Grading:
    """What grading needs; no agent is launched by any of it."""

    graders: Sequence[Grader]
    code: CodeRunner
    ledger: Ledger
    skill_name: str | None
    evals_root: Path | None


async def grade(eval_: Eval, trial: Trial, run: RunFolder, events: Sequence[Event], grading: Grading) -> Trial:
    """The trial with its grades, decided on what is stored in its run folder.

    Args:
        eval_: its eval.
        trial: as it was collected.
        run: its folder.
        events: of its last attempt, from `stored_events`.
        grading: who decides.
    """
    work = _work(eval_, trial, run, events, grading)
    grades = await grade_all(eval_, work, grading.graders, grading.ledger)
    return dataclasses.replace(trial, grades=grades, remarks=_remarks(trial, run, grading.graders))


def _remarks(trial: Trial, run: RunFolder, graders: Sequence[Grader]) -> Mapping[str, Any]:
    """What graders have to say beside their grades, and the doubts the agent left itself."""
    notes = run.notes()
    found: dict[str, Any] = {"user_notes_summary": summary_of_notes(notes)} if notes.strip() else {}
    for grader in graders:
        take = getattr(grader, "take_remarks", None)
        found |= take(trial.id) if take else {}
    return found


def stored_events(agent: Agent, run: RunFolder, attempt: int) -> list[Event]:
    """An attempt's events, read from its stored output by the adapter's own parser."""
    parser = stored_parser(agent)
    return [event for line in run.attempt_lines(attempt) for event in parser.feed(line)]


def _work(eval_: Eval, trial: Trial, run: RunFolder, events: Sequence[Event], grading: Grading) -> Work:
    last = trial.last
    return Work(
        id=trial.id,
        eval=eval_,
        run_folder=run.path,
        outputs=run.outputs,
        files=trial.outputs,
        answer=(last.answer or "") if last else "",
        events=events,
        usage=last.usage if last else Usage(),
        seconds=last.seconds if last else None,
        skill_name=grading.skill_name,
        skill_used=trial.skill_used,
        evals_root=grading.evals_root,
        code=grading.code,
        omitted=trial.omitted,
    )
