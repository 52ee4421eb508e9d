"""What `improve` and `iterate` share: results looked through, and a new version proposed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.agents.registry import create_agent
from skill_assay.cli.asking import Desk
from skill_assay.errors import AssayError
from skill_assay.formats.feedback import Feedback, feedback_from_dict
from skill_assay.improve.analyst import Analysis, analyse, analysis_to_dict
from skill_assay.improve.explain import comparison_summary, explain
from skill_assay.improve.improver import Signals, improve
from skill_assay.improve.keeping import keep_proposal
from skill_assay.improve.proposal import Proposal
from skill_assay.improve.repeated import scripts_in
from skill_assay.llm.prompt import prompts_digest
from skill_assay.model.skill import Skill
from skill_assay.runner.grading import stored_events
from skill_assay.workspace.discovery import Found, discover
from skill_assay.workspace.judgements import read_comparisons, write_analysis
from skill_assay.workspace.run_folder import RunFolder, read_json
from skill_assay.workspace.store import Iteration

__all__ = ["Lessons", "analysis_words", "learn", "propose"]


@dataclass(frozen=True, slots=True)
class Lessons:
    """An iteration, looked through without a model; `analysis.json` is written."""

    iteration: Iteration
    found: Found
    analysis: Analysis
    feedback: Feedback


def learn(iteration: Iteration) -> Lessons:
    """Look through an iteration and write `analysis.json`."""
    found = discover(iteration.path)
    analysis = analyse(found, _scripts(found))
    write_analysis(iteration, analysis_to_dict(analysis))
    file = iteration.feedback_path
    said = feedback_from_dict(read_json(file), file=str(file)) if file.is_file() else Feedback()
    return Lessons(iteration, found, analysis, said)


def _scripts(found: Found) -> dict[str, list[tuple[str, str]]]:
    """Scripts that the runs of an iteration of ours wrote on the way, by run folder."""
    if found.plan is None:
        return {}
    agents = {}
    for arm in found.plan.arms:
        try:
            agents[arm.name] = create_agent(arm.agent)
        except AssayError:
            continue
    scripts = {}
    for run in found.runs:
        folder = RunFolder(found.root / run.folder)
        numbers = folder.attempt_numbers()
        if run.arm in agents and numbers:
            scripts[run.folder] = list(scripts_in(stored_events(agents[run.arm], folder, numbers[-1])))
    return scripts


async def propose(lessons: Lessons, skill: Skill, text: str, desk: Desk, tried: Sequence[str] = ()) -> Proposal:
    """Explain why it came out so, propose a new version, and keep both beside the results.

    Args:
        lessons: from `learn`.
        skill: as it is now.
        text: its files as a model reads them.
        desk: the model.
        tried: earlier proposals that were not kept.

    Raises:
        ModelFailed: it could not be asked.
        IncompleteError: what it proposed can't be used.
    """
    compared = comparison_summary(lessons.found, read_comparisons(lessons.iteration))
    analysis = await explain(lessons.found, lessons.analysis, text, compared, desk.model, desk.ledger)
    write_analysis(lessons.iteration, {**analysis, "model": desk.asker.name})
    signals = Signals(lessons.found, analysis, lessons.feedback, lessons.analysis.repeated, tried)
    proposal = await improve(skill, signals, desk.model, desk.ledger, lessons.iteration.path)
    keep_proposal(lessons.iteration, skill, proposal, desk.asker.name, prompts_digest("analyst", "improve"))
    return proposal


def analysis_words(lessons: Lessons) -> str:
    """What was found without a model, a line each."""
    lines: list[str] = []
    for one in lessons.analysis.findings:
        where = ": ".join(part for part in (one.eval, one.expectation) if part)
        lines.append(f"  {where + ': ' if where else ''}{one.message}{_numbers(one.numbers)}")
    return "\n".join(lines) or "  Nothing stands out."


def _numbers(numbers: Any) -> str:
    shown = {name: value for name, value in numbers.items() if not isinstance(value, list) and name != "unit"}
    return " (" + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in shown.items()) + ")" if shown else ""
