"""Rules for evals: whether they can measure what they are meant to measure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.lint.opinion import opinion
from skill_assay.formats.lint.subject import Rule, Subject
from skill_assay.formats.notes import Notes
from skill_assay.formats.skill import read_skill
from skill_assay.model.evals import Check, Eval, EvalSet, Expectation
from skill_assay.model.skill import Skill

__all__ = ["EVAL_RULES"]

_Subject = Subject[EvalSet]
_SAYS_SKILL = re.compile(
    r"\bSKILL\.md\b"
    r"|\b(?:the|this|its) skill (?:is|was|gets|has been) (?:\w+ )?(?:used|triggered|invoked|loaded|called)\b"
    r"|\b(?:uses|used|invokes|invoked|loads|loaded|triggers|triggered|reads) (?:the |this )?[\w-]* ?skill\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\breplace (?:me|this)\b|\bTODO\b|\bFIXME\b", re.IGNORECASE)


def _expectations(subject: _Subject) -> Iterator[tuple[Eval, Expectation]]:
    return ((one, each) for one in subject.content.evals for each in one.expectations)


def is_opinion(subject: _Subject, notes: Notes) -> None:
    """An expectation that hangs on a judgement of quality; one with a check says what it means."""
    for _, each in _expectations(subject):
        reason = None if each.checks or each.severity == "info" else opinion(each.text)
        if reason:
            remedy = "Say what would be seen in the output if it held: a file, a section, a value, a phrase."
            notes.warn("opinion", f"this is an opinion ({reason})", each.place, found=_short(each.text), remedy=remedy)


def only_one_arm(subject: _Subject, notes: Notes) -> None:
    """What only an arm with the skill can pass measures that the skill was there, not what it is worth."""
    for _, each in _expectations(subject):
        if each.severity == "info":
            continue
        by_check = next((check for check in each.checks if _asks_for_skill(check)), None)
        if by_check is None and not _SAYS_SKILL.search(each.text):
            continue
        what = f"the check {by_check.kind}" if by_check else "the text"
        remedy = 'Give it "severity": "info": use of the skill is reported under activation anyway.'
        message = f"only the arm with the skill can pass this ({what})"
        notes.warn("only-one-arm", message, each.place, found=_short(each.text), remedy=remedy)


def _asks_for_skill(check: Check) -> bool:
    if check.kind == "skill_used":
        return True
    tools = [check.arguments.get("tool"), *_listed(check.arguments.get("tools"))]
    named = (tool.get("tool") if isinstance(tool, dict) else tool for tool in tools)
    return check.kind.startswith("tool_") and any(isinstance(tool, str) and tool.lower() == "skill" for tool in named)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def no_expectations(subject: _Subject, notes: Notes) -> None:
    """An eval that expects nothing measures nothing."""
    for one in subject.content.evals:
        if not one.expectations:
            help_ = " Its expected_output is for people only." if one.expected_output else ""
            message = f"eval {one.id!r} expects nothing, so nothing can be graded.{help_}"
            remedy = "Write expectations, with a check where a machine can decide."
            notes.warn("no-expectations", message, subject.places.get(one.id, "$"), remedy=remedy)


def nothing_decidable(subject: _Subject, notes: Notes) -> None:
    """Texts alone need a judge or a script."""
    if (subject.content.root / "checks.py").is_file():
        return
    texts = [one for one in subject.content.evals if one.expectations and not any(e.checks for e in one.expectations)]
    if texts:
        count = f"{len(texts)} of {len(subject.content.evals)} evals"
        remedy = (
            'Add a check, as {"text": …, "check": {"file_exists": "report.md"}}, or evals/checks.py, or use a judge.'
        )
        first = subject.places.get(texts[0].id, "$")
        notes.warn("nothing-decidable", f"no machine can decide anything in {count}", first, remedy=remedy)


def twice_expected(subject: _Subject, notes: Notes) -> None:
    """The same text twice in one eval counts double."""
    for one in subject.content.evals:
        seen: set[str] = set()
        for each in one.expectations:
            words = " ".join(each.text.split()).lower()
            if words in seen:
                remedy = "Remove one: it would count twice."
                notes.warn(
                    "twice-expected", "the eval expects this twice", each.place, found=_short(each.text), remedy=remedy
                )
            seen.add(words)


def reference_missing(subject: _Subject, notes: Notes) -> None:
    """A reference that is not there can't play in the ceiling agent."""
    for one in subject.content.evals:
        roots = [root for root in (subject.skill_root, subject.content.root) if root]
        try:
            missing = one.reference and not any((root / one.reference).exists() for root in roots)
        except (OSError, ValueError):
            missing = True
        if missing:
            place = subject.places.get(one.id, "$")
            message, found = "the reference is not there", one.reference
            notes.warn(
                "reference-missing", message, f"{place}.reference", found=found, remedy="Write it, or remove the key."
            )


def gives_skill_away(subject: _Subject, notes: Notes) -> None:
    """The skill among an eval's files is in front of the agent that should work without it."""
    skill, root = subject.skill, subject.skill_root
    if skill is None or root is None:
        return
    for one in subject.content.evals:
        try:
            copies = [place for source, place in resolve_fixtures(one, root) if _is_copy(source, skill)]
        except (InputError, OSError):
            continue
        if copies:
            message = f"the files of eval {one.id!r} hold the skill, so the baseline has it too"
            remedy = "Take it out, or compare with another baseline than none."
            notes.warn(
                "gives-skill-away", message, f"{subject.places.get(one.id, '$')}.files", found=copies[0], remedy=remedy
            )


def _is_copy(source: Path, skill: Skill) -> bool:
    """Whether it is this skill's SKILL.md, by its name; another skill may well be what a task is about."""
    if source.name.lower() != "skill.md":
        return False
    try:
        return read_skill(source).name == skill.name
    except InputError:
        return False


def skill_name(subject: _Subject, notes: Notes) -> None:
    """The set names another skill than the one it lies in."""
    named, skill = subject.content.skill_name, subject.skill
    if named and skill and named != skill.name:
        remedy = f'Write "skill_name": "{skill.name}".'
        found = f"{named} in the skill {skill.name}"
        notes.warn("skill-name", "the evals name another skill", "$.skill_name", found=found, remedy=remedy)


def placeholder(subject: _Subject, notes: Notes) -> None:
    """A prompt that is still to be filled in."""
    for one in subject.content.evals:
        found = _PLACEHOLDER.search(one.prompt)
        if found:
            place = subject.places.get(one.id, "$")
            message = "the prompt holds a placeholder"
            notes.info("placeholder", message, f"{place}.prompt", found=found[0], remedy="Write a real task.")


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 70 else words[:69] + "…"


EVAL_RULES: tuple[Rule[EvalSet], ...] = (
    skill_name,
    gives_skill_away,
    no_expectations,
    nothing_decidable,
    is_opinion,
    only_one_arm,
    twice_expected,
    reference_missing,
    placeholder,
)
