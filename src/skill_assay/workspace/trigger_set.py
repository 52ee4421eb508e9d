"""A skill's trigger set as an editor changes it: entry by entry, with everything it does not know kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.notes import raise_first
from skill_assay.formats.skill import read_skill
from skill_assay.formats.triggers import LABEL_KEYS, TEXT_KEYS, find_queries, load_queries, read_queries
from skill_assay.model.triggers import Query
from skill_assay.workspace.laid_out import laid_out
from skill_assay.workspace.writing import Writer

__all__ = ["TriggerSet", "read_trigger_set", "save_trigger_set"]


@dataclass(frozen=True, slots=True)
class TriggerSet:
    """The set as it is on disk."""

    entries: tuple[Mapping[str, Any], ...]
    """Each with `query` and `should_trigger`, and whatever else its author wrote."""
    digest: str
    """Of the file, SHA-256; empty where there is none."""
    source: Path | None
    around: Mapping[str, Any] = field(default_factory=dict)
    """What its author wrote beside the list."""


def read_trigger_set(root: Path) -> TriggerSet:
    """The trigger set of the skill at `root`; empty where it has none.

    Raises:
        InputError: its file can't be understood, or there are several.
    """
    try:
        path = find_queries(root)
    except NotFoundError:
        return TriggerSet((), "", None)
    reading = read_queries(path)
    raise_first(reading.queries.findings)
    pairs = zip(reading.queries.queries, reading.raw, strict=True)
    # Of a table only the reading can be written as JSON: all its values are text.
    as_written = path.suffix.lower() == ".json"
    entries = tuple(_named(raw, query) if as_written else _entry(query) for query, raw in pairs)
    value = reading.document.value if as_written else {}
    beside = value.items() if isinstance(value, dict) else ()
    around = {name: one for name, one in beside if name not in reading.lists}
    return TriggerSet(entries, reading.queries.digest, path, around)


def _named(raw: Mapping[str, Any], query: Query) -> dict[str, Any]:
    """An entry under the canonical names of its two main facts."""
    rest = {key: value for key, value in raw.items() if key not in (*TEXT_KEYS, *LABEL_KEYS)}
    return {"query": query.text, "should_trigger": query.should_trigger, **rest}


def _entry(query: Query) -> dict[str, Any]:
    context = {"files": list(query.files), "turns": list(query.turns)}
    facts = {
        "id": query.id,
        "split": query.split,
        "expected_skill": query.expected_skill,
        "context": {key: value for key, value in context.items() if value},
        "tags": list(query.tags),
    }
    return {
        "query": query.text,
        "should_trigger": query.should_trigger,
        **{key: value for key, value in facts.items() if value},
    }


def save_trigger_set(root: Path, rows: Sequence[Mapping[str, Any]], digest: str) -> Path:
    """Write `evals/triggers.json` of the skill at `root`, all of it or nothing.

    Args:
        root: the skill.
        rows: `query` and `should_trigger` of each entry in order, and as `at` the place of the entry it was, from 0;
            what that one holds besides is kept.
        digest: of the set these rows were made from.

    Returns:
        The file.

    Raises:
        InputError: the set changed on the disk meanwhile, or what would be written is no trigger set.
    """
    before = read_trigger_set(root)
    if before.digest != digest:
        raise InputError(
            "the trigger set changed on the disk since it was loaded, so nothing was written",
            file=str(before.source or root / "evals"),
            hint="Load the page anew; what you changed is kept in the browser.",
        )
    entries = [_changed(row, before.entries) for row in rows]
    value = {**before.around, "queries": entries} if before.around else entries
    data = (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")
    _refuse_invalid(data, read_skill(root).name)
    target = root / "evals" / "triggers.json"
    if target.resolve() != root.resolve() / "evals" / "triggers.json":
        raise InputError("lies behind a link, so it is not written", file=str(target))
    Writer().write_verbatim(target, data)
    return target


def _changed(row: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    query, wanted, at = row.get("query"), row.get("should_trigger"), row.get("at")
    if not isinstance(query, str) or not isinstance(wanted, bool):
        raise InputError("an entry has no query, or no label", found=str(dict(row))[:80])
    known = isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(entries)
    kept = dict(entries[at]) if known and at is not None else {}
    if kept.get("should_trigger") is not wanted:
        # It named the skill that was to fire under the old label.
        kept.pop("expected_skill", None)
        kept.pop("expect", None)
    untouched = "query" in kept and _as_in_a_field(kept["query"]) == query.strip()
    return {**kept, "query": kept["query"] if untouched else query.strip(), "should_trigger": wanted}


def _as_in_a_field(text: str) -> str:
    """How a browser hands back a text that nobody touched."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _refuse_invalid(data: bytes, skill_name: str) -> None:
    with laid_out("evals", {"triggers.json": data}) as folder:
        try:
            load_queries(folder / "triggers.json", skill_name=skill_name)
        except InputError as error:
            raise InputError(f"this is no trigger set: {error.message}", found=error.found, hint=error.hint) from error
