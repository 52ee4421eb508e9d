"""Rules for a skill's own folder, as the Agent Skills format states them."""

from __future__ import annotations

import re

from skill_assay.formats.lint.subject import Rule, Subject
from skill_assay.formats.notes import Notes, child
from skill_assay.formats.skill_files import left_out_links
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.skill import Skill

__all__ = ["SKILL_RULES"]

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RESERVED = re.compile(r"claude|anthropic", re.IGNORECASE)
_FORMAT_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
_AGENT_KEYS = {
    "argument-hint", "arguments", "agent", "context", "disable-model-invocation", "effort", "hooks", "model", "paths",
    "shell", "user-invocable", "version", "when_to_use",
}  # fmt: skip
_NAME_LIMIT, _DESCRIPTION_LIMIT, _COMPATIBILITY_LIMIT, _BODY_LINES = 64, 1024, 500, 500

_Subject = Subject[Skill]


def name_form(subject: _Subject, notes: Notes) -> None:
    """Lower-case letters, digits and single hyphens, at most 64."""
    name = subject.content.name
    if len(name) > _NAME_LIMIT:
        found, expected = f"{len(name)} characters", f"at most {_NAME_LIMIT}"
        notes.error("name-form", "the name is too long", "$.name", found=found, expected=expected)
    if not _NAME.fullmatch(name):
        better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        remedy = f"Write name: {better}" if better else ""
        expected = "lower-case letters, digits and single hyphens"
        notes.error("name-form", "the name has another form", "$.name", found=name, expected=expected, remedy=remedy)


def name_reserved(subject: _Subject, notes: Notes) -> None:
    """The name must not contain a vendor's own."""
    word = _RESERVED.search(subject.content.name)
    if word:
        remedy = f"Leave {word[0]!r} out of the name."
        notes.warn("name-reserved", "the name contains a reserved word", "$.name", found=word[0], remedy=remedy)


def name_folder(subject: _Subject, notes: Notes) -> None:
    """The name is the folder's."""
    skill = subject.content
    if skill.frontmatter.get("name") and skill.name != skill.folder:
        remedy = f"Rename the folder to {skill.name}, or write name: {skill.folder}"
        found = f"{skill.name} in a folder called {skill.folder}"
        notes.warn("name-folder", "the name is not the folder's", "$.name", found=found, remedy=remedy)


def description_length(subject: _Subject, notes: Notes) -> None:
    """At most 1024 characters."""
    length = len(subject.content.description.strip())
    if length > _DESCRIPTION_LIMIT:
        found, expected = f"{length} characters", f"at most {_DESCRIPTION_LIMIT}"
        remedy = "Move detail into the body; agents read only the description when they choose."
        path = "$.description"
        notes.error(
            "description-length", "the description is too long", path, found=found, expected=expected, remedy=remedy
        )


def description_brackets(subject: _Subject, notes: Notes) -> None:
    """No `<` or `>`: descriptions are put into a prompt made of tags."""
    text = subject.content.description
    at = re.search(r"[<>]", text)
    if at:
        found = text[max(0, at.start() - 10) : at.start() + 20]
        remedy = "Say it without < and >."
        notes.error("description-brackets", "angle brackets", "$.description", found=found, remedy=remedy)


def description_when(subject: _Subject, notes: Notes) -> None:
    """Says more than a few words."""
    words = subject.content.description.split()
    if len(words) < 6 and subject.content.description.isascii():
        remedy = "Say what the skill does and when it is to be used, in the user's words."
        message = "the description is too short to tell when to use it"
        notes.warn("description-short", message, "$.description", found=" ".join(words), remedy=remedy)


def placeholder(subject: _Subject, notes: Notes) -> None:
    """A description that is still to be written."""
    if re.search(r"\breplace (?:me|this)\b|\bTODO\b", subject.content.description, re.IGNORECASE):
        remedy = "Write what the skill does and when it is to be used."
        notes.info("placeholder", "the description is a placeholder", "$.description", remedy=remedy)


def unknown_key(subject: _Subject, notes: Notes) -> None:
    """Keys of the frontmatter that neither the format nor a known agent reads."""
    known = _FORMAT_KEYS | _AGENT_KEYS
    for key in subject.content.frontmatter:
        if key in known:
            continue
        guess = did_you_mean(key, known)
        note = notes.warn if guess else notes.info
        message = f"{key} is no key of the format"
        note("unknown-key", message, child("$", key), remedy=guess + "Keys of your own belong under metadata.")


def compatibility_length(subject: _Subject, notes: Notes) -> None:
    """At most 500 characters."""
    text = subject.content.frontmatter.get("compatibility")
    if isinstance(text, str) and len(text) > _COMPATIBILITY_LIMIT:
        found, expected = f"{len(text)} characters", f"at most {_COMPATIBILITY_LIMIT}"
        path = "$.compatibility"
        notes.error("compatibility-length", "compatibility is too long", path, found=found, expected=expected)


def body(subject: _Subject, notes: Notes) -> None:
    """The body says something, and not too much at once."""
    text = subject.content.body
    lines = text.count("\n") + 1
    if not text.strip():
        remedy = "Write what the agent is to do."
        notes.warn("body-empty", "there is nothing below the frontmatter", "$", remedy=remedy)
    elif lines > _BODY_LINES:
        remedy = "Move detail into files that the body points to; they are read only when needed."
        found, expected = f"{lines} lines", f"at most {_BODY_LINES}"
        notes.info("body-long", "the body is long", "$", found=found, expected=expected, remedy=remedy)


def link_left_out(subject: _Subject, notes: Notes) -> None:
    """Links that an agent does not get."""
    for link in left_out_links(subject.content.root):
        message = f"{link} is a link that leads to a folder or out of the skill; no agent gets it"
        notes.warn("link-left-out", message, remedy="Put the file itself there.")


SKILL_RULES: tuple[Rule[Skill], ...] = (
    name_form,
    name_reserved,
    name_folder,
    description_length,
    description_brackets,
    description_when,
    placeholder,
    unknown_key,
    compatibility_length,
    body,
    link_left_out,
)
