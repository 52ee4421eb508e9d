"""Where an attempt happens: a throwaway home and working directory, as the agent sees them and as we do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Launch", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one attempt, as the harness sees them.

    Inside a sandbox they may have other names: `Sandbox.inner` translates.
    """

    root: Path
    work: Path
    """The agent's working directory, a git root under a clean parent."""
    home: Path
    """Its HOME."""
    config: Path
    """For the CLI's own configuration folder."""
    tmp: Path
    """A short TMPDIR."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line as data."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment, not an addition to ours."""
    cwd: Path | None = None
    stdin: bytes | None = None
    """`None`: closed."""
    secrets: tuple[str, ...] = ()
    """Values in `env` that must never be written down."""
    end_signal: str = "TERM"
    """The signal by which this program ends cleanly."""
    feed: bytes | None = None
    """Laid on a descriptor whose number replaces the first word `{feed}` of `argv`: what no process list may show."""
    readable: tuple[Path, ...] = ()
    """What it reads beside itself and its runtime: a sandbox shows it, under the same names."""
    wrappers: int = 0
    """Processes a sandbox puts above the program itself: the end signal goes past them."""
