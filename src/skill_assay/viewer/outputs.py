"""What a run made, each file as its kind is best shown; what is too large is cut and stays a download."""

from __future__ import annotations

import base64
import csv
import difflib
import io
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from markupsafe import Markup

from skill_assay.viewer.files import Listed, Refused, list_files, read_bytes
from skill_assay.viewer.sheets import LARGEST, Sheet, Unreadable, read_book
from skill_assay.viewer.text import highlighted, markdown

__all__ = ["MEDIA_TYPES", "Caps", "Node", "Output", "Outputs", "diff_lines", "read_outputs"]

MEDIA_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "svg": "image/svg+xml",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
    "m4a": "audio/mp4",
    "flac": "audio/flac",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "mov": "video/quicktime",
    "pdf": "application/pdf",
}
"""Suffix → type, of what a browser shows by itself."""
_WORKBOOKS = {"xlsx", "xlsm"}
_HIDDEN = {"transcript.md", "user_notes.md", "metrics.json"}
"""Files in skill-creator's outputs that are about the run."""
_MOST_ROWS = 200
_MOST_COLUMNS = 50
_MOST_WORKBOOKS = 8
_MOST_LINES = 5_000
_MOST_DIFF_LINES = 2_000
_MOST_NODES = 1_000
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Caps:
    """How much is shown."""

    text_bytes: int = 200_000
    """Of one file."""
    files: int = 100
    """Of one run."""
    embed_bytes: int = 0
    """Of a picture, sound or film put into the page itself; 0 links to it."""
    transcript_chars: int = 20_000
    """Of one step."""
    diff_lines: int = 800
    """Of one file."""


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a JSON value."""

    key: str
    text: str = ""
    """Of a value that has no parts."""
    inner: Sequence[Node] = ()
    count: int = 0
    """Parts it has, shown or not."""


@dataclass(frozen=True, slots=True)
class Output:
    """One file."""

    name: str
    """Relative to the outputs, `/`-separated."""
    size: int
    kind: str
    """`text`, `markdown`, `table`, `workbook`, `json`, `html`, `image`, `audio`, `video`, `pdf`, `binary` or `refused`:
    how it is shown."""
    lines: Sequence[Markup] = ()
    rendered: Markup | None = None
    table: Sequence[Sequence[str]] = ()
    sheets: Sequence[Sheet] = ()
    tree: Sequence[Node] = ()
    source: str = ""
    """The text as it is, cut like the rest."""
    data_url: str | None = None
    cut: bool = False
    note: str = ""
    left_out: tuple[str, ...] = ()
    """Parts of it that are not shown, with the reason."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files of a run, and what was left out, with the reason."""

    files: tuple[Output, ...] = ()
    left_out: tuple[str, ...] = ()

    def named(self, name: str) -> Output | None:
        """The file of that name."""
        return next((one for one in self.files if one.name == name), None)


def read_outputs(folder: Path, caps: Caps) -> Outputs:
    """The files below `outputs/` of a run folder."""
    listing = list_files(folder / "outputs", caps.files)
    shown = [one for one in listing.files if one.name not in _HIDDEN and not _is_answer(folder, one)]
    # Reading a workbook takes long for what it shows, so a run full of them is not read whole.
    late = {one.name for one in [one for one in shown if _suffix(one) in _WORKBOOKS][_MOST_WORKBOOKS:]}
    files = [_read(folder / "outputs", one, caps, late) for one in shown]
    return Outputs(tuple(files), listing.left_out)


def _is_answer(folder: Path, listed: Listed) -> bool:
    """Whether it is the copy of the answer that stands in for files where an agent made none."""
    if listed.name != "answer.md":
        return False
    try:
        return read_bytes(folder, "answer.md", listed.size) == read_bytes(folder / "outputs", "answer.md", listed.size)
    except Refused:
        return False


def _suffix(listed: Listed) -> str:
    return PurePosixPath(listed.name).suffix.lstrip(".").lower()


def _read(root: Path, listed: Listed, caps: Caps, late: Collection[str]) -> Output:
    suffix = _suffix(listed)
    media = MEDIA_TYPES.get(suffix)
    try:
        if suffix in _WORKBOOKS:
            many = f"more than {_MOST_WORKBOOKS} workbooks here" if listed.name in late else ""
            return Output(listed.name, listed.size, "binary", note=many) if many else _workbook(root, listed, caps)
        if media:
            return _media(root, listed, media, caps)
        data, cut = read_bytes(root, listed.name, caps.text_bytes)
    except Refused as reason:
        return Output(listed.name, listed.size, "refused", note=str(reason))
    if b"\0" in data:
        return Output(listed.name, listed.size, "binary")
    return _text(listed, suffix, data.decode("utf-8-sig", "replace"), cut)


def _media(root: Path, listed: Listed, media: str, caps: Caps) -> Output:
    kind = "pdf" if media == "application/pdf" else media.partition("/")[0]
    if not caps.embed_bytes:
        return Output(listed.name, listed.size, kind)
    if listed.size > caps.embed_bytes:
        return Output(listed.name, listed.size, kind, note="too large to be put into this file")
    data, _ = read_bytes(root, listed.name, caps.embed_bytes)
    return Output(
        listed.name, listed.size, kind, data_url=f"data:{media};base64,{base64.b64encode(data).decode('ascii')}"
    )


def _workbook(root: Path, listed: Listed, caps: Caps) -> Output:
    data, more = read_bytes(root, listed.name, LARGEST)
    if more:
        return Output(listed.name, listed.size, "binary", note=f"more than {LARGEST // 1_000_000} MB")
    try:
        book = read_book(data, caps.text_bytes)
    except Unreadable as reason:
        return Output(listed.name, listed.size, "binary", note=str(reason))
    return Output(listed.name, listed.size, "workbook", sheets=book.sheets, left_out=book.left_out)


def _text(listed: Listed, suffix: str, text: str, cut: bool) -> Output:
    lines = highlighted(text, suffix)
    cut = cut or len(lines) > _MOST_LINES
    facts: dict[str, Any] = {"lines": lines[:_MOST_LINES], "source": text, "cut": cut}
    kind = "text"
    if suffix in ("md", "markdown"):
        kind, facts["rendered"] = "markdown", markdown(text)
    elif suffix in ("csv", "tsv"):
        kind, facts["table"] = "table", _table(text, "\t" if suffix == "tsv" else None)
    elif suffix == "json" and not cut:
        tree = _tree(text)
        kind, facts["tree"] = ("json" if tree else "text"), tree
    elif suffix in ("html", "htm"):
        kind = "html"
    return Output(listed.name, listed.size, kind, **facts)


def _table(text: str, delimiter: str | None) -> list[list[str]]:
    if delimiter is None:
        head = text.partition("\n")[0]
        delimiter = max(",;\t|", key=head.count)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            rows.append(row[:_MOST_COLUMNS])
            if len(rows) > _MOST_ROWS:
                break
    except csv.Error:
        pass
    return rows


def _tree(text: str) -> Sequence[Node]:
    """The parts of an object or a list; nothing for other texts and for values that are too deep to be shown."""
    try:
        value = json.loads(text)
        return _nodes(value, [_MOST_NODES]) if isinstance(value, (dict, list)) else ()
    except (ValueError, RecursionError):
        return ()


def _nodes(value: dict[str, Any] | list[Any], left: list[int], depth: int = 0) -> Sequence[Node]:
    """At most as many nodes as are left, all in all."""
    if depth > _DEEPEST:
        raise ValueError("too deep")
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, one in items:
        if left[0] <= 0:
            found.append(Node("…"))
            break
        left[0] -= 1
        if isinstance(one, (dict, list)) and one:
            found.append(Node(str(key), inner=_nodes(one, left, depth + 1), count=len(one)))
        else:
            found.append(Node(str(key), json.dumps(one, ensure_ascii=False)))
    return found


def diff_lines(before: str, after: str) -> list[tuple[str, str]]:
    """A unified diff: (`add`, `del`, `same` or `place`, line); empty when nothing differs or it is too long."""
    one, two = before.splitlines(), after.splitlines()
    if one == two or max(len(one), len(two)) > _MOST_DIFF_LINES:
        return []
    kinds = {"+": "add", "-": "del", "@": "place"}
    found = difflib.unified_diff(one, two, lineterm="", n=3)
    return [(kinds.get(line[:1], "same"), line) for place, line in enumerate(found) if place > 1]
