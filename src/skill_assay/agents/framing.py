"""Bytes in any chunking → lines, in bounded memory. Knows nothing of what the lines mean."""

from __future__ import annotations

__all__ = ["MAX_LINE", "LineFramer"]

MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line that are kept: twice what the largest request of a known API may hold."""


class LineFramer:
    """Cuts a stream at newlines, whatever the chunks it comes in.

    Lines come without their `\\n` or `\\r\\n`. A line longer than `max_line` is cut to its first `max_line` bytes and
    counted in `overlong`; what follows up to its newline is dropped, so memory stays bounded.
    """

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self.overlong = 0
        """Lines that were cut so far."""
        self._max = max_line
        self._parts: list[bytes] = []
        self._kept = 0
        self._length = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes."""
        *complete, rest = chunk.split(b"\n")
        if not complete:
            self._keep(rest)
            return []
        self._keep(complete[0])
        lines = [self._take(), *map(self._whole, complete[1:])]
        self._keep(rest)
        return lines

    def end(self) -> list[bytes]:
        """The last line, if the stream ended without a newline."""
        return [self._take()] if self._length else []

    def _keep(self, part: bytes) -> None:
        # One byte more than the limit, because it may be the carriage return of a line that just fits.
        room = self._max + 1 - self._kept
        self._length += len(part)
        if part and room > 0:
            kept = part[:room]
            self._parts.append(kept)
            self._kept += len(kept)

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        length = self._length
        self._parts, self._kept, self._length = [], 0, 0
        return self._cut(line, length)

    def _whole(self, line: bytes) -> bytes:
        return self._cut(line, len(line))

    def _cut(self, line: bytes, length: int) -> bytes:
        if length <= self._max + 1 and line.endswith(b"\r"):
            return line[:-1]
        if length <= self._max:
            return line
        self.overlong += 1
        return line[: self._max]
