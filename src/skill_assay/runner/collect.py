"""What the agent left behind: every file it made or changed in its working directory.

Folders are kept. Left out are version control, caches and the installed skills' own folder, whose changes are noted;
links are never followed. A file that does not fit under the cap leaves a note, never silence.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Changes", "Snapshot", "changes_since", "take_snapshot"]

_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".cache", "node_modules"}
    | {".venv", ".npm", ".DS_Store"}
)


@dataclass(frozen=True, slots=True)
class _Mark:
    size: int
    mtime_ns: int
    digest: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The working directory before the agent starts."""

    files: dict[str, _Mark]
    skills: dict[str, _Mark]
    """The installed skills' files, relative to the working directory."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What came to be, as paths relative to the working directory, sorted."""

    files: tuple[str, ...]
    notes: tuple[str, ...]
    omitted: dict[str, int]
    """Files over the cap, with their bytes."""


def take_snapshot(work: Path, skills: Path | None) -> Snapshot:
    """Remember every file's size, time and digest; `skills` is the folder of installed skills, if any."""
    files = {name: _mark(path) for name, path in _walk(work, skills)}
    installed = {}
    if skills is not None and skills.is_dir():
        installed = {path.relative_to(work).as_posix(): _mark(path) for _, path in _walk(skills, None)}
    return Snapshot(files, installed)


def changes_since(before: Snapshot, work: Path, skills: Path | None, cap_bytes: int) -> Changes:
    """The files made or changed since `before`, up to `cap_bytes` in all, smallest first."""
    notes: list[str] = []
    changed: list[tuple[int, str]] = []
    seen = set()
    for name, path in _walk(work, skills, notes):
        seen.add(name)
        if _changed(before.files.get(name), path):
            changed.append((path.stat(follow_symlinks=False).st_size, name))
    notes += [f"deleted by the agent: {name}" for name in sorted(before.files.keys() - seen)]
    notes += _skill_notes(before, work, skills)
    fitting = tuple(sorted(_fitting(changed, cap_bytes, notes)))
    omitted = {name: size for size, name in changed if name not in set(fitting)}
    return Changes(fitting, tuple(notes), omitted)


def _fitting(changed: list[tuple[int, str]], cap_bytes: int, notes: list[str]) -> Iterator[str]:
    room = cap_bytes
    for size, name in sorted(changed):
        if size > room:
            notes.append(f"not collected, over the cap of {cap_bytes} bytes for outputs: {name} ({size} bytes)")
            continue
        room -= size
        yield name


def _skill_notes(before: Snapshot, work: Path, skills: Path | None) -> list[str]:
    if skills is None or not before.skills:
        return []
    now = {path.relative_to(work).as_posix(): path for _, path in _walk(skills, None)}
    changed = [name for name, path in now.items() if _changed(before.skills.get(name), path)]
    gone = before.skills.keys() - now.keys()
    return [f"the installed skill was changed by the agent: {name}" for name in sorted({*changed, *gone})]


def _changed(old: _Mark | None, path: Path) -> bool:
    if old is None:
        return True
    info = path.stat(follow_symlinks=False)
    if info.st_size != old.size:
        return True
    return info.st_mtime_ns != old.mtime_ns and _digest(path) != old.digest


def _mark(path: Path) -> _Mark:
    info = path.stat(follow_symlinks=False)
    return _Mark(info.st_size, info.st_mtime_ns, _digest(path))


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _walk(top: Path, without: Path | None, notes: list[str] | None = None) -> Iterator[tuple[str, Path]]:
    """Regular files below `top`: (relative name, path); what is odd is noted."""

    def closed(error: OSError) -> None:
        if notes is not None:
            where = Path(error.filename).relative_to(top).as_posix()
            notes.append(f"not collected, the folder can't be looked into ({error.strerror}): {where}")

    for folder, names, files in os.walk(top, onerror=closed, followlinks=False):
        here = Path(folder)
        names[:] = sorted(name for name in names if name not in _SKIPPED and here / name != without)
        for name in sorted([*files, *(name for name in names if (here / name).is_symlink())]):
            path = here / name
            relative = path.relative_to(top).as_posix()
            try:
                mode = path.lstat().st_mode
            except OSError:
                continue
            if stat.S_ISREG(mode) and name not in _SKIPPED:
                yield relative, path
            elif notes is not None and not stat.S_ISREG(mode):
                notes.append(f"not collected, {'a link' if stat.S_ISLNK(mode) else 'not a regular file'}: {relative}")
