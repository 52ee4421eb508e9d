"""Reading files that an agent (or a stranger) left: no links followed, nothing outside, nothing endless.

Every file the viewer shows is opened through here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Listed", "Listing", "Refused", "inside", "list_files", "read_bytes", "read_text"]


class Refused(Exception):
    """The file is not to be shown, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One file below a folder."""

    name: str
    """Relative to the folder, `/`-separated."""
    size: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The files below a folder, and what was left out."""

    files: tuple[Listed, ...]
    left_out: tuple[str, ...] = ()


def inside(root: Path, name: str) -> Path:
    """The regular file `name` below `root`.

    Raises:
        Refused: it is not there, no regular file, or a link (or a `..`) is on the way to it.
    """
    parts = name.split("/")
    if "\0" in name or "\\" in name or any(part in ("", ".", "..") for part in parts):
        raise Refused("no such file")
    path = root
    try:
        for part in parts:
            path = path / part
            kind = path.lstat().st_mode
            if stat.S_ISLNK(kind):
                raise Refused("a link, which is not followed")
    except (OSError, ValueError) as error:
        raise Refused("no such file") from error
    if not stat.S_ISREG(kind):
        raise Refused("not a regular file")
    return path


def read_bytes(root: Path, name: str, limit: int) -> tuple[bytes, bool]:
    """At most `limit` bytes of a file, and whether there is more.

    Raises:
        Refused: as `inside`, or it can't be read.
    """
    path = inside(root, name)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise Refused(error.strerror or "can't be read") from error
    return data[:limit], len(data) > limit


def read_text(root: Path, name: str, limit: int = 1_000_000) -> str | None:
    """A file as text, cut at `limit` bytes; `None` when there is none to show."""
    try:
        data, _ = read_bytes(root, name, limit)
    except Refused:
        return None
    return data.decode("utf-8-sig", "replace")


def list_files(root: Path, most: int = 500) -> Listing:
    """Every file below a folder, nested ones too, in the order of their names."""
    if root.is_symlink():
        return Listing((), (f"{root.name}: a link, which is not followed",))
    files: list[Listed] = []
    left_out: list[str] = []
    for entry, name in _entries(root, ""):
        if not _is_text(name):
            # It can't stand in an address, and what can't be opened is not offered.
            left_out.append(f"{os.fsencode(name).decode('utf-8', 'replace')}: its name is no UTF-8")
        elif entry.is_symlink():
            left_out.append(f"{name}: a link, which is not followed")
        elif not entry.is_file(follow_symlinks=False):
            left_out.append(f"{name}: not a regular file")
        elif len(files) < most:
            files.append(Listed(name, entry.stat(follow_symlinks=False).st_size))
        else:
            left_out.append(f"{name}: more than {most} files")
    if len(left_out) > most:
        left_out = [*left_out[:most], f"and {len(left_out) - most} more"]
    return Listing(tuple(files), tuple(left_out))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _entries(folder: Path, prefix: str, depth: int = 0) -> Iterator[tuple[os.DirEntry[str], str]]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False) and depth < 20:
            yield from _entries(folder / entry.name, f"{name}/", depth + 1)
        else:
            yield entry, name
