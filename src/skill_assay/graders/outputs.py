"""The files of a trial, as graders see them: found recursively, read within bounds, never through a link.

A pattern matches at any depth: `report.md` finds `report.md` and `2026-01-31/draft/report.md` alike. `*` and `?` stay
within one folder, `**` spans folders, `{mp4,mov}` is either, a leading `./` ties the pattern to the top folder, and a
trailing `/` means any file in that folder.
"""

from __future__ import annotations

import fnmatch
import re
import stat
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from skill_assay.graders.words import listed
from skill_assay.model.grade import Evidence

__all__ = ["READ_LIMIT", "Unreadable", "bad_glob", "matching", "place", "read_bytes", "read_text", "safe_file", "seen"]

READ_LIMIT = 20_000_000
"""Bytes read of one file at most."""


class Unreadable(Exception):
    """A file that can't be looked into; the message says why, in words that follow its name."""


def bad_glob(pattern: str) -> str | None:
    """Why it can't be a pattern below the outputs, or `None` when it can."""
    parts = PurePosixPath(pattern).parts
    if not pattern.strip() or not parts:
        return "an empty pattern"
    if "\\" in pattern:
        return "a backslash; folders are separated by /"
    if pattern.startswith("/") or re.match(r"[A-Za-z]:", pattern):
        return "an absolute path"
    return "a path that leaves the outputs" if ".." in parts else None


def matching(files: Sequence[str], pattern: str) -> tuple[str, ...]:
    """Those of `files` that the pattern names, in their order."""
    alternatives = [_segments(one) for one in _braces(unicodedata.normalize("NFC", pattern))]
    paths = ((file, tuple(unicodedata.normalize("NFC", file).split("/"))) for file in files)
    return tuple(file for file, parts in paths if any(_fits(parts, segments) for segments in alternatives))


def _braces(pattern: str) -> list[str]:
    found = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if not found:
        return [pattern]
    ends = pattern[: found.start()], pattern[found.end() :]
    return [whole for option in found[1].split(",") for whole in _braces(option.join(ends))]


def _segments(pattern: str) -> tuple[str, ...]:
    parts = PurePosixPath(pattern).parts
    if pattern.endswith("/"):
        parts = (*parts, "**", "*")
    elif parts[-1] == "**":
        parts = (*parts, "*")
    return parts if pattern.startswith("./") else ("**", *parts)


def _fits(parts: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    """Whether the segments cover the parts; tracks every position reached, so it stays linear per segment."""
    reached = {0}
    for segment in segments:
        if segment == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            regex = _segment(segment)
            reached = {at + 1 for at in reached if at < len(parts) and regex.match(parts[at])}
        if not reached:
            return False
    return len(parts) in reached


@lru_cache(maxsize=512)
def _segment(segment: str) -> re.Pattern[str]:
    # fnmatch's translation is possessive, so no file name can make it backtrack.
    return re.compile(fnmatch.translate(segment))


def safe_file(root: Path, name: str) -> Path:
    """The regular file `name` below `root`.

    Raises:
        Unreadable: it is gone, is no regular file, or lies behind a symbolic link.
    """
    path = root.resolve() / name
    try:
        if path.resolve() != path:
            raise Unreadable("is, or lies behind, a symbolic link")
        mode = path.lstat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        raise Unreadable("can't be opened") from error
    if not stat.S_ISREG(mode):
        raise Unreadable("is no regular file")
    return path


def read_bytes(root: Path, name: str) -> bytes:
    """The whole file; `Unreadable` when it is larger than `READ_LIMIT`."""
    path = safe_file(root, name)
    try:
        with path.open("rb") as file:
            data = file.read(READ_LIMIT + 1)
    except OSError as error:
        raise Unreadable("can't be read") from error
    if len(data) > READ_LIMIT:
        raise Unreadable(f"is larger than {READ_LIMIT // 1_000_000} MB, more than is looked into")
    return data


def read_text(root: Path, name: str) -> str:
    """The file as text, line ends as `\\n`; `Unreadable` when it is not text."""
    data = read_bytes(root, name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    elif b"\0" in data[:8192]:
        raise Unreadable("is not text")
    else:
        text = data.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")


def seen(files: Sequence[str]) -> str:
    """What was there instead, for evidence."""
    return f"Files seen: {listed(files)}." if files else "The agent left no files."


def place(name: str, line: int | None = None) -> Evidence:
    """A place in an output file, relative to the run folder."""
    return Evidence(f"outputs/{name}", line)
