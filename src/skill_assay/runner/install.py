"""What is laid into a sandbox before the agent starts: fixtures and skills, and nothing that gives answers away."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from skill_assay.errors import InputError

__all__ = ["install_name", "install_skill", "keep_fixtures", "place_fixtures"]

Fixtures = tuple[tuple[Path, str], ...]

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def install_name(name: str, folder: str) -> str:
    """The folder a skill is installed under: its declared name where that is a valid one, else its folder's."""
    return name if _NAME.fullmatch(name) and len(name) <= 64 else folder


def install_skill(source: Path, files: Iterable[str], target: Path) -> None:
    """Copy the listed files of a skill (what an agent gets: no `evals/`, no version control) to `target`."""
    for relative in files:
        place = target / relative
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / relative, place, follow_symlinks=False)


def keep_fixtures(fixtures: Mapping[str, Fixtures], into: Path) -> dict[str, Fixtures]:
    """Private copies of every eval's fixtures, so that editing one during a run changes no trial.

    Args:
        fixtures: by eval id: (source, place below the working directory).
        into: an empty folder.
    """
    kept: dict[str, Fixtures] = {}
    for number, (eval_id, placed) in enumerate(fixtures.items()):
        sources = [into / f"{number}-{at}" / source.name for at, (source, _) in enumerate(placed)]
        place_fixtures(
            ((source, str(copy.relative_to(into))) for (source, _), copy in zip(placed, sources, strict=True)), into
        )
        kept[eval_id] = tuple((copy, place) for copy, (_, place) in zip(sources, placed, strict=True))
    return kept


def place_fixtures(fixtures: Iterable[tuple[Path, str]], work: Path) -> None:
    """Copy fixtures (files or folders) to their places below the working directory.

    Raises:
        InputError: a fixture vanished since the plan was made, or two fall on one place.
    """
    for source, relative in fixtures:
        place = work / relative
        if place.exists():
            raise InputError(f"Two fixtures fall on the same place in the working directory: {relative}")
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            if source.is_dir():
                shutil.copytree(source, place, symlinks=True)
            else:
                shutil.copy2(source, place)
        except FileNotFoundError as error:
            raise InputError("A fixture is gone since the plan was made", file=str(source)) from error
