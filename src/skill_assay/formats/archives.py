"""A stranger's zip archive, weighed by its directory before anything of it is unpacked."""

from __future__ import annotations

import io
import zipfile
import zlib

__all__ = ["ARCHIVE_FAULTS", "BadArchive", "weighed"]

ARCHIVE_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
)
"""What reading a damaged archive, or a part of it, may raise."""


class BadArchive(Exception):
    """It is no archive."""


def weighed(data: bytes) -> tuple[zipfile.ZipFile, int]:
    """The archive, and the bytes it says it would unpack to; a part never gives more than is said of it.

    Raises:
        BadArchive: it can't be opened.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except ARCHIVE_FAULTS as error:
        raise BadArchive(str(error)) from error
    return archive, sum(part.file_size for part in archive.infolist())
