"""`contains`, `matches`: text in the answer, the files or the transcript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import anyio.to_thread

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import Root, flag, glob, list_of, regex, regex_flags, text, whole
from skill_assay.graders.checks.verdict import Verdict, nothing, said, unknown
from skill_assay.graders.outputs import seen
from skill_assay.graders.texts import DEFAULT_PLACES, Found, Source, gather, search
from skill_assay.graders.words import counted, quoted, shortened
from skill_assay.model.work import Work

__all__ = ["Contains", "Matches", "places_reader", "sources_or_nothing"]


def places_reader(value: Any, root: Root) -> tuple[str, ...]:
    """`answer`, `files`, `transcript` or a pattern; or several of them."""
    places: tuple[str, ...] = list_of(glob, single=True)(value, root)
    return places


def count_reader(value: Any, root: Root) -> int:
    """A whole number from 1: "at least none" would hold of anything."""
    count = whole(value, root)
    if count == 0:
        raise BadArgument("at least 0 holds of anything", expected="a whole number from 1")
    return count


def sources_or_nothing(work: Work, where: Sequence[str]) -> tuple[list[Source], Verdict | None]:
    """What to look into, or the verdict that there is nothing."""
    sources, missing = gather(work, where)
    if missing == "transcript":
        return sources, unknown("The transcript holds no events.")
    if missing:
        return sources, nothing(f"No file matches {missing}. {seen(work.files)}")
    if not sources:
        return sources, nothing("There is nothing to look into: " + _nothing_in(where))
    return sources, None


def _nothing_in(where: Sequence[str]) -> str:
    words = {"answer": "the agent gave no answer", "files": "it left no files"}
    return " and ".join(words[name] for name in where if name in words) + "."


@dataclass(frozen=True)
class Contains:
    """The text occurs, letter by letter."""

    kind: ClassVar = "contains"
    text: str = argument(text)
    where: tuple[str, ...] = argument(places_reader, name="in", default=DEFAULT_PLACES)
    min_count: int = argument(count_reader, default=1)
    ignore_case: bool = argument(flag, default=False)

    async def decide(self, work: Work) -> Verdict:
        """Yes when it occurs often enough, all places together."""
        sources, verdict = sources_or_nothing(work, self.where)
        if verdict:
            return verdict
        pattern = re.compile(re.escape(self.text), re.IGNORECASE if self.ignore_case else 0)
        # A literal can't backtrack, so a thread will do.
        found = await anyio.to_thread.run_sync(search, sources, pattern)
        return counted_verdict(quoted(self.text), found, self.min_count)


@dataclass(frozen=True)
class Matches:
    """A regular expression matches somewhere."""

    kind: ClassVar = "matches"
    pattern: str = argument(regex)
    flags: int = argument(regex_flags, default=0)
    where: tuple[str, ...] = argument(places_reader, name="in", default=DEFAULT_PLACES)
    min_count: int = argument(count_reader, default=1)
    ignore_case: bool = argument(flag, default=False)

    async def decide(self, work: Work) -> Verdict:
        """Yes when it matches often enough, all places together."""
        sources, verdict = sources_or_nothing(work, self.where)
        if verdict:
            return verdict
        pattern = re.compile(self.pattern, self.flags | (re.IGNORECASE if self.ignore_case else 0))
        found = await bounded(search, sources, pattern)
        return counted_verdict(f"/{shortened(self.pattern, 80)}/", found, self.min_count)


def counted_verdict(what: str, found: Found, wanted: int) -> Verdict:
    """The verdict on a search: often enough, too rare, or not to be told."""
    if not found.looked and not found.cut:
        return nothing(f"None of it is text. {found.where}")
    hits = "; ".join(f"{label} {quoted(line)}" for label, _, line in found.hits)
    more = f" … and {found.count - len(found.hits):,} more" if found.count > len(found.hits) else ""
    places = tuple(place for _, place, _ in found.hits)
    times = f"{counted(found.count, 'time')}{f' of {wanted:,} wanted' if wanted > 1 else ''}"
    if found.count >= wanted:
        return said(True, f"{what} found {times}: {hits}{more}.", places)
    if found.cut:
        return unknown(f"{what} found {times}, but not everything could be looked into. {found.where}")
    if found.count:
        return said(False, f"{what} found only {times}: {hits}{more}. {found.where}", places)
    return said(False, f"{what} was not found. {found.where}")
