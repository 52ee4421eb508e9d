"""Bytes of somebody's file to text: size, encoding and byte-order mark, with one message for each thing amiss."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import InputError, NotFoundError

__all__ = ["MAX_BYTES", "Source", "decode", "read_source"]

MAX_BYTES = 32_000_000
"""Nobody writes a larger one by hand; a larger one is a mistake or an attack."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Source:
    """A file as read."""

    path: Path
    data: bytes
    text: str
    """Decoded, without a byte-order mark; line ends as they were."""
    bom: bool

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def read_source(path: Path, *, what: str = "file") -> Source:
    """Read a text file.

    Args:
        path: the file.
        what: what it is, for the message when it is absent.

    Raises:
        NotFoundError: there is none.
        InputError: it can't be read, is too large, or is not UTF-8.
    """
    file = str(path)
    try:
        if not path.is_file():
            raise NotFoundError(f"there is no {what} here", file=file)
        if path.stat().st_size > MAX_BYTES:
            raise InputError("is too large to be read", file=file, expected=f"at most {MAX_BYTES // 10**6} MB")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"can't be read: {reason}", file=file) from error
    text, bom = decode(data, file)
    return Source(path, data, text, bom)


def decode(data: bytes, file: str) -> tuple[str, bool]:
    """UTF-8 text and whether a byte-order mark stood before it."""
    if data.startswith(_UTF16):
        raise InputError("is UTF-16", file=file, expected="UTF-8", hint="Save it again as UTF-8.")
    bom = data.startswith(b"\xef\xbb\xbf")
    try:
        return data[3 if bom else 0 :].decode("utf-8"), bom
    except UnicodeDecodeError as error:
        offset = error.start + (3 if bom else 0)
        line = data.count(b"\n", 0, offset) + 1
        found = f"byte 0x{data[offset]:02x}"
        raise InputError("is not UTF-8", file=file, line=line, found=found, hint="Save it again as UTF-8.") from error
