"""Files laid out in a throwaway folder, to be read as they would be once they are written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from skill_assay.errors import AssayError
from skill_assay.formats.skill import read_skill
from skill_assay.model.skill import Skill

__all__ = ["fault_as_version", "laid_out", "write_files"]


@contextmanager
def laid_out(name: str, files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder of this name that holds these files and is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="assay-look-") as folder:
        root = Path(folder) / name
        write_files(root, files)
        yield root


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder that is not there yet.

    Args:
        root: the folder.
        files: path below it, `/`-separated → content.
    """
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def fault_as_version(skill: Skill, files: Mapping[str, bytes]) -> str | None:
    """Why files can't be a version of a skill, in words that follow "it"; `None` when they can."""
    with laid_out(skill.root.resolve().name, files) as root:
        try:
            made = read_skill(root)
        except AssayError as error:
            return f"is no valid skill: {error.message}"
    if made.name != skill.name:
        return f"renames the skill from {skill.name} to {made.name}"
    return None if made.body.strip() else "has a SKILL.md with no body"
