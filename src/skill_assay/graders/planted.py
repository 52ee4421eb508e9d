"""Two expectations planted in every question to a judge: one that must pass and one that must fail.

They are worded alike, stand unmarked among the others, and are decided by a plain search; a judge that gets one wrong
was talked over by the output, nods to everything or refuses everything, so none of its verdicts in that call counts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from skill_assay.graders.material import FILE_LIST, Material, Piece

__all__ = ["plant"]

_WORDINGS = (
    'The text "{phrase}" can be found in the {place}.',
    'The {place} contains the words "{phrase}".',
    '"{phrase}" stands somewhere in the {place}.',
)
_WHO = ("Okonjo", "Lindqvist", "Baptiste", "Hargreave", "Tanizaki", "Moreau", "Castellanos", "Whitlock")
_WHAT = (
    "approved by {who} on the {day}th",
    "see the appendix by {who}, page {day}",
    "reviewed together with {who}, {day} remarks",
    "copied from the notes of {who}, sheet {day}",
)


def plant(material: Material, rng: random.Random) -> tuple[str, str]:
    """The text of the expectation that must pass, and of the one that must fail."""
    wording = rng.choice(_WORDINGS)
    lines = list(_lines(material))
    if lines:
        piece, line = rng.choice(lines)
        place = _place(piece)
        must_pass = wording.format(phrase=line, place=place)
    else:
        # Nothing can be quoted, so that something is absent is all that surely holds.
        place, must_pass = (
            "final answer",
            f'No file called "{rng.choice(_WHO).lower()}-{rng.randint(100, 999)}.ods" is listed.',
        )
    return must_pass, wording.format(phrase=_invented(material, rng), place=place)


def _place(piece: Piece) -> str:
    return piece.name if piece.file is None or piece.name in ("final answer", "transcript") else f"file {piece.name}"


def _lines(material: Material) -> Iterator[tuple[Piece, str]]:
    """Lines that are shown and that a search finds, without anything that would make them hard to quote."""
    for piece in material.pieces:
        if not piece.text.strip() or piece.name == FILE_LIST:
            continue
        whole = set(piece.text.splitlines())
        for line in piece.shown.splitlines()[:400]:
            phrase = line.strip()
            if line in whole and 6 <= len(phrase) <= 80 and phrase.isprintable() and '"' not in phrase:
                yield piece, phrase


def _invented(material: Material, rng: random.Random) -> str:
    while True:
        phrase = rng.choice(_WHAT).format(who=rng.choice(_WHO), day=rng.randint(11, 19))
        if all(phrase not in piece.text for piece in material.pieces):
            return phrase
