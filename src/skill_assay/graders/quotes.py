"""Whether what a judge quotes is really there: word for word but for white space, else nearly so.

"Nearly" forgives a dropped word or a changed comma, never another number and never a "not" more or less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from skill_assay.graders.material import Material, Piece

__all__ = ["Located", "absence_fault", "locate"]

LEAST = 4
"""A shorter quote proves something only where it is a whole line."""
ALIKE = 0.9
_SEED = 12
_HITS = 20
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NOT = re.compile(r"\b(?:not|no|never|none|without|nor|neither|fail(?:s|ed)?|missing)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Located:
    """Where a quote was found."""

    piece: Piece
    line: int
    exact: bool


def locate(quote: str, material: Material, source: str | None = None) -> Located | None:
    """The place of a quote: in the piece named, else in any; `None` where it is nowhere."""
    words = quote.split()
    if not words:
        return None
    named = material.piece(source) if source else None
    pieces = [named] if named else []
    pieces += [piece for piece in material.pieces if piece is not named]
    for piece in pieces:
        at = _exactly(words, piece.text)
        if at is not None:
            return Located(piece, _line(piece.text, at), True)
    for piece in pieces:
        at = _nearly(" ".join(words), piece.text)
        if at is not None:
            return Located(piece, _line(piece.text, at), False)
    return None


def _exactly(words: Sequence[str], text: str) -> int | None:
    pattern = r"\s+".join(map(re.escape, words))
    if sum(map(len, words)) < LEAST:
        pattern = rf"^[^\S\n]*{pattern}[^\S\n]*$"
    found = re.search(pattern, text, re.MULTILINE)
    return found.start() if found else None


def _nearly(quote: str, text: str) -> int | None:
    """Windows around an exact piece of the quote are compared as a whole."""
    if len(quote) < 2 * _SEED:
        return None
    for start, window in _windows(quote, text):
        flat = " ".join(window.split())
        blocks = [
            block for block in SequenceMatcher(None, flat, quote, autojunk=False).get_matching_blocks() if block.size
        ]
        if sum(block.size for block in blocks) < ALIKE * len(quote):
            continue
        span = flat[blocks[0].a : blocks[-1].a + blocks[-1].size]
        if len(span) <= len(quote) / ALIKE and _same_sense(quote, span):
            return start
    return None


def _windows(quote: str, text: str) -> Iterator[tuple[int, str]]:
    slack = len(quote) // 4 + 20
    tried: set[int] = set()
    for offset in range(0, len(quote) - _SEED + 1, _SEED):
        seed = r"\s+".join(map(re.escape, quote[offset : offset + _SEED].split()))
        for count, hit in enumerate(re.finditer(seed, text)):
            start = max(0, hit.start() - offset - slack)
            if count >= _HITS:
                break
            if start // 40 not in tried:
                tried.add(start // 40)
                yield start, text[start : hit.start() - offset + len(quote) + 2 * slack]


def _same_sense(quote: str, span: str) -> bool:
    numbers = Counter(_NUMBER.findall(quote)) == Counter(_NUMBER.findall(span))
    return numbers and len(_NOT.findall(quote)) == len(_NOT.findall(span))


def _line(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return text.count("\n", 0, offset) + 1


def absence_fault(terms: Sequence[str], searched: Sequence[str], material: Material) -> str | None:
    """Why a claim that something is nowhere to be found does not hold; `None` when our own search bears it out."""
    named = [(name, material.piece(name)) for name in searched]
    unknown = [name for name, piece in named if piece is None]
    if unknown:
        return f"it says to have searched {', '.join(unknown[:5])}, which it was not shown"
    pieces = [piece for _, piece in named if piece is not None]
    wanted = [term for term in (" ".join(term.split()) for term in terms) if term]
    if not pieces or not wanted:
        return "it claims that something is absent without saying what was searched for and where"
    for term in wanted:
        pattern = re.compile(r"\s+".join(map(re.escape, term.split())), re.IGNORECASE)
        for piece in pieces:
            if found := pattern.search(piece.text):
                line = _line(piece.text, found.start())
                return f'it says that "{term}" is absent, but it stands in {piece.name}, line {line}'
    return None
