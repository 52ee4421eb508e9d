"""What is evaluated: a skill (with another description, if one is tried), its queries, and the skills beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.skill import read_skill, with_description
from skill_assay.formats.triggers import find_queries, load_queries
from skill_assay.model.evals import Eval, EvalSet
from skill_assay.model.skill import Skill
from skill_assay.model.triggers import Query, QuerySet
from skill_assay.runner.inputs import Inputs
from skill_assay.triggering.catalogue import find_neighbours
from skill_assay.triggering.choice import TriggerChoice

__all__ = ["LONGEST_DESCRIPTION", "Subject", "read_subject"]

LONGEST_DESCRIPTION = 1024
"""Characters that the format allows."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A skill, the queries asked about it, and its neighbours."""

    skill: Skill
    file: QuerySet
    queries: tuple[Query, ...]
    """Those asked, in the order of the file."""
    neighbours: tuple[Skill, ...] = ()
    notes: tuple[str, ...] = ()
    edited: bool = False
    """Whether the description is another than the skill's own."""

    def described(self, text: str) -> Subject:
        """The same with another description. The skill's folder is left as it is.

        Raises:
            InputError: the text can't be a description.
        """
        raw = with_description(self.skill, text)
        digest = hashlib.sha256(f"{self.skill.digest}\0".encode() + raw).hexdigest()
        return replace(self, skill=replace(self.skill, description=text, raw=raw, digest=digest), edited=True)

    def only(self, query_ids: Collection[str]) -> Subject:
        """The same with some of the queries."""
        return replace(self, queries=tuple(query for query in self.queries if query.id in query_ids))

    def inputs(self, choice: TriggerChoice, neighbours: tuple[Path, ...], catalogue: str) -> Inputs:
        """What the runner works from: each query is an eval without expectations.

        Args:
            choice: how a run is decided; trials that are decided otherwise do not belong together.
            neighbours: where private copies of the neighbours lie.
            catalogue: their digest.
        """
        evals = tuple(_eval(query) for query in self.file.queries)
        chosen = tuple(one for one in evals if one.id in {query.id for query in self.queries})
        rule = f"after {choice.decide_after or 'the end'}, sub-agents {'yes' if choice.subagents else 'no'}"
        return Inputs(
            skill=self.skill,
            evals=EvalSet(self.skill.name, evals, self.file.source, self.file.digest, self.file.findings),
            chosen=chosen,
            fixtures={one.id: self._fixtures(one, choice.allow_outside_files) for one in chosen},
            neighbours=neighbours,
            fixing={"the catalogue": catalogue, "what decides a run": rule},
            queries=True,
        )

    def _fixtures(self, one: Eval, allow_outside: bool) -> tuple[tuple[Path, str], ...]:
        try:
            return resolve_fixtures(one, self.skill.root, allow_outside=allow_outside)
        except InputError as error:
            error.file = error.file or str(self.file.source)
            raise


def read_subject(root: Path, choice: TriggerChoice, user_skills: tuple[str, ...], env: Mapping[str, str]) -> Subject:
    """Read a skill with its queries and neighbours; every mistake in them is found here, before the first launch.

    Args:
        root: the skill's folder, or its SKILL.md.
        choice: which queries, which description, which neighbours.
        user_skills: where the agent's users keep their own skills (`Capabilities.user_skills`).
        env: finds them.

    Raises:
        InputError: something is missing or wrong; the message says what and where.
    """
    skill = read_skill(root)
    file = load_queries(choice.queries or find_queries(skill.root), skill_name=skill.name)
    neighbours, notes = find_neighbours(choice.catalog, skill, user_skills, env)
    subject = Subject(skill, file, _chosen(file, choice), neighbours, notes)
    if choice.description is not None:
        subject = subject.described(choice.description)
    return replace(subject, notes=(*subject.notes, *_remarks(subject)))


def _chosen(file: QuerySet, choice: TriggerChoice) -> tuple[Query, ...]:
    known = {query.id for query in file.queries}
    unknown = [name for name in choice.query_ids if name not in known]
    if unknown:
        some = ", ".join(query.id for query in file.queries[:20])
        raise NotFoundError(f"no query has the id {', '.join(unknown)}", file=str(file.source), expected=some)
    if not choice.query_ids and not choice.tags:
        return file.queries
    found = tuple(query for query in file.queries if query.id in choice.query_ids or set(query.tags) & set(choice.tags))
    if not found:
        raise NotFoundError(f"no query has the tag {', '.join(choice.tags)}", file=str(file.source))
    return found


def _remarks(subject: Subject) -> list[str]:
    """What is odd about the set and the description, and changes what can be known."""
    remarks = []
    labels = {query.should_trigger for query in subject.queries}
    if True not in labels:
        remarks.append("No query should trigger: recall can't be known. Add some with should_trigger true.")
    if False not in labels:
        remarks.append(
            "Every query should trigger: a skill that always fires would pass. Add some with should_trigger false."
        )
    length = len(subject.skill.description)
    if length > LONGEST_DESCRIPTION:
        remarks.append(f"The description has {length} characters; the format allows {LONGEST_DESCRIPTION}.")
    if subject.skill.frontmatter.get("disable-model-invocation") is True:
        remarks.append("SKILL.md says disable-model-invocation: no agent is meant to pick this skill up by itself.")
    return remarks


def _eval(query: Query) -> Eval:
    return Eval(
        id=query.id,
        prompt=query.text,
        files=query.files,
        tags=query.tags,
        turns=query.turns,
        should_trigger=query.should_trigger,
        expected_skill=query.expected_skill,
    )
