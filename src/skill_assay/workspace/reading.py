"""Reading JSON that anybody may have written, fast: the value, or the reason why there is none."""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = ["LARGEST", "Unreadable", "load"]

LARGEST = 50_000_000
"""Bytes above which a file is no record of a run."""


class Unreadable(Exception):
    """Why a file can't be used."""


def load(path: str) -> Any:
    """The JSON value of a file, with or without a byte order mark.

    Raises:
        Unreadable: with the reason.
    """
    try:
        data = _bytes(path)
    except OSError as error:
        raise Unreadable(f"can't be read: {error.strerror}") from error
    try:
        return json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except json.JSONDecodeError as error:
        raise Unreadable(f"does not parse: {error.msg}, line {error.lineno}") from error
    except (UnicodeError, RecursionError, ValueError) as error:
        raise Unreadable(f"does not parse: {type(error).__name__}") from error


def _bytes(path: str) -> bytes:
    """A file's content, without the buffering that costs more than a small file's reading."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        if os.fstat(descriptor).st_size > LARGEST:
            raise Unreadable(f"is larger than {LARGEST} bytes")
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
