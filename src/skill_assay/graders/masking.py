"""Takes out of two outputs, on both sides alike, what would tell whose they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from skill_assay.graders.material import Material

__all__ = ["MASK", "Mask"]

MASK = "[masked]"
_PLACES = r"(?:/[\w.+-]+)*/assay-[A-Za-z0-9_]{6,}(?:/[\w.+-]+)?"
_FOLDERS = r"\.(?:claude|agents|codex|gemini|qwen|opencode)/skills?(?:/[\w.+-]+)*"
_ARMS = r"\b(?:with|without|old|new)_skill\b|\bSKILL\.md\b"


class Mask:
    """Masks names of skills, however they are spelt, sandboxes, skill folders and names of arms.

    Args:
        names: the skills' names and folders; very short ones are left, since they would mask half of a text.
    """

    def __init__(self, names: Iterable[str]) -> None:
        spelt = [_spellings(name) for name in sorted(set(names), key=len, reverse=True) if len(name) >= 3]
        self._pattern = re.compile("|".join([_PLACES, _FOLDERS, _ARMS, *spelt]), re.IGNORECASE)

    def text(self, text: str) -> tuple[str, int]:
        """The text without them, and how many there were."""
        return self._pattern.subn(MASK, text)

    def material(self, material: Material) -> tuple[Material, int]:
        """The same to look at, masked piece by piece, and how many there were."""
        total, pieces = 0, []
        for piece in material.pieces:
            name, in_name = self.text(piece.name)
            shown, in_text = self.text(piece.shown)
            total += in_name + in_text
            pieces.append(replace(piece, name=name, shown=shown))
        hidden = tuple(self.text(reason)[0] for reason in material.hidden)
        pictures = tuple(replace(one, name=self.text(one.name)[0]) for one in material.pictures)
        return Material(tuple(pieces), hidden, pictures), total


def _spellings(name: str) -> str:
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", name) if part]
    return r"(?<![A-Za-z0-9])" + r"[\s_-]?".join(parts) + r"(?![A-Za-z0-9])"
