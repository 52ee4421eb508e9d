"""Pieces of a change: any of them can be taken alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skill_assay.formats.hunks import hunks_between, with_hunks

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"d", b"\n", b"e\r"]), max_size=12).map(b"".join)


@given(LINES, LINES)
def test_all_pieces_make_the_new_file_and_none_the_old(old: bytes, new: bytes) -> None:
    every = range(len(hunks_between(old, new)))
    assert with_hunks(old, new, every) == new
    assert with_hunks(old, new, []) == (new if old == new else old)


@given(LINES, LINES, st.data())
def test_what_is_taken_first_changes_nothing_of_the_rest(old: bytes, new: bytes, data: st.DataObject) -> None:
    count = len(hunks_between(old, new))
    taken = data.draw(st.sets(st.integers(0, count - 1))) if count else set()
    made = with_hunks(old, new, taken)
    assert made is not None
    left = [line for hunk in hunks_between(old, new) for line in hunk.old]
    kept = [
        line
        for index, hunk in enumerate(hunks_between(old, new))
        for line in (hunk.new if index in taken else hunk.old)
    ]
    assert len(made) == len(old) - sum(map(len, left)) + sum(map(len, kept))


def test_a_piece_stands_between_its_context() -> None:
    old = b"".join(b"%d\n" % number for number in range(9))
    [hunk] = hunks_between(old, old.replace(b"4\n", b"four\n"))
    assert (hunk.start, hunk.old, hunk.new) == (4, (b"4\n",), (b"four\n",))
    assert hunk.before == (b"1\n", b"2\n", b"3\n") and hunk.after == (b"5\n", b"6\n", b"7\n")


def test_a_new_file_and_one_that_is_no_text_are_one_piece() -> None:
    assert with_hunks(None, b"new\n", []) is None and with_hunks(None, b"new\n", [0]) == b"new\n"
    assert len(hunks_between(b"\0a\nb\n", b"\0x\nb\ny\n")) == 1
    assert with_hunks(b"\0a\n", b"\0b\n", []) == b"\0a\n"
