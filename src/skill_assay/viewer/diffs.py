"""How a file differs from its namesake in another arm or another iteration: by line, and by word within a line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skill_assay.viewer.outputs import Outputs

__all__ = ["Difference", "FileDiff", "Line", "Part", "difference", "line_diff"]

_MOST_LINES = 1_500
"""Of either side; what comes after is not compared."""
_MOST_FILES = 40
_MOST_WORDS = 300
"""Of a line; a longer one is marked whole."""
_MOST_PAIRS = 300
"""Lines of a file whose words are compared."""
_LONGEST = 2_000
_CONTEXT = 3
_ALIKE = 0.4
"""Share of words that two lines must have in common to be shown as one line that changed."""
_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a line."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff."""

    kind: str
    """`same`, `del`, `add`, or `place` where lines are skipped."""
    parts: tuple[Part, ...]
    before: int | None = None
    """Its number on the old side, from 1."""
    after: int | None = None


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file that both have and that differs."""

    name: str
    lines: tuple[Line, ...]
    added: int
    removed: int
    note: str = ""
    """What was not compared or is not shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything two runs made, compared."""

    before: str
    """Whose is the old side, in words."""
    after: str
    files: tuple[FileDiff, ...]
    same: tuple[str, ...]
    """Files without a difference."""
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether neither made a file."""
        return not (self.files or self.same or self.only_before or self.only_after)


def difference(before: str, old: Outputs, after: str, new: Outputs, most: int = 800) -> Difference:
    """Compare what two runs made, text file by text file.

    Args:
        before: whose the old side is, in words.
        old: what it made.
        after: likewise for the new side.
        new: what that made.
        most: lines of a file that are shown.
    """
    theirs = {one.name: one for one in old.files}
    mine = {one.name: one for one in new.files}
    files, same = [], []
    for name in [one for one in mine if one in theirs][:_MOST_FILES]:
        one, two = theirs[name], mine[name]
        if not (one.source or two.source) or one.kind == "binary" or two.kind == "binary":
            continue
        found = line_diff(name, one.source, two.source, cut=one.cut or two.cut, most=most)
        if found.lines or found.note:
            files.append(found)
        else:
            same.append(name)
    only_before, only_after = (tuple(n for n in a if n not in b) for a, b in ((theirs, mine), (mine, theirs)))
    return Difference(before, after, tuple(files), tuple(same), only_before, only_after)


def line_diff(name: str, before: str, after: str, *, cut: bool = False, most: int = 800) -> FileDiff:
    """The lines that differ, with some around them.

    Args:
        name: the file's.
        before: the old text.
        after: the new one.
        cut: whether the texts are only the beginning of their files.
        most: lines that are shown.
    """
    one, two = before.splitlines(), after.splitlines()
    notes = []
    if cut or max(len(one), len(two)) > _MOST_LINES:
        notes.append("only the beginning of the files is compared")
    one, two = one[:_MOST_LINES], two[:_MOST_LINES]
    lines = list(_lines(one, two))
    added, removed = (sum(line.kind == kind for line in lines) for kind in ("add", "del"))
    if len(lines) > most:
        notes.append(f"{len(lines) - most} more lines are not shown")
    return FileDiff(name, tuple(lines[:most]), added, removed, "; ".join(notes))


def _lines(one: Sequence[str], two: Sequence[str]) -> Iterator[Line]:
    budget = [_MOST_PAIRS]
    for number, group in enumerate(difflib.SequenceMatcher(None, one, two).get_grouped_opcodes(_CONTEXT)):
        first = group[0]
        if number or first[1] or first[3]:
            yield Line("place", (Part(f"line {first[1] + 1} before, {first[3] + 1} after"),))
        for tag, a, b, c, d in group:
            if tag == "equal":
                for step in range(b - a):
                    yield Line("same", _whole(one[a + step]), a + step + 1, c + step + 1)
            else:
                yield from _changed(one[a:b], two[c:d], a + 1, c + 1, budget)


def _changed(old: Sequence[str], new: Sequence[str], a: int, c: int, budget: list[int]) -> Iterator[Line]:
    """Lines that became others stand one below the other; the rest is what went, then what came."""
    pairs = []
    for before, after in zip(old, new, strict=False):
        budget[0] -= 1
        pairs.append(_words(before, after) if budget[0] >= 0 else None)
    done = 0
    for place, pair in enumerate([*pairs, None]):
        if pair is not None or place == len(pairs):
            end_old, end_new = (place, place) if pair else (len(old), len(new))
            yield from (Line("del", _whole(old[n]), a + n) for n in range(done, end_old))
            yield from (Line("add", _whole(new[n]), None, c + n) for n in range(done, end_new))
            done = place + 1
        if pair is not None:
            yield Line("del", pair[0], a + place)
            yield Line("add", pair[1], None, c + place)


def _whole(text: str) -> tuple[Part, ...]:
    return (Part(text[:_LONGEST]),)


def _words(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]] | None:
    """Both lines in parts; `None` where they have too little in common or are too long."""
    if max(len(before), len(after)) > _LONGEST:
        return None
    one, two = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(one), len(two)) > _MOST_WORDS:
        return None
    if not _alike(one, two):
        return None
    matcher = difflib.SequenceMatcher(None, one, two, autojunk=False)
    old, new = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if a < b:
            old.append(Part("".join(one[a:b]), tag != "equal"))
        if c < d:
            new.append(Part("".join(two[c:d]), tag != "equal"))
    return tuple(old), tuple(new)


def _alike(one: Sequence[str], two: Sequence[str]) -> bool:
    left, right = ({word for word in words if word.strip()} for words in (one, two))
    return 2 * len(left & right) >= _ALIKE * (len(left) + len(right))
