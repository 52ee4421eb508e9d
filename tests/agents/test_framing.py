"""Lines out of bytes in any chunking, in bounded memory."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from skill_assay.agents.framing import LineFramer


def frame(chunks: list[bytes], max_line: int = 1000) -> tuple[list[bytes], int]:
    framer = LineFramer(max_line)
    lines = [line for chunk in chunks for line in framer.feed(chunk)] + framer.end()
    return lines, framer.overlong


def reference(data: bytes, max_line: int) -> tuple[list[bytes], int]:
    """The plain definition, on the whole stream at once."""
    *complete, rest = data.split(b"\n")
    lines = [line.removesuffix(b"\r") for line in complete + ([rest] if rest else [])]
    return [line[:max_line] for line in lines], sum(len(line) > max_line for line in lines)


pieces = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"{}", "é\u2028".encode(), b"\0", b"\x0b"]))


@given(pieces, st.lists(st.integers(0, 40)), st.integers(1, 8))
def test_chunk_boundaries_change_nothing(parts: list[bytes], cuts: list[int], max_line: int) -> None:
    data = b"".join(parts)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[start:end] for start, end in itertools.pairwise(edges)]
    assert frame(chunks, max_line) == reference(data, max_line)


def test_only_newlines_end_a_line() -> None:
    assert frame(["a\u2028b\x0bc\x85d\n".encode()])[0] == ["a\u2028b\x0bc\x85d".encode()]


def test_the_last_line_needs_no_newline() -> None:
    assert frame([b"one\r\n\r\ntw", b"o"])[0] == [b"one", b"", b"two"]


def test_a_line_too_long_is_cut_and_counted_and_the_next_is_whole() -> None:
    assert frame([b"x" * 7, b"y" * 7, b"\nnext\n"], max_line=10) == ([b"x" * 7 + b"yyy", b"next"], 1)


def test_memory_is_bounded_by_the_longest_line_kept() -> None:
    framer = LineFramer(1000)
    for _ in range(1000):
        framer.feed(b"x" * 1000)
    assert sum(map(len, framer._parts)) <= 1001
    assert framer.feed(b"\nok\n") == [b"x" * 1000, b"ok"]
