"""Pictures among a trial's outputs, as a model takes them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from skill_assay.graders.outputs import Unreadable, read_bytes
from skill_assay.model.attached import Picture

__all__ = ["MOST_BYTES", "MOST_PICTURES", "is_picture", "read_picture"]

MOST_PICTURES = 8
"""Shown in one question."""
MOST_BYTES = 3_500_000
"""Of one picture; the APIs refuse more."""

_ENDINGS = frozenset({".gif", ".jpeg", ".jpg", ".png", ".webp"})


def is_picture(name: str) -> bool:
    """Whether a file is called like a picture that models take."""
    return PurePosixPath(name).suffix.lower() in _ENDINGS


def read_picture(outputs: Path, name: str) -> Picture:
    """The picture `name` below `outputs`, its type told by its content.

    Raises:
        Unreadable: it can't be shown; the message says why, in words that follow its name.
    """
    data = read_bytes(outputs, name)
    if len(data) > MOST_BYTES:
        raise Unreadable(f"is a picture larger than {MOST_BYTES / 1e6:g} MB")
    media_type = _media_type(data)
    if media_type is None:
        raise Unreadable("is called a picture and is none that can be shown")
    return Picture(f"outputs/{name}", media_type, data)


def _media_type(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
