"""Where runs lie in somebody's folder: every layout of the reference, found by walking once.

eval-x/<arm>/run-N/grading.json        canonical; `runs/` between and other eval folder names are fine
eval-x/<arm>/grading.json              flat: run 1
<arm>/eval-N-grading.json              config-first; also <arm>/eval-N/grading.json
eval-x/grading.json                    arms inside the file
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skill_assay.workspace.roles import is_arm

__all__ = ["GradingFile", "Walk", "walk"]

_DEPTH = 10
_NEVER = frozenset({"outputs", "node_modules", "__pycache__", "venv", "candidate", "streams"})
_RUN = re.compile(r"(?:run|trial|rep|attempt)[-_ ]?([0-9]{1,6})", re.IGNORECASE)
_EVAL = re.compile(r"(?:eval|case|test|task)[-_ ]?", re.IGNORECASE)
_NAMED = re.compile(r"(.+?)[-_]grading\.json", re.IGNORECASE)
_ITERATION = re.compile(r"iteration-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class GradingFile:
    """A file that holds the grading of one run (or of several, for the layouts that do)."""

    path: str
    parts: tuple[str, ...]
    """Folders below the iteration, without the run's own and `runs`."""
    number: int | None
    """N of `run-N`."""
    named: str | None
    """What stands before `-grading.json`."""
    folder: str
    """Its folder below the iteration."""
    siblings: frozenset[str]

    @property
    def known_arm(self) -> str | None:
        """The innermost part whose name is that of an arm."""
        return next((part for part in reversed(self.parts) if is_arm(part)), None)

    @property
    def innermost(self) -> str | None:
        """The part where the canonical layout has the arm: below the eval, above the runs. For names nobody knows."""
        if len(self.parts) < 2 or self.named is not None:
            return None
        sure = self.number is not None or _EVAL.match(self.parts[-2])
        return self.parts[-1] if sure else None

    def eval_folder(self, arm: str) -> str | None:
        """The part that names the eval: within the file's own name, else the innermost that is not the arm."""
        if self.named is not None:
            return self.named
        return next((part for part in reversed(self.parts) if part != arm), None)


@dataclass(slots=True)
class Walk:
    """What a walk found, by the iteration it lies in (`""` for none)."""

    files: dict[str, list[GradingFile]] = field(default_factory=dict)
    ungraded: dict[str, list[str]] = field(default_factory=dict)
    """Run folders with outputs and no grading."""
    metadata: set[str] = field(default_factory=set)
    """Folders that hold an eval_metadata.json."""
    benchmarks: list[str] = field(default_factory=list)


def walk(root: Path) -> Walk:
    """Look through a folder; links are not followed, outputs not entered, entries taken in the order of their names."""
    found = Walk()
    for folder, parts, files, folders in _folders(str(root)):
        iteration, inside = _split(parts)
        if "eval_metadata.json" in files:
            found.metadata.add(folder)
        if "benchmark.json" in files:
            found.benchmarks.append(folder)
        gradings = sorted(name for name in files if name.endswith("grading.json") and _is_grading(name))
        for name in gradings:
            found.files.setdefault(iteration, []).append(_file(folder, name, inside, files))
        runs_below = any(_RUN.fullmatch(name) for name in folders)
        if not gradings and "outputs" in folders and not runs_below:
            found.ungraded.setdefault(iteration, []).append("/".join(inside))
    return found


def _is_grading(name: str) -> bool:
    return name == "grading.json" or _NAMED.fullmatch(name) is not None


def _file(folder: str, name: str, inside: Sequence[str], files: frozenset[str]) -> GradingFile:
    parts = [part for part in inside if part.lower() != "runs"]
    number = None
    if parts and (match := _RUN.fullmatch(parts[-1])):
        number = int(match[1])
        parts.pop()
    named = _NAMED.fullmatch(name)
    path = os.path.join(folder, name)  # noqa: PTH118
    return GradingFile(path, tuple(parts), number, named[1] if named else None, "/".join(inside), files)


def _split(parts: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The innermost iteration's path, and what lies below it."""
    for place in range(len(parts) - 1, -1, -1):
        if _ITERATION.fullmatch(parts[place]):
            return "/".join(parts[: place + 1]), parts[place + 1 :]
    return "", parts


def _folders(root: str) -> Iterator[tuple[str, tuple[str, ...], frozenset[str], list[str]]]:
    """Each folder before those below it: its path, its parts below the root, names of its files and of its folders."""
    waiting: list[tuple[str, tuple[str, ...]]] = [(root, ())]
    while waiting:
        folder, parts = waiting.pop()
        files, folders = [], []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
        except OSError:
            continue
        folders.sort()
        yield folder, parts, frozenset(files), folders
        if len(parts) < _DEPTH:
            below = [name for name in folders if name not in _NEVER and not name.startswith(".")]
            waiting += [(f"{folder}/{name}", (*parts, name)) for name in reversed(below)]
