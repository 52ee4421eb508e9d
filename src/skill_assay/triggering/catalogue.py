"""The skills installed beside the one under test, and how much of them the agent tells its model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from skill_assay.errors import AssayError, InputError, NotFoundError
from skill_assay.formats.skill import read_skill
from skill_assay.model.agent import Listing
from skill_assay.model.skill import Skill
from skill_assay.model.trigger_results import CatalogueCheck
from skill_assay.runner.install import install_name, install_skill

__all__ = ["INSTALLED", "check_catalogue", "copy_neighbours", "find_neighbours", "installed_as", "listing_warnings"]

INSTALLED = "installed"
"""`--catalog installed`: the user's own skills."""
_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def installed_as(skill: Skill) -> str:
    """The folder a skill is installed under."""
    return install_name(skill.name, skill.folder)


def find_neighbours(
    places: Sequence[str], skill: Skill, user_skills: Sequence[str], env: Mapping[str, str]
) -> tuple[tuple[Skill, ...], tuple[str, ...]]:
    """The skills of a catalogue without the one under test, by the name they will have; and what was left out.

    Args:
        places: folders that are a skill or hold skills; `installed` for the user's own.
        skill: the one under test; a namesake is left out, since two of a name can't be told apart.
        user_skills: where users of this agent keep theirs.
        env: for HOME and variables.

    Raises:
        InputError: a place is none, or holds no skill.
    """
    found: dict[str, Skill] = {}
    notes: list[str] = []
    taken = {installed_as(skill), skill.name}
    for place in places:
        folders = _user_folders(user_skills, env) if place == INSTALLED else [Path(place).expanduser()]
        for neighbour in _skills(folders, place, notes):
            name = installed_as(neighbour)
            if neighbour.root.resolve() == skill.root.resolve():
                continue
            if name in taken or neighbour.name in taken:
                notes.append(f"Left out of the catalogue, it has the name of the skill under test: {neighbour.root}")
            elif name in found:
                notes.append(f"Left out of the catalogue, another skill is called {name}: {neighbour.root}")
            else:
                found[name] = neighbour
    return tuple(found[name] for name in sorted(found)), tuple(notes)


def _user_folders(user_skills: Sequence[str], env: Mapping[str, str]) -> list[Path]:
    if not user_skills:
        raise InputError(
            "It is not known where this agent's users keep their skills", hint="Name folders: --catalog DIR."
        )
    home = env.get("HOME") or str(Path.home())
    texts = [_VARIABLE.sub(lambda match: env.get(match[1]) or match[2], text) for text in user_skills]
    return [Path(re.sub(r"^~(?=/|$)", lambda _: home, text)) for text in texts]


def _skills(folders: Iterable[Path], place: str, notes: list[str]) -> list[Skill]:
    found: list[Skill] = []
    looked = []
    for folder in folders:
        looked.append(str(folder))
        for root in _roots(folder):
            try:
                found.append(read_skill(root))
            except AssayError as error:
                notes.append(f"Left out of the catalogue, it can't be read: {root} ({error.message})")
    if not found:
        raise NotFoundError(
            f"--catalog {place} holds no skill", file=", ".join(looked), expected="folders with a SKILL.md"
        )
    return found


def _roots(folder: Path) -> list[Path]:
    if (folder / "SKILL.md").is_file():
        return [folder]
    try:
        return sorted(child for child in folder.iterdir() if (child / "SKILL.md").is_file())
    except OSError:
        return []


def copy_neighbours(neighbours: Iterable[Skill], private: Path) -> tuple[tuple[Path, ...], str]:
    """Copies as they are now, each in the folder it will be installed under, and the digest of them all."""
    digest, copies = hashlib.sha256(), []
    for skill in neighbours:
        copy = private / installed_as(skill)
        install_skill(skill.root, skill.files, copy)
        digest.update(f"{copy.name}\0{skill.digest}\n".encode())
        copies.append(copy)
    return tuple(copies), digest.hexdigest() if copies else "none"


def check_catalogue(skills: Iterable[Skill], listing: Listing | None, model: str | None) -> CatalogueCheck:
    """How much of these skills' descriptions an agent tells its model.

    Names always; descriptions cut at the cap for one skill, and left out from where, in the order of the names, the
    whole would pass the budget.
    """
    shown = {installed_as(skill): skill.description for skill in skills if not _hidden(skill)}
    names = tuple(sorted(shown))
    if listing is None:
        return CatalogueCheck(names, sum(len(f"- {name}: {shown[name]}\n") for name in names))
    texts = {name: " ".join(shown[name].split())[: listing.per_skill] for name in names}
    budget = listing.budget(model)
    used = sum(len(f"- {name}: {texts[name]}\n") for name in names)
    return CatalogueCheck(
        skills=names,
        used=used,
        budget=budget,
        per_skill=listing.per_skill,
        cut=tuple(name for name in names if len(shown[name]) > listing.per_skill),
        dropped=tuple(_dropped(names, texts, budget)),
    )


def _dropped(names: Sequence[str], texts: Mapping[str, str], budget: int) -> Iterator[str]:
    used = sum(len(f"- {name}\n") for name in names)
    full = False
    for name in names:
        used += len(f": {texts[name]}")
        full = full or used > budget
        if full:
            yield name


def _hidden(skill: Skill) -> bool:
    """Skills that only their user may call are not told to the model."""
    return skill.frontmatter.get("disable-model-invocation") is True


def listing_warnings(check: CatalogueCheck, own: str, model: str | None) -> list[str]:
    """A description that the model will not read whole, in words."""
    warnings = []
    if check.cut:
        whose = "Its own description is" if own in check.cut else "Descriptions are"
        names = _some([name for name in check.cut if name != own])
        others = f" (and {names})" if own in check.cut and names else f": {names}" if names else ""
        warnings.append(f"{whose} longer than the {check.per_skill} characters that the agent shows{others}")
    if check.dropped:
        usual = model or "its usual model"
        warnings.append(
            f"The catalogue of {len(check.skills)} skills takes {check.used} characters, and the agent shows about "
            f"{check.budget} to {usual}: descriptions are dropped from {check.dropped[0]} on"
            + (f", that of {own} among them: the model sees only its name" if own in check.dropped else "")
        )
    return warnings


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
