"""A skill: a folder with a SKILL.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Skill"]


@dataclass(frozen=True, slots=True)
class Skill:
    """What was read from a skill's folder. `formats.skill` reads one and rewrites its description."""

    root: Path
    """The folder that holds SKILL.md."""
    name: str
    """The frontmatter's `name`, else the folder's name."""
    description: str
    body: str
    """Everything below the frontmatter, byte for byte (decoded as UTF-8)."""
    raw: bytes = field(repr=False)
    """SKILL.md as it stands on disk."""
    frontmatter: Mapping[str, Any]
    digest: str
    """SHA-256 over the whole folder, hexadecimal: stable, without version control, caches and `evals/`."""
    files: tuple[str, ...]
    """What an agent gets: paths relative to `root`, `/`-separated, sorted, without `evals/`."""

    @property
    def folder(self) -> str:
        """The folder's own name, under which the skill is installed."""
        return self.root.name
