"""Where a check looks for text: the answer, the files, the transcript, or files by pattern; and what it found there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.graders.outputs import Unreadable, matching, place, read_text
from skill_assay.graders.words import listed, shortened
from skill_assay.model.grade import Evidence
from skill_assay.model.transcript import Event, Finished, Text, ToolCall, ToolResult
from skill_assay.model.work import Work

__all__ = ["DEFAULT_PLACES", "TOTAL_LIMIT", "Found", "Source", "gather", "input_text", "search", "texts"]

DEFAULT_PLACES = ("answer", "files")
TOTAL_LIMIT = 60_000_000
"""Characters looked into in all."""
SHOWN_HITS = 5
_SEPARATORS = ((", ", ": "), (",", ":"))
"""As Python writes JSON, and as JavaScript does: patterns are written for either."""


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to look into: a text at hand, or a file below `root`."""

    name: str
    text: str | None = None
    root: Path | None = None
    kept: bool = True
    """Whether the file is among the outputs; else the agent left it, and it was too large."""

    @property
    def label(self) -> str:
        """Its name in evidence."""
        return self.name if self.root else f"the {self.name.removesuffix('.md')}"

    def place(self, line: int | None = None) -> Evidence:
        """Its place in the run folder; a transcript's lines are not those of the file we write."""
        if self.root is not None:
            return place(self.name, line)
        return Evidence(self.name, line if self.name == "answer.md" else None)

    def read(self) -> str:
        """The whole text; `Unreadable` when it is none."""
        if not self.kept:
            raise Unreadable("is larger than what is kept")
        return self.text if self.text is not None else read_text(self.root or Path(), self.name)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    count: int
    hits: tuple[tuple[str, Evidence, str], ...] = ()
    """The first few: label, place, the line around it."""
    looked: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Each with the reason."""
    cut: bool = False
    """Whether something was too large to be looked into, so that "not found" can't be said."""

    @property
    def where(self) -> str:
        """What was looked at, for evidence."""
        skipped = f" Skipped: {listed(self.skipped)}." if self.skipped else ""
        return f"Looked at: {listed(self.looked) or 'nothing that is text'}.{skipped}"


def gather(work: Work, where: Sequence[str]) -> tuple[list[Source], str | None]:
    """The sources that `where` names; and, where something named is not there, which."""
    sources: dict[str, Source] = {}
    missing: str | None = None
    for name in where:
        if name == "answer":
            found = [Source("answer.md", work.answer)] if work.answer.strip() else []
        elif name == "transcript":
            found = [Source("transcript.md", transcript_text(work.events))] if work.events else []
        else:
            files = _named(work.files, name)
            found = [Source(file, root=work.outputs) for file in files]
            left = tuple(work.omitted)
            found += [Source(file, root=work.outputs, kept=False) for file in _named(left, name)]
        if not found and name not in DEFAULT_PLACES:
            missing = missing or name
        sources.update({f"{source.root}:{source.name}": source for source in found})
    return list(sources.values()), missing


def _named(files: Sequence[str], name: str) -> Sequence[str]:
    return files if name == "files" else matching(files, name)


def transcript_text(events: Sequence[Event]) -> str:
    """Everything said, called and given back, in order."""
    lines = [line for event in events if (line := _line(event)) is not None]
    answers = [event.answer for event in events if isinstance(event, Finished) and event.answer]
    return "\n".join([*lines, *(answer for answer in answers if answer not in lines)])


def _line(event: Event) -> str | None:
    match event:
        case Text(text=text) | ToolResult(text=text):
            return text
        case ToolCall(name=name, input=given):
            return f"{name}: " + "\n".join(leaves(given))
    return None


def input_text(given: Mapping[str, Any]) -> str:
    """A tool's input as text: each text in it as it stands, then the whole as JSON with blanks and without."""
    try:
        forms = [json.dumps(given, ensure_ascii=False, default=str, separators=pair) for pair in _SEPARATORS]
    except (ValueError, RecursionError):
        forms = []
    return "\n".join([*leaves(given), *forms])


def leaves(value: Any, depth: int = 20) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner, depth - 1)


def texts(sources: Sequence[Source], skipped: list[str]) -> Iterator[tuple[Source, str]]:
    """The sources that are text, within `TOTAL_LIMIT`; the others are noted in `skipped` with the reason."""
    left = TOTAL_LIMIT
    for source in sources:
        try:
            text = source.read()
        except Unreadable as reason:
            skipped.append(f"{source.label} ({reason})")
            continue
        if len(text) > left:
            skipped.append(f"{source.label} (is larger than what may still be looked into)")
            continue
        left -= len(text)
        yield source, text


def search(sources: Sequence[Source], pattern: re.Pattern[str]) -> Found:
    """Every place where the pattern matches. Runs in a worker process where the pattern is an author's."""
    skipped: list[str] = []
    looked: list[str] = []
    hits: list[tuple[str, Evidence, str]] = []
    count = 0
    for source, text in texts(sources, skipped):
        looked.append(source.label)
        for match in pattern.finditer(text):
            count += 1
            if len(hits) < SHOWN_HITS:
                hits.append(_hit(source, text, match))
    cut = any("larger than" in reason for reason in skipped)
    return Found(count, tuple(hits), tuple(looked), tuple(skipped), cut)


def _hit(source: Source, text: str, match: re.Match[str]) -> tuple[str, Evidence, str]:
    number = text.count("\n", 0, match.start()) + 1
    begin = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.start())
    begin = max(begin, match.start() - 40)
    line = text[begin : min(end if end >= 0 else len(text), begin + 200)]
    return f"{source.label}:{number}", source.place(number), shortened(line, 80)
