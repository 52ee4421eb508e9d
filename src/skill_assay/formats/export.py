"""What is written for other tools: files, and what of ours has no counterpart there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from skill_assay.model.prompt_classes import class_of
from skill_assay.model.triggers import Query, QuerySet

__all__ = ["Exported", "Loss", "codex_table", "eval_set", "quoted"]

_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that could not be written, or means something else there."""

    place: str
    """The eval, expectation or query."""
    reason: str


@dataclass(frozen=True, slots=True)
class Exported:
    """Everything to be written below one folder; places are relative to it and `/`-separated."""

    texts: Mapping[str, str]
    losses: tuple[Loss, ...] = ()
    copies: Mapping[str, Path] = field(default_factory=dict)
    """Files that are copied as they are, with where they lie now."""


def quoted(value: object) -> str:
    """A value as YAML that every reader takes alike: as JSON, with what YAML forbids escaped."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def codex_table(queries: QuerySet, name: str) -> Exported:
    """A table of prompts as OpenAI's guide for Codex has it, and a column for the class where a query has one."""
    classes = [class_of(query.tags) for query in queries.queries]
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["id", "should_trigger", "prompt", *(["class"] if any(classes) else [])])
    for query, named in zip(queries.queries, classes, strict=True):
        row = [query.id, "true" if query.should_trigger else "false", query.text]
        writer.writerow([*row, *([named or ""] if any(classes) else [])])
    plain = replace(queries, queries=tuple(_unclassed(query) for query in queries.queries))
    return Exported({f"{name}.prompts.csv": table.getvalue()}, _lost(plain, ()))


def _unclassed(query: Query) -> Query:
    return replace(query, tags=tuple(tag for tag in query.tags if tag != class_of(query.tags)))


def eval_set(queries: QuerySet) -> Exported:
    """The set that skill-creator's scripts for descriptions read: `[{"query", "should_trigger"}]`."""
    rows = [{"query": query.text, "should_trigger": query.should_trigger} for query in queries.queries]
    text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    return Exported({"eval_set.json": text}, _lost(queries, ("id",)))


def _lost(queries: QuerySet, also: tuple[str, ...]) -> tuple[Loss, ...]:
    return tuple(
        Loss(f"query {query.id}", f"{word} is not written")
        for query in queries.queries
        for word in _unsaid(query, also)
    )


def _unsaid(query: Query, also: tuple[str, ...]) -> list[str]:
    there = {
        "id": "id" in also and not query.id.isdigit(),
        "split": query.split,
        "expected_skill": query.expected_skill,
        "context": query.files or query.turns,
        "tags": query.tags,
    }
    return [word for word, said in there.items() if said]
