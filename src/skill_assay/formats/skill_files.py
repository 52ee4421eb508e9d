"""Which files of a skill's folder an agent gets, and the digest over them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["folder_digest", "installable_files", "left_out_links"]

_VERSION_CONTROL = {".git", ".hg", ".svn", ".jj", ".bzr", "cvs"}
_CACHES = {
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache", ".tox", ".nox",
    ".venv", "venv", "node_modules", ".ds_store", "thumbs.db", "desktop.ini", ".coverage",
}  # fmt: skip
_OURS = {".assay"}
_NEVER = _VERSION_CONTROL | _CACHES | _OURS
_NEVER_ENDINGS = (".pyc", ".pyo", ".swp", "~")


def installable_files(root: Path) -> list[str]:
    """Paths relative to `root`, `/`-separated, sorted: the skill as an agent gets it.

    Version control, caches, workspaces and the skill's own `evals/` stay behind. A link to a folder is not
    followed; a link to a file counts as that file when the file itself is one an agent gets.
    """
    return sorted(path for path, _ in _walk(root) if path is not None)


def left_out_links(root: Path) -> list[str]:
    """Links that an agent does not get because they lead out of the skill, into `evals/`, or to a folder."""
    return sorted(link for _, link in _walk(root) if link is not None)


def folder_digest(root: Path) -> str:
    """SHA-256 over the names and contents of `installable_files`, hexadecimal; the same on every machine."""
    digest = hashlib.sha256()
    for path in installable_files(root):
        with (root / path).open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(os.fsencode(path) + b"\0" + content.encode() + b"\n")
    return digest.hexdigest()


def _walk(root: Path, below: str = "") -> Iterator[tuple[str | None, str | None]]:
    """Pairs (file an agent gets, link left out); one of the two is `None`."""
    with os.scandir(root / below) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = below + entry.name
        if _stays_behind(path, root):
            continue
        if entry.is_symlink():
            yield (path, None) if _leads_to_installable(root / path, root) else (None, path)
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(root, path + "/")
        elif entry.is_file(follow_symlinks=False):
            yield path, None


def _stays_behind(path: str, root: Path) -> bool:
    *folders, name = path.casefold().split("/")
    if name in _NEVER or name.endswith(_NEVER_ENDINGS):
        return True
    if not folders and name == "evals":
        return True
    return _is_workspace(root / path)


def _is_workspace(folder: Path) -> bool:
    """Whether iterations of ours or of others lie there, with outputs and grades that no trial may see."""
    if not folder.is_dir():
        return False
    named = folder.name.casefold().endswith("-workspace")
    return any(
        named or (iteration / "plan.json").exists() or (iteration / "benchmark.json").exists()
        for iteration in folder.glob("iteration-*")
    )


def _leads_to_installable(link: Path, root: Path) -> bool:
    """Whether a link ends at a regular file of the skill that an agent gets anyway."""
    try:
        target = link.resolve(strict=True)
        inside = target.relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        return False
    parts = inside.parts
    hidden = any(_stays_behind("/".join(parts[: index + 1]), root.resolve()) for index in range(len(parts)))
    return target.is_file() and not hidden
