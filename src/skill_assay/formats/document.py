"""A file of data by its ending: JSON, CSV or YAML, with the line of every value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skill_assay.formats.csvtext import csv_rows
from skill_assay.formats.jsontext import parse_json
from skill_assay.formats.reading import Source
from skill_assay.formats.yamltext import parse_yaml

__all__ = ["Document", "parse_document"]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file."""

    value: Any
    line: Callable[[str], int | None]
    """The line of a JSON path."""
    duplicates: tuple[str, ...] = ()
    """JSON paths of keys that stand twice."""
    table: bool = False
    """Whether the value is the rows of a table."""


def parse_document(source: Source) -> Document:
    """The value of a file.

    Raises:
        InputError: it can't be parsed; with its line.
    """
    file, ending = str(source.path), source.path.suffix.lower()
    if ending == ".csv":
        table = csv_rows(source.text, file)
        return Document(table.rows, table.line, table=True)
    if ending in (".yaml", ".yml"):
        tree = parse_yaml(source.text, file)
        return Document(tree.value, tree.line)
    parsed = parse_json(source.text, file)
    return Document(parsed.value, parsed.line, tuple(parsed.duplicates))
