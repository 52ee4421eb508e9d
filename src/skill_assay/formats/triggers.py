"""Trigger sets, JSON, CSV and YAML, in every dialect people write them in, to a `QuerySet`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from skill_assay.errors import AssayError, InputError, NotFoundError
from skill_assay.formats.classes import class_key, class_tags, derived_class, with_class
from skill_assay.formats.document import Document, parse_document
from skill_assay.formats.fields import Fields
from skill_assay.formats.notes import Notes, child, raise_first, shown
from skill_assay.formats.reading import read_source
from skill_assay.formats.skill import read_skill
from skill_assay.formats.sniff import Kind, sniff
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.findings import Finding, Severity
from skill_assay.model.prompt_classes import calls_by_name, class_of
from skill_assay.model.triggers import Query, QuerySet, Split

__all__ = ["LABEL_KEYS", "TEXT_KEYS", "Reading", "examine_queries", "find_queries", "load_queries", "read_queries"]

TEXT_KEYS = ("query", "prompt", "text")
"""Names for what the user says."""
LABEL_KEYS = ("should_trigger", "expect_trigger", "should_activate")
"""Names for whether the skill should be used."""

_LISTS = ("queries", "cases", "evals", "trigger_evals")
_PAIRED = {
    "should_trigger": True,
    "should_activate": True,
    "should_trigger_prompts": True,
    "should_not_trigger": False,
    "should_not_activate": False,
    "should_not_trigger_prompts": False,
}
_SKILL = ("expected_skill", "expect")
_SPLITS = {"train": "train", "test": "test", "fresh": "fresh", "validation": "test", "val": "test", "holdout": "test"}
_KNOWN = {*TEXT_KEYS, *LABEL_KEYS, *_SKILL, "id", "split", "context", "tags"}
_NOTES = ("rationale", "reason", "note", "notes", "comment", "route", "category")
_NOBODY = ("", "none", "null")
_EXPECTED = '[{"query": …, "should_trigger": true}, …]'


def find_queries(skill_root: Path) -> Path:
    """The skill's trigger set: `evals/triggers.json`, else the one file in `evals/` that is a trigger set.

    Raises:
        NotFoundError: there is none.
        InputError: there are several.
    """
    folder = skill_root / "evals"
    if (folder / "triggers.json").is_file():
        return folder / "triggers.json"
    files = [path for path in sorted(folder.glob("*")) if path.is_file() and sniff(path) is Kind.TRIGGERS]
    if not files:
        hint = f"assay init {skill_root}  writes a first evals/triggers.json to fill in."
        raise NotFoundError("there is no trigger set for this skill", file=str(folder / "triggers.json"), hint=hint)
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise InputError("there are several trigger sets", file=str(folder), found=names, hint="Name the one to use.")
    return files[0]


def load_queries(path: Path, *, skill_name: str | None = None) -> QuerySet:
    """Read a trigger set.

    Args:
        path: a JSON, CSV or YAML file.
        skill_name: the skill under test, needed where a set says which of several skills should fire; found from
            the file, else from the SKILL.md beside its folder.

    Raises:
        NotFoundError: there is no such file.
        InputError: the first of the errors, with its line.
    """
    queries, findings = examine_queries(path, skill_name=skill_name)
    raise_first(findings)
    return queries


def examine_queries(path: Path, *, skill_name: str | None = None) -> tuple[QuerySet, tuple[Finding, ...]]:
    """The queries as far as they can be understood, and everything that was noticed, errors included.

    Raises:
        InputError: the file can't be parsed at all.
    """
    queries = read_queries(path, skill_name=skill_name).queries
    return queries, queries.findings


@dataclass(frozen=True, slots=True)
class Reading:
    """A trigger set beside what its author wrote."""

    queries: QuerySet
    """Its findings may be errors."""
    raw: tuple[Mapping[str, Any], ...]
    """Of each query, under its author's names."""
    document: Document
    lists: frozenset[str]
    """Keys of the document that hold the queries; none where it is a list itself."""


def read_queries(path: Path, *, skill_name: str | None = None) -> Reading:
    """As `examine_queries`, for who writes the set again."""
    source = read_source(path, what="trigger set")
    document = parse_document(source)
    value = document.value
    notes = Notes(str(path), document.line)
    reader = _Reader(notes, skill_name or _named(value) or _beside(path))
    queries = _merge([query for query in reader.queries(value) if query], notes)
    if document.table:
        queries = _classified(queries, reader.skill_name)
    if not queries and not notes.failed:
        notes.error("no-queries", "there are no queries in this file", "$", expected=_EXPECTED)
    plain = tuple(query for query, _ in queries)
    raw = tuple(reader.raw[at] for _, at in queries)
    return Reading(QuerySet(plain, path, source.digest, notes.findings), raw, document, frozenset(reader.lists))


def _named(value: Any) -> str | None:
    name = value.get("skill_name") if isinstance(value, dict) else None
    return name if isinstance(name, str) and name.strip() else None


def _beside(path: Path) -> str | None:
    try:
        return read_skill(path.absolute().parent.parent).name
    except AssayError:
        return None


class _Reader:
    """Reads one file's queries; each comes with its place."""

    def __init__(self, notes: Notes, skill_name: str | None) -> None:
        self._notes, self.skill_name = notes, skill_name
        self.raw: dict[str, Mapping[str, Any]] = {}
        """What was written, by its place."""
        self.lists: set[str] = set()
        """Keys whose lists were read."""

    def queries(self, value: Any) -> list[tuple[Query, str] | None]:
        if isinstance(value, list):
            return [self._one(item, f"$[{index}]") for index, item in enumerate(value)]
        if not isinstance(value, dict):
            found = shown(value)
            self._notes.error("no-queries", "there are no queries in this file", "$", found=found, expected=_EXPECTED)
            return []
        paired = [key for key in value if key in _PAIRED and isinstance(value[key], list)]
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        self.lists.update(paired or ([key] if key else []))
        if paired:
            self._notes.info("paired-lists", f"read as labels: {', '.join(paired)}", child("$", paired[0]))
            return [self._one(item, at, _PAIRED[key]) for key in paired for item, at in _numbered(value, key)]
        if key is None:
            found = f"keys {', '.join(map(str, value))}"[:80]
            guess = next(
                (guess for guess in (did_you_mean(str(name), [*_LISTS, *_PAIRED]) for name in value) if guess), ""
            )
            more = {"found": found, "expected": _EXPECTED, "remedy": guess.strip()}
            self._notes.error("no-queries", "there are no queries in this file", "$", **more)
            return []
        return [self._one(item, at) for item, at in _numbered(value, key)]

    def _one(self, raw: Any, path: str, label: bool | None = None) -> tuple[Query, str] | None:
        if isinstance(raw, str) and label is not None:
            raw = {"query": raw}
        if not isinstance(raw, dict):
            found, expected = shown(raw), '{"query": …, "should_trigger": …}'
            self._notes.error("wrong-type", "the query can't be read", path, found=found, expected=expected)
            return None
        self.raw[path] = raw
        fields = Fields(raw, path, self._notes)
        key = fields.first(TEXT_KEYS)
        text = fields.text(key)
        if text is None and (key is None or not isinstance(raw[key], (int, float, list, dict))):
            where = fields.at(key) if key else path
            self._notes.error("empty-query", "the query has no text", where, remedy="Write what a user would say.")
        skill = self._skill(fields)
        label = self._label(fields, label, skill)
        self._warn_unknown(fields)
        if text is None or label is None:
            return None
        context = self._context(fields)
        query = Query(
            id=self._id(fields),
            text=text,
            should_trigger=label,
            split=self._split(fields),
            expected_skill=skill,
            files=context.texts("files") if context else (),
            turns=context.texts("turns") if context else (),
            tags=class_tags(fields, fields.texts("tags"), label),
        )
        return query, path

    def _label(self, fields: Fields, given: bool | None, skill: str | None) -> bool | None:
        key = fields.first(LABEL_KEYS)
        if key is not None:
            if fields.raw[key] is None:
                fields.wrong(key, "true or false, without quotes", "not-boolean")
            own = fields.flag(key)
            if given is not None and own is not None and own != given:
                fields.notes.error("two-labels", f"{key} says otherwise than its list", fields.at(key))
            return own if given is None else given
        if given is not None:
            return given
        named = fields.first(_SKILL)
        if named is None:
            expected = '"should_trigger": true or false'
            fields.notes.error("no-label", "the query has no label", fields.path, expected=expected)
            return None
        if skill is not None and self.skill_name is None:
            message = "the set says which skill should fire, but not which one is under test"
            remedy = 'Put the file into the skill\'s evals/, add "skill_name", or write should_trigger.'
            fields.notes.once("skill-unknown", message, fields.at(named), Severity.ERROR, remedy=remedy)
            return None
        return skill is not None and skill == self.skill_name

    def _skill(self, fields: Fields) -> str | None:
        name = fields.text(fields.first(_SKILL))
        return None if name is None or name.strip().lower() in _NOBODY else name.strip()

    def _id(self, fields: Fields) -> str:
        value = fields.raw.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None and not isinstance(value, str):
            fields.wrong("id", "a text or a whole number")
        return value.strip() if isinstance(value, str) else ""

    def _split(self, fields: Fields) -> Split | None:
        value = fields.raw.get("split")
        if value in (None, ""):
            return None
        split = _SPLITS.get(value.strip().lower()) if isinstance(value, str) else None
        if split is None:
            fields.wrong("split", "train, test or fresh")
        elif split != value:
            fields.notes.once("split-name", f"split {value} is read as {split}", fields.at("split"))
        return cast(Split | None, split)

    def _context(self, fields: Fields) -> Fields | None:
        raw = fields.raw.get("context")
        if raw is None or isinstance(raw, dict):
            return Fields(raw, fields.at("context"), self._notes) if raw else None
        fields.wrong("context", '{"files": [path], "turns": [text]}')
        return None

    def _warn_unknown(self, fields: Fields) -> None:
        known = {*_KNOWN, *_NOTES, class_key(fields)}
        for name in fields.raw:
            if name not in known and not str(name).startswith(("_", "$")):
                remedy = did_you_mean(str(name), _KNOWN) + "It has no effect."
                self._notes.once(
                    "unknown-key", f"{name} in a query means nothing here", fields.at(str(name)), remedy=remedy
                )


def _classified(queries: list[tuple[Query, str]], skill_name: str | None) -> list[tuple[Query, str]]:
    """A prompt set of Codex's form says some classes without a column for them; another table is left as it is."""
    names = (skill_name,)
    if not any(class_of(query.tags) or calls_by_name(query.text, names) for query, _ in queries):
        return queries
    return [(_with_derived(query, names), at) for query, at in queries]


def _with_derived(query: Query, names: tuple[str | None, ...]) -> Query:
    named = class_of(query.tags) or derived_class(query.text, query.should_trigger, names)
    return replace(query, tags=with_class(query.tags, named)) if named else query


def _numbered(value: dict[str, Any], key: str) -> list[tuple[Any, str]]:
    return [(item, f"{child('$', key)}[{index}]") for index, item in enumerate(value[key])]


def _merge(queries: list[tuple[Query, str]], notes: Notes) -> list[tuple[Query, str]]:
    """Twice the same query is once; with two labels it is an error. Then every query gets an id of its own."""
    first: dict[tuple[Any, ...], tuple[Query, str]] = {}
    for query, at in queries:
        key = (" ".join(query.text.split()), query.files, query.turns)
        twin, place = first.setdefault(key, (query, at))
        if twin is query:
            continue
        found = f"{place} and {at}"
        if twin.should_trigger != query.should_trigger:
            remedy = "Decide for one label."
            notes.error("conflicting-labels", "one query has two labels", at, found=found, remedy=remedy)
        else:
            notes.warn(
                "duplicate-query", "a query stands twice; it is read once", at, found=found, remedy="Remove one."
            )
    return _with_ids(list(first.values()), notes)


def _with_ids(queries: list[tuple[Query, str]], notes: Notes) -> list[tuple[Query, str]]:
    seen: dict[str, str] = {}
    for query, at in queries:
        if query.id and seen.setdefault(query.id, at) != at:
            found = f"{seen[query.id]} and {at}"
            notes.error(
                "duplicate-id", f"the id {query.id!r} stands twice", f"{at}.id", found=found, remedy="Rename one."
            )
    free = (str(number) for number in range(1, 2 * len(queries) + 1) if str(number) not in seen)
    return [(query if query.id else replace(query, id=next(free)), at) for query, at in queries]
