"""What is laid into a sandbox before the agent starts: fixtures and skills, and nothing that gives answers away."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from skill_assay.errors import InputError

__all__ = ["install_name", "install_skill", "place_fixtures"]

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
