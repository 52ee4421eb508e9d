"""The one write path: atomic, redacted, and with a plain word when the disk does not take it."""

from __future__ import annotations

import codecs
import errno
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Protocol

from skill_assay.errors import AssayError, IncompleteError, InputError

__all__ = [
    "LineSink",
    "Redactor",
    "Unredacted",
    "Writer",
    "disk_errors",
    "explained",
    "folder_of_now",
    "is_binary",
    "utc_now",
]


class Redactor(Protocol):
    """Replaces secrets before the first byte is written."""

    def bytes(self, data: bytes) -> bytes:
        """The same, secrets replaced; the data is text in some encoding that extends ASCII."""
        ...

    def text(self, text: str) -> str:
        """The same, secrets replaced."""
        ...


@dataclass(frozen=True, slots=True)
class Unredacted:
    """Replaces nothing (`--keep-secrets`, and tests of other things)."""

    def bytes(self, data: bytes) -> bytes:
        return data

    def text(self, text: str) -> str:
        return text


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns what the operating system says into a message with a remedy."""
    try:
        yield
    except OSError as error:
        raise explained(error, path) from error


def explained(error: OSError, path: Path) -> AssayError:
    """What the operating system says, with a remedy."""
    if error.errno in _FULL:
        return IncompleteError(
            f"The disk is full: {path} could not be written. What was written before is kept.",
            hint="Free some space and try again; a run goes on with  assay run SKILL --resume",
        )
    if error.errno in _DENIED:
        return InputError(
            "can't be written",
            file=str(path),
            found=error.strerror or "no permission",
            hint="Choose another place (for results: --workspace FOLDER), or change the folder's permissions.",
        )
    return InputError("can't be written", file=str(path), found=error.strerror or str(error))


def utc_now(timespec: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """The moment as files name it: UTC, ISO 8601, `Z` at its end."""
    return datetime.now(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def folder_of_now(parent: Path) -> Path:
    """A new folder named by the moment (UTC), made for this caller alone even when two ask at once."""
    stamp, number = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ"), 1
    while True:
        path = parent / (stamp if number == 1 else f"{stamp}-{number}")
        with disk_errors(path):
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                number += 1
            else:
                return path


def is_binary(data: bytes) -> bool:
    """Whether data is something else than text: it has a NUL byte (and is not UTF-16 or UTF-32 with a mark)."""
    return b"\0" in data and _utf16_or_32(data) is None


def _utf16_or_32(data: bytes) -> str | None:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    return "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else None


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes files of a workspace. Everything that is text passes the redactor; nothing is ever half written.

    A file is on the disk when the call returns, but for one written with `sync=False`: what can be derived again from
    synced files need not wait for the disk, of which a trial has many.
    """

    redactor: Redactor = field(default_factory=Unredacted)

    def write_text(self, path: Path, text: str, *, sync: bool = True) -> None:
        """Write text as UTF-8 with LF line ends as given; lone surrogates become `?`."""
        self.write_verbatim(path, self.redactor.text(text).encode("utf-8", "replace"), sync=sync)

    def write_bytes(self, path: Path, data: bytes) -> None:
        """Write bytes that are text in some encoding."""
        self.write_verbatim(path, self.redactor.bytes(data))

    def write_json(self, path: Path, value: Any, *, sync: bool = True) -> None:
        """Write JSON, redacted string by string so that escapes hide no secret; a number that is none becomes null."""
        text = json.dumps(self._clean(value), ensure_ascii=False, indent=2, allow_nan=False)
        self.write_verbatim(path, (text + "\n").encode("utf-8", "replace"), sync=sync)

    def write_file(self, path: Path, data: bytes) -> None:
        """Write a file an agent made: redacted when it is text, byte for byte when it is not."""
        encoding = _utf16_or_32(data)
        if encoding is not None:
            try:
                data = self.redactor.text(data.decode(encoding)).encode(encoding)
            except UnicodeError:
                pass
        elif not is_binary(data):
            data = self.redactor.bytes(data)
        self.write_verbatim(path, data)

    def write_verbatim(self, path: Path, data: bytes, *, sync: bool = True) -> None:
        """Write bytes as they are: to a temporary neighbour, synced, then renamed. Only for what can hold no secret."""
        # A name of its own, for that of the file may already be as long as names can be.
        temporary = path.with_name(f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.{os.getpid()}.tmp")
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("wb") as file:
                    file.write(data)
                    if sync:
                        file.flush()
                        os.fsync(file.fileno())
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise

    def line(self, value: Mapping[str, Any]) -> bytes:
        """One line of JSON, redacted, newline included."""
        text = json.dumps(self._clean(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return (text + "\n").encode("utf-8", "replace")

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.redactor.text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Mapping):
            return {self.redactor.text(str(key)): self._clean(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._clean(item) for item in value]
        return value


class LineSink:
    """An attempt's own output, line by line as it comes, and beside it the moment each line came.

    The lines stay as they were (redacted); the times lie in a file of their own, so that the output can be given
    to other tools unchanged.
    """

    def __init__(self, path: Path, times: Path, redactor: Redactor) -> None:
        self._path, self._redactor = path, redactor
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lines: BinaryIO = path.open("wb")
            self._times: BinaryIO = times.open("wb")

    def line(self, line: bytes, seconds: float) -> None:
        """Add a line.

        Args:
            line: without its newline.
            seconds: since the launch.
        """
        with disk_errors(self._path):
            self._lines.write(self._redactor.bytes(line) + b"\n")
            self._times.write(b"%.3f\n" % seconds)
            self._lines.flush()

    def close(self) -> None:
        """Sync both files; may be called twice."""
        with disk_errors(self._path):
            for file in (self._lines, self._times):
                if not file.closed:
                    file.flush()
                    os.fsync(file.fileno())
                    file.close()

    def __enter__(self) -> LineSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
