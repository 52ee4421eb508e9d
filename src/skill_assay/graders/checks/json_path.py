"""`json_path`: fields of a JSON file, found by RFC 9535 paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.absent import absent
from skill_assay.graders.checks.arguments import ABSENT, BadArgument, argument, read_arguments
from skill_assay.graders.checks.readers import (
    Root,
    anything,
    choice,
    flag,
    glob,
    json_query,
    list_of,
    number,
    regex,
    whole,
)
from skill_assay.graders.checks.verdict import Answer, Verdict, broken, nothing, said
from skill_assay.graders.json_text import NotJson, json_equal, json_type, parse_json
from skill_assay.graders.outputs import Unreadable, matching, place, read_text
from skill_assay.graders.words import listed, shown
from skill_assay.model.work import Work

__all__ = ["Field", "JsonPath"]

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


@dataclass(frozen=True)
class Field:
    """A path, and what every value it selects must be; at least one value must be selected."""

    path: str = argument(json_query)
    file: str | None = argument(glob, default=None)
    equals: Any = argument(anything, default=ABSENT)
    matches: str | None = argument(regex, default=None)
    exists: bool | None = argument(flag, default=None)
    count: int | None = argument(whole, default=None)
    min: float | None = argument(number, default=None)
    max: float | None = argument(number, default=None)
    type: str | None = argument(choice(*TYPES), default=None)

    def __post_init__(self) -> None:
        if self.exists is False and any(self.conditions[name] for name in self.conditions if name != "exists"):
            raise BadArgument("what is not there can't be anything else besides", at=".exists")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise BadArgument(f"no number is at least {shown(self.min)} and at most {shown(self.max)}")

    @property
    def conditions(self) -> dict[str, bool]:
        """Which conditions were given, by name."""
        names = ("equals", "matches", "exists", "count", "min", "max", "type")
        return {name: getattr(self, name) not in (None, ABSENT) or _is_null(self, name) for name in names}

    def look(self, document: Any) -> Verdict:
        """The verdict on one document."""
        import jsonpath

        values = jsonpath.compile(self.path, strict=True).findall(document)
        if self.exists is False or not any(self.conditions.values()):
            return said(bool(values) is not (self.exists is False), self._there(values))
        if self.count is not None and len(values) != self.count:
            return said(False, f"{self.path} selects {len(values):,} values, expected {self.count:,}")
        if not values:
            return said(self.count == 0, self._there(values)) if self._counts() else nothing(self._there(values))
        wrong = [value for value in values if not self._fits(value)]
        if wrong:
            return said(False, f"{self.path} is {listed(map(shown, wrong), 3)}, expected {self._wanted()}")
        return said(True, self._there(values))

    def _counts(self) -> bool:
        return self.count is not None or self.exists is not None

    def _there(self, values: list[Any]) -> str:
        return f"{self.path} = {listed(map(shown, values), 3)}" if values else f"{self.path} is not there"

    def _fits(self, value: Any) -> bool:
        if self.equals is not ABSENT and not json_equal(value, self.equals):
            return False
        if self.matches is not None and not (isinstance(value, str) and re.search(self.matches, value)):
            return False
        if self.type is not None and self.type not in (json_type(value), *_wider(value)):
            return False
        return _within(value, self.min, self.max)

    def _wanted(self) -> str:
        words = [
            *([shown(self.equals)] if self.equals is not ABSENT else []),
            *([f"a text that matches /{self.matches}/"] if self.matches else []),
            *([f"a value of type {self.type}"] if self.type else []),
            *([f"at least {shown(self.min)}"] if self.min is not None else []),
            *([f"at most {shown(self.max)}"] if self.max is not None else []),
        ]
        return " and ".join(words)


def _is_null(field: Field, name: str) -> bool:
    return name == "equals" and field.equals is None


def _wider(value: Any) -> tuple[str, ...]:
    return ("number",) if json_type(value) == "integer" else ()


def _within(value: Any, least: float | None, most: float | None) -> bool:
    if least is None and most is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (least is None or value >= least) and (most is None or value <= most)


def field_reader(value: Any, root: Root) -> Field:
    """One field of a list: a path with what it must be; a path alone must be there."""
    return read_arguments(Field, {"path": value} if isinstance(value, str) else value, root)


@dataclass(frozen=True)
class JsonPath(Field):
    """Some JSON file that matches the pattern has all these fields."""

    kind: ClassVar = "json_path"
    path: str = argument(json_query, default="")
    fields: tuple[Field, ...] = argument(list_of(field_reader), default=())

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.fields):
            raise BadArgument("exactly one of 'path' and 'fields' is needed")
        if self.fields and any(self.conditions.values()):
            raise BadArgument("with 'fields', what is expected stands inside each of them")
        super().__post_init__()

    async def decide(self, work: Work) -> Verdict:
        """Yes when for every file pattern one file has all the fields asked of it."""
        groups: dict[str, list[Field]] = {}
        for field in self.fields or (self,):
            groups.setdefault(field.file or self.file or "*.json", []).append(field)
        verdicts = []
        for pattern, fields in groups.items():
            files = matching(work.files, pattern)
            if not files:
                return absent(work, pattern)
            verdicts.append(await bounded(look_into, work.outputs, files, [_plain(field) for field in fields]))
        return _together(verdicts)


def _plain(field: Field) -> Field:
    """The field alone, so that nothing else is sent to a worker."""
    return Field(**{name: getattr(field, name) for name in ("path", "file", *field.conditions)})


def look_into(root: Path, files: tuple[str, ...], fields: list[Field]) -> Verdict:
    """The verdict on the file that fits best."""
    best, best_score = nothing("no file could be read"), -1
    for name in files:
        score, verdict = _look_at(root, name, fields)
        if score > best_score:
            best, best_score = verdict, score
    return best


def _look_at(root: Path, name: str, fields: list[Field]) -> tuple[int, Verdict]:
    try:
        document = _document(root, name)
    except (Unreadable, NotJson) as reason:
        return 0, nothing(f"{name} {reason}.")
    try:
        verdicts = [field.look(document) for field in fields]
    except RecursionError:
        return 0, broken(f"{name} nests too deeply to be searched.")
    wrong = [verdict for verdict in verdicts if verdict.answer is not Answer.YES]
    answer = min((verdict.answer for verdict in verdicts), key=_STRENGTH.index)
    shown_ones = "; ".join(verdict.evidence for verdict in wrong or verdicts)
    return 1 + len(fields) - len(wrong), Verdict(answer, f"{name}: {shown_ones}.", (place(name),))


_STRENGTH = [Answer.NOTHING, Answer.NO, Answer.BROKEN, Answer.YES]
"""Of several that must all hold, the answer that decides for all."""


def _together(verdicts: list[Verdict]) -> Verdict:
    answer = min((verdict.answer for verdict in verdicts), key=_STRENGTH.index)
    chosen = [verdict for verdict in verdicts if verdict.answer is answer]
    places = tuple(place for verdict in chosen for place in verdict.places)
    return Verdict(answer, " ".join(verdict.evidence for verdict in chosen), places[:10])


def _document(root: Path, name: str) -> Any:
    text = read_text(root, name)
    if name.endswith((".jsonl", ".ndjson")):
        return [parse_json(line) for line in text.splitlines() if line.strip()]
    return parse_json(text)
