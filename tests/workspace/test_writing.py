from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest

from skill_assay.errors import IncompleteError, InputError
from skill_assay.workspace.writing import LineSink, Unredacted, Writer, utc_now


class Hider:
    def bytes(self, data: bytes) -> bytes:
        return data.replace(b'se"cret', b"[hidden]").replace(b"secret", b"[hidden]")

    def text(self, text: str) -> str:
        return text.replace('se"cret', "[hidden]").replace("secret", "[hidden]")


def test_fault_30_every_text_passes_the_redactor(tmp_path: Path) -> None:
    writer = Writer(Hider())
    writer.write_text(tmp_path / "a.md", "a secret")
    writer.write_bytes(tmp_path / "b", b"a secret")
    writer.write_file(tmp_path / "c.csv", b"a,secret\r\n")
    writer.write_file(tmp_path / "d.txt", "a secret".encode("utf-16"))
    writer.write_json(tmp_path / "e.json", {"secret": ['a se"cret']})
    with LineSink(tmp_path / "f.jsonl", tmp_path / "f.times", Hider()) as sink:
        sink.line(b"a secret", 0.5)
    for path in tmp_path.iterdir():
        assert b"secret" not in path.read_bytes().replace(b"\0", b"")
        assert b"cret" not in path.read_bytes().replace(b"\0", b"")
    assert json.loads((tmp_path / "e.json").read_text()) == {"[hidden]": ["a [hidden]"]}
    assert (tmp_path / "c.csv").read_bytes() == b"a,[hidden]\r\n"


def test_binary_files_are_kept_byte_for_byte(tmp_path: Path) -> None:
    data = b"\x89PNG\r\n\0\0secret"
    Writer(Hider()).write_file(tmp_path / "x.png", data)
    assert (tmp_path / "x.png").read_bytes() == data


def test_fault_14_no_nan_is_ever_written(tmp_path: Path) -> None:
    Writer().write_json(tmp_path / "x.json", {"a": float("nan"), "b": [float("inf")], "c": 1.5})
    assert json.loads((tmp_path / "x.json").read_text(), parse_constant=pytest.fail) == {
        "a": None,
        "b": [None],
        "c": 1.5,
    }


def test_lone_surrogates_do_not_stop_a_record(tmp_path: Path) -> None:
    Writer().write_json(tmp_path / "x.json", {"a": "\ud800"})
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == {"a": "?"}


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    Writer().write_json(path, 1)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(IncompleteError, match="disk is full"):
        Writer().write_json(path, 2)
    assert json.loads(path.read_text()) == 1
    assert [child.name for child in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_stream_on_a_full_disk_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to("/dev/full")
    sink = LineSink(tmp_path / "a.jsonl", tmp_path / "a.times", Unredacted())
    with pytest.raises(IncompleteError, match="disk is full"):
        sink.line(b"x" * 100_000, 0.0)


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be written"):
        Writer().write_text(tmp_path / "file" / "x", "y")


def test_a_sink_keeps_lines_as_they_came_and_their_times(tmp_path: Path) -> None:
    with LineSink(tmp_path / "a.jsonl", tmp_path / "a.times", Unredacted()) as sink:
        sink.line(b'{"a": 1}\r', 0.25)
        assert (tmp_path / "a.jsonl").read_bytes() == b'{"a": 1}\r\n', "visible at once"
        sink.line(b"\xff\xfe", 1.0)
    assert (tmp_path / "a.jsonl").read_bytes() == b'{"a": 1}\r\n\xff\xfe\n'
    assert (tmp_path / "a.times").read_text() == "0.250\n1.000\n"


@pytest.mark.parametrize(("timespec", "length"), [("seconds", 20), ("milliseconds", 24)])
def test_the_moment_is_utc_and_says_so(timespec: Literal["seconds", "milliseconds"], length: int) -> None:
    text = utc_now(timespec)
    assert len(text) == length and text.endswith("Z")
    assert abs(datetime.fromisoformat(text) - datetime.now(UTC)) < timedelta(hours=1)  # in no local time
