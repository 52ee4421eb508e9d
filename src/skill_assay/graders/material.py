"""What a judge is shown of a trial's work, and where a quote of the judge's is looked up again.

The judge sees large texts cut, with a note; quotes and claims of absence are checked against the whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skill_assay.graders.outputs import Unreadable, read_text
from skill_assay.graders.texts import transcript_text
from skill_assay.graders.words import shortened
from skill_assay.model.grade import Evidence
from skill_assay.model.work import Work

__all__ = ["FILE_LIST", "IMAGES", "Material", "Piece", "fence_for", "gather_material", "material_of"]

PIECE_LIMIT = 40_000
"""Characters shown of one text."""
TOTAL_LIMIT = 160_000
"""Characters shown in all."""
FILE_LIST = "list of files"
IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".tiff"})


@dataclass(frozen=True, slots=True)
class Piece:
    """One text that can be quoted."""

    name: str
    """`final answer`, `outputs/<file>`, `transcript`, `list of files`."""
    text: str
    """The whole of it."""
    shown: str
    """What the judge sees."""
    file: str | None = None
    """Where it lies in the run folder, for evidence; `None` for what is no file."""

    def place(self, line: int | None) -> tuple[Evidence, ...]:
        """The place in the run folder."""
        # The transcript's lines are not those of the file a person reads.
        return (Evidence(self.file, None if self.name == "transcript" else line),) if self.file else ()


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a judge may look at in one call."""

    pieces: tuple[Piece, ...]
    hidden: tuple[str, ...] = ()
    """Files that are not shown, each with the reason."""

    def piece(self, name: str) -> Piece | None:
        """A piece by the name a judge gave it, with or without `outputs/`."""
        wanted = name.strip().strip("`'\"").lower()
        for piece in self.pieces:
            if wanted in (piece.name.lower(), piece.name.lower().removeprefix("outputs/")):
                return piece
        return None

    def image(self, name: str) -> bool:
        """Whether the judge names one of the images."""
        wanted = name.strip().removeprefix("outputs/")
        listed = next((piece.text for piece in self.pieces if piece.name == FILE_LIST), "")
        return PurePosixPath(wanted).suffix.lower() in IMAGES and wanted in listed.splitlines()

    def render(self, fence: str) -> str:
        """The pieces, each under its name and between lines of the fence."""
        parts = [f"## {shortened(piece.name, 200)}\n\n{fence}\n{piece.shown}\n{fence}" for piece in self.pieces]
        if self.hidden:
            parts.append("Not shown: " + "; ".join(self.hidden))
        return "\n\n".join(parts)


def material_of(work: Work, *, transcript: bool) -> Material:
    """What a trial left behind, the transcript only where it is asked for."""
    said = transcript_text(work.events) if transcript else None
    return gather_material(work.answer, work.files, work.outputs, said)


def gather_material(answer: str, files: Sequence[str], outputs: Path, transcript: str | None = None) -> Material:
    """The answer, the list of files, the files, and the transcript where there is one.

    Args:
        answer: the agent's final message.
        files: paths below `outputs`, `/`-separated.
        outputs: where they lie.
        transcript: its text.
    """
    found: list[tuple[str, str, str | None]] = [("final answer", answer, "answer.md")]
    found.append((FILE_LIST, "\n".join(files) or "(no files)", None))
    hidden: list[str] = []
    for name in files:
        try:
            found.append((f"outputs/{name}", read_text(outputs, name), f"outputs/{name}"))
        except Unreadable as reason:
            hidden.append(f"{name} ({reason})")
    if transcript is not None:
        found.append(("transcript", transcript, "transcript.md"))
    return Material(tuple(_cut(found)), tuple(hidden))


def _cut(found: Sequence[tuple[str, str, str | None]]) -> Iterator[Piece]:
    # The small ones are given room first, so that one large file never crowds out the others.
    order = sorted(range(len(found)), key=lambda index: len(found[index][1]))
    shown: dict[int, str] = {}
    left = TOTAL_LIMIT
    for index in order:
        shown[index] = _shorter(found[index][1], min(PIECE_LIMIT, left))
        left -= min(len(found[index][1]), len(shown[index]), left)
    for index, (name, text, file) in enumerate(found):
        yield Piece(name, text, shown[index] if text else "(empty)", file)


def _shorter(text: str, limit: int) -> str:
    """The beginning and the end, with a note of what is left out between."""
    if len(text) <= limit:
        return text
    head, tail = limit * 7 // 10, limit * 3 // 10
    end = text[len(text) - tail :] if tail else ""
    return f"{text[:head]}\n[… {len(text) - head - tail:,} characters are not shown here …]\n{end}"


def fence_for(*texts: str) -> str:
    """A line that stands in none of the texts; the same for the same texts."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()
    while any((fence := f"=== data {digest[:10]} ===") in text for text in texts):
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return fence
