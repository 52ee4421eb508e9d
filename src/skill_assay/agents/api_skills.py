"""The skills of the built-in agent: a line each at first, the text of one when it is called, its files when read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.formats.skill import read_skill

__all__ = ["FOLDER", "LISTING", "Installed", "catalogue", "find_skills", "opened"]

FOLDER = ".agents/skills"
LISTING = 1536, 30_000
"""Characters of one description, and of all: beyond them a description is cut, then left out."""
_FILES = 100
_BODY = 200_000


@dataclass(frozen=True, slots=True)
class Installed:
    """A skill that can be called, by its folder's name or its own."""

    folder: str
    name: str
    description: str
    body: str
    files: tuple[str, ...]


def find_skills(work: Path) -> list[Installed]:
    """The skills below a working directory, by folder name; one that can't be read is none."""
    return list(_found(work / FOLDER))


def _found(root: Path) -> Iterator[Installed]:
    for file in sorted(root.glob("*/SKILL.md")):
        try:
            skill = read_skill(file)
        except (InputError, OSError):
            continue
        yield Installed(file.parent.name, skill.name, skill.description, skill.body, tuple(skill.files))


def catalogue(skills: Sequence[Installed]) -> str:
    """What the model is told of them before it calls one."""
    if not skills:
        return "No skills are installed."
    per_skill, left = LISTING
    lines = []
    for skill in skills:
        about = " ".join(skill.description.split())[:per_skill]
        left -= len(about)
        lines.append(f"- {skill.folder}: {about}" if left >= 0 else f"- {skill.folder}")
    return "\n".join(["### Available skills", "", *lines])


def opened(skills: Sequence[Installed], name: str) -> str:
    """The text of a skill, with where its files lie.

    Raises:
        LookupError: there is none of that name.
    """
    wanted = name.strip().removeprefix("/")
    found = next((skill for skill in skills if wanted in (skill.folder, skill.name)), None)
    if found is None:
        known = ", ".join(skill.folder for skill in skills) or "none is installed"
        raise LookupError(f"Unknown skill: {wanted} (there is: {known})")
    base = f"{FOLDER}/{found.folder}"
    others = [f"- {base}/{file}" for file in found.files if file != "SKILL.md"]
    more = ["", "Its files, to be read or run when the text says so:", *others[:_FILES]] if others else []
    return "\n".join([f"Base directory for this skill: {base}", "", found.body.strip()[:_BODY], *more])
