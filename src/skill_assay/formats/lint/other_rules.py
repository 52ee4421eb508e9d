"""Rules for trigger sets and configurations."""

from __future__ import annotations

from skill_assay.formats.config import Configuration
from skill_assay.formats.lint.subject import Rule, Subject
from skill_assay.formats.notes import Notes
from skill_assay.formats.openai_yaml import OPENAI_YAML, codex_use
from skill_assay.model.prompt_classes import EXPLICIT, calls_by_name, class_of
from skill_assay.model.triggers import Query, QuerySet

__all__ = ["CONFIG_RULES", "QUERY_RULES"]

_FEW = 8
_PATHS = {"evals": "eval_set_path", "skill_path": "skill_path", "previous_benchmark": "previous_benchmark"}


def one_label(subject: Subject[QuerySet], notes: Notes) -> None:
    """With one label only, a skill that always fires (or never) looks perfect."""
    labels = {query.should_trigger for query in subject.content.queries}
    if len(labels) == 1:
        have, need = ("should", "should not") if labels == {True} else ("should not", "should")
        remedy = f"Add queries for which the skill {need} fire, near misses above all."
        notes.warn("one-label", f"every query {have} trigger the skill", "$", remedy=remedy)


def few_queries(subject: Subject[QuerySet], notes: Notes) -> None:
    """Few queries say little."""
    for label in (True, False):
        count = sum(query.should_trigger is label for query in subject.content.queries)
        if 0 < count < _FEW:
            word = "should" if label else "should not"
            remedy = f"{_FEW} to 10 of each are usual."
            message = f"queries that {word} trigger: {count}, so their rate will be coarse"
            notes.info("few-queries", message, "$", remedy=remedy)


def names_skill(subject: Subject[QuerySet], notes: Notes) -> None:
    """A query that names the skill tests the name and not the description."""
    if subject.skill is None:
        return
    name = subject.skill.name.lower()
    told = [query for query in subject.content.queries if _asked(query) and name in query.text.lower()]
    if told:
        remedy = "Say it as a user would who does not know the skill."
        found = ", ".join(query.id for query in told[:10])
        message = f"{len(told)} queries name the skill, so they do not test its description"
        notes.info("names-skill", message, "$", found=found, remedy=remedy)


def _asked(query: Query) -> bool:
    """What is declared explicit is meant to name it."""
    return query.should_trigger and class_of(query.tags) != EXPLICIT


def never_by_itself(subject: Subject[QuerySet], notes: Notes) -> None:
    """On Codex a skill may forbid what its trigger set asks for."""
    skill = subject.skill
    use = codex_use(skill.root) if skill else "itself"
    if skill is None or use == "itself":
        return
    names = (skill.name, skill.folder)
    wanted = [one for one in subject.content.queries if one.should_trigger]
    asked = [one for one in wanted if use == "never" or (_asked(one) and not calls_by_name(one.text, names))]
    if asked:
        why = "products names no codex" if use == "never" else "allow_implicit_invocation: false"
        unless = "" if use == "never" else f" unless called by ${skill.name}"
        remedy = f"Change {OPENAI_YAML}, or measure these with another agent."
        found = ", ".join(one.id for one in asked[:10])
        message = f"{len(asked)} queries want the skill used, and on Codex it never is{unless} ({why})"
        notes.warn("codex-never", message, "$", found=found, remedy=remedy)


def path_missing(subject: Subject[Configuration], notes: Notes) -> None:
    """A path in the configuration that leads nowhere."""
    for name, key in _PATHS.items():
        place = subject.content.place(name)
        if place is not None and not place.exists():
            found = str(subject.content.values[name])
            notes.warn("path-missing", f"{key} is not there", f"$.{key}", found=found, remedy="Correct the path.")


QUERY_RULES: tuple[Rule[QuerySet], ...] = (one_label, few_queries, names_skill, never_by_itself)
CONFIG_RULES: tuple[Rule[Configuration], ...] = (path_missing,)
