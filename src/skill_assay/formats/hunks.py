"""A change of a file cut into the pieces that can be taken or left one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["Hunk", "hunks_between", "with_hunks"]

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that are replaced together, line ends included."""

    start: int
    """Of the first old line, from 0."""
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    before: tuple[bytes, ...] = ()
    """The lines above it, for a reader."""
    after: tuple[bytes, ...] = ()


def hunks_between(old: bytes | None, new: bytes) -> tuple[Hunk, ...]:
    """The pieces that make `new` of `old`.

    Args:
        old: `None` for a file that is not there: it is added whole or not at all.
        new: the file as it would be. What is no text is replaced whole too.
    """
    if old == new:
        return ()
    if old is None or b"\0" in old or b"\0" in new:
        return (Hunk(0, () if old is None else (old,), (new,)),)
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matched = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple(_hunk(before, after, *opcode[1:]) for opcode in matched if opcode[0] != "equal")


def _hunk(before: Sequence[bytes], after: Sequence[bytes], a: int, b: int, c: int, d: int) -> Hunk:
    above, below = before[max(0, a - _CONTEXT) : a], before[b : b + _CONTEXT]
    return Hunk(a, tuple(before[a:b]), tuple(after[c:d]), tuple(above), tuple(below))


def with_hunks(old: bytes | None, new: bytes, taken: Collection[int]) -> bytes | None:
    """The file with some of its pieces taken; `None` for one that is not there and is not added.

    Args:
        old: as for `hunks_between`.
        new: likewise.
        taken: indices of its hunks.
    """
    hunks = hunks_between(old, new)
    if len(set(taken)) == len(hunks):
        return new
    if old is None or not taken:
        return old
    lines = old.splitlines(keepends=True)
    for index in sorted(taken, reverse=True):
        hunk = hunks[index]
        lines[hunk.start : hunk.start + len(hunk.old)] = hunk.new
    return b"".join(lines)
