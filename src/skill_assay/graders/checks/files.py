"""`file_exists`, `file_absent`: files by pattern and size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import glob, whole
from skill_assay.graders.checks.verdict import Verdict, said
from skill_assay.graders.outputs import Unreadable, matching, place, safe_file, seen
from skill_assay.graders.words import counted, listed
from skill_assay.model.grade import Evidence
from skill_assay.model.work import Work

__all__ = ["FileAbsent", "FileExists"]


@dataclass(frozen=True)
class FileExists:
    """Some file matches the pattern and has the size asked for."""

    kind: ClassVar = "file_exists"
    path: str = argument(glob)
    min_bytes: int = argument(whole, default=1)
    max_bytes: int | None = argument(whole, default=None)

    def __post_init__(self) -> None:
        if self.max_bytes is not None and self.max_bytes < self.min_bytes:
            raise BadArgument(f"no file has at least {self.min_bytes} and at most {self.max_bytes} bytes")

    async def decide(self, work: Work) -> Verdict:
        """Yes on the first file that fits."""
        sizes = _sizes(work, self.path)
        fitting = [name for name, size in sizes.items() if self._fits(size)]
        if fitting:
            names = listed(f"{name} ({_size(sizes[name])})" for name in fitting)
            return said(True, f"{self.path} is there: {names}.", _places(work, fitting))
        if sizes:
            names = listed(f"{name} ({_size(size)})" for name, size in sizes.items())
            found = f"{self.path} is there, but not with {self._wanted()}: {names}."
            return said(False, found, _places(work, sizes))
        return said(False, f"No file matches {self.path}. {seen(work.files)}")

    def _fits(self, size: int | None) -> bool:
        return size is not None and size >= self.min_bytes and (self.max_bytes is None or size <= self.max_bytes)

    def _wanted(self) -> str:
        most = "" if self.max_bytes is None else f" and at most {self.max_bytes:,}"
        return f"at least {self.min_bytes:,}{most} bytes"


@dataclass(frozen=True)
class FileAbsent(FileExists):
    """No file matches the pattern with the size asked for; an empty file counts as there."""

    kind: ClassVar = "file_absent"
    min_bytes: int = argument(whole, default=0)

    async def decide(self, work: Work) -> Verdict:
        """The opposite of `file_exists`."""
        there = await super().decide(work)
        return said(not there.passed, there.evidence, there.places)


def _places(work: Work, names: Iterable[str]) -> tuple[Evidence, ...]:
    return tuple(place(name) for name in list(names)[:10] if name not in work.omitted)


def _sizes(work: Work, pattern: str) -> dict[str, int | None]:
    """Bytes of each file that matches; `None` for what is no regular file."""
    sizes: dict[str, int | None] = {}
    for name in matching(work.files, pattern):
        try:
            sizes[name] = safe_file(work.outputs, name).stat().st_size
        except (Unreadable, OSError):
            sizes[name] = None
    # What could not be kept was there all the same, and its size is known.
    return sizes | {name: work.omitted[name] for name in matching(tuple(work.omitted), pattern)}


def _size(size: int | None) -> str:
    return "no regular file" if size is None else counted(size, "byte")
