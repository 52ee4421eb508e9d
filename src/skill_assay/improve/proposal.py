"""A proposed version of a skill: checked, laid over the current one, and told apart from it in a diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from skill_assay.model.skill import Skill
from skill_assay.workspace.laid_out import fault_as_version

__all__ = ["Change", "Proposal", "change_rows", "diff_of", "fault_in", "laid_over"]

_LARGEST = 400_000
_LONGEST_PATH = 200
_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._+-]{0,98}[A-Za-z0-9_+-])?")
"""A dot or a space at its end is dropped by some systems, so that `evals.` would be `evals`."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it would be."""

    path: str
    content: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What was proposed, and the whole folder it makes."""

    changes: tuple[Change, ...]
    summary: str
    files: Mapping[str, bytes]
    """Path → content of every file an agent would get."""
    digest: str
    """Of that folder, as `Skill.digest`."""
    unneeded: tuple[str, ...] = ()
    """Files the model holds for unneeded; nothing is removed, a person may."""


def laid_over(skill: Skill, changes: Sequence[Change]) -> dict[str, bytes]:
    """Every file of the skill, the changed ones with their new content; their kind of line ends stays."""
    files = {name: (skill.root / name).read_bytes() for name in skill.files}
    for change in changes:
        files[change.path] = _like(files.get(change.path), change.content)
    return files


def _like(old: bytes | None, text: str) -> bytes:
    new = text.replace("\r\n", "\n")
    new += "" if new.endswith("\n") or not new else "\n"
    data = new.encode("utf-8", "replace")
    if old is None:
        return data
    if old.count(b"\r\n") > old.count(b"\n") // 2:
        data = data.replace(b"\n", b"\r\n")
    return b"\xef\xbb\xbf" + data if old.startswith(b"\xef\xbb\xbf") and not data.startswith(b"\xef\xbb\xbf") else data


def fault_in(skill: Skill, changes: Sequence[Change]) -> str | None:
    """Why this can't be a version of the skill; `None` when it can."""
    if not changes:
        return "it changes nothing"
    for change in changes:
        if reason := _bad_path(change.path, skill):
            return f"{change.path[:_LONGEST_PATH]!r} {reason}"
        if len(change.content) > _LARGEST:
            return f"{change.path} is larger than {_LARGEST} characters"
    names = [change.path.lower() for change in changes]
    if len(set(names)) < len(names):
        return "it changes a file twice"
    if clash := _clash(skill, changes):
        return clash
    files = laid_over(skill, changes)
    if all(files[name] == (skill.root / name).read_bytes() for name in skill.files) and len(files) == len(skill.files):
        return "it changes nothing"
    fault = fault_as_version(skill, files)
    return fault and f"it {fault}"


def _bad_path(path: str, skill: Skill) -> str | None:
    parts = PurePosixPath(path).parts
    if not parts or path != "/".join(parts) or ".." in parts or not all(_PLAIN.fullmatch(part) for part in parts):
        return "is no plain path below the skill's folder"
    if len(path) > _LONGEST_PATH:
        return f"is longer than {_LONGEST_PATH} characters"
    if parts[0].lower() == "evals":
        return "lies in evals/, which is out of reach"
    if path not in skill.files and path.lower() in {name.lower() for name in skill.files}:
        return "differs from a file that is there only by capitals"
    if path in skill.files and b"\0" in (skill.root / path).read_bytes()[:8192]:
        return "is a binary file"
    if any((skill.root / PurePosixPath(*parts[:end])).is_symlink() for end in range(1, len(parts) + 1)):
        return "lies behind a link"
    if any((skill.root / PurePosixPath(*parts[:end])).is_file() for end in range(1, len(parts))):
        return "lies below a file"
    if path not in skill.files and (skill.root / path).exists():
        return "is there and is not part of what an agent gets"
    return None


def _clash(skill: Skill, changes: Sequence[Change]) -> str | None:
    """Where the files could not lie beside each other, here or on a system that does not tell capitals apart."""
    files = {name.lower() for name in (*skill.files, *(change.path for change in changes))}
    spelt: dict[str, str] = {}
    for name in (*skill.files, *(change.path for change in changes)):
        for folder in map(str, PurePosixPath(name).parents[:-1]):
            known = spelt.setdefault(folder.lower(), folder)
            if name in skill.files:
                continue
            if folder.lower() in files:
                return f"{name!r} lies below a file"
            if known != folder:
                return f"{name!r} lies in a folder that differs from {known!r} only by capitals"
    return None


def diff_of(skill: Skill, files: Mapping[str, bytes]) -> str:
    """What a person reads: unified, file by file."""
    parts: list[str] = []
    for name in sorted(files):
        old = (skill.root / name).read_bytes() if name in skill.files else b""
        if old != files[name]:
            parts += _diff(name, old, files[name], new=name not in skill.files)
    return "".join(parts)


def _diff(name: str, old: bytes, new_content: bytes, *, new: bool) -> Iterable[str]:
    before, after = (
        [f"{line}\n" for line in data.decode("utf-8", "replace").splitlines()] for data in (old, new_content)
    )
    yield from difflib.unified_diff(before, after, "/dev/null" if new else f"a/{name}", f"b/{name}")


def change_rows(skill: Skill, changes: Sequence[Change]) -> list[dict[str, Any]]:
    """For `changes.json`."""
    return [
        {"path": one.path, "kind": "changed" if one.path in skill.files else "added", "reason": one.reason}
        for one in changes
    ]
