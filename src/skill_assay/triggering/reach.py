"""What an agent will not show or not do, known before anything is launched."""

from __future__ import annotations

from skill_assay.formats.openai_yaml import OPENAI_YAML, codex_use
from skill_assay.model.prompt_classes import calls_by_name
from skill_assay.model.protocols import Agent
from skill_assay.triggering.subject import Subject

__all__ = ["reach_notes"]


def reach_notes(subject: Subject, agent: Agent) -> tuple[str, ...]:
    """What of these queries can't come out, or can't be seen, with this agent."""
    can, skill = agent.capabilities, subject.skill
    positives = [query for query in subject.queries if query.should_trigger]
    called = [query for query in positives if calls_by_name(query.text, (skill.name, skill.folder))]
    use = codex_use(skill.root) if can.openai_yaml else "itself"
    if use == "never":
        return (f"{OPENAI_YAML} names other products only: {agent.name} does not show it, and nothing will fire.",)
    notes = []
    if called and can.dollar_calls:
        which = ", ".join(query.id for query in called[:10])
        notes.append(
            f"{len(called)} of {len(positives)} positive queries call the skill by ${skill.name} ({which}): "
            f"{agent.name} puts its text in without a sign, so whether it was used stays unknown and they are in no "
            "rate."
        )
    if use == "name" and len(called) < len(positives):
        notes.append(
            f"{OPENAI_YAML} says allow_implicit_invocation: false: on {agent.name} this skill never fires by itself, "
            f"so positive queries that do not call it will be missed ({len(positives) - len(called)} of "
            f"{len(positives)})."
        )
    return tuple(notes)
