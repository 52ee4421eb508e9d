"""YAML read by a real parser, with what a parser alone does not refuse: duplicate keys, aliases without end, depth."""

from __future__ import annotations

from typing import Any

import yaml

from skill_assay.errors import InputError
from skill_assay.formats.notes import child

__all__ = ["YamlText", "parse_yaml"]

_MAX_NODES = 100_000
_MAX_DEPTH = 100


class YamlText:
    """A YAML text with its value, its nodes, and the line of every value."""

    def __init__(self, text: str, value: Any, node: yaml.Node | None, lines: dict[str, int]) -> None:
        self.text, self.value, self.node, self._lines = text, value, node, lines

    def line(self, path: str) -> int | None:
        """The line on which the value at `path` (or its nearest parent) begins."""
        while path not in self._lines and len(path) > 1:
            path = path[: max(path.rfind("."), path.rfind("["), 1)]
        return self._lines.get(path)


def parse_yaml(text: str, file: str, *, first_line: int = 1) -> YamlText:
    """The value of a YAML text.

    Args:
        text: the YAML, without fences.
        file: the name for messages.
        first_line: the line of the file on which the text begins.

    Raises:
        InputError: with the line.
    """
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        lines = _Survey(file, first_line).lines(node) if node is not None else {}
        value = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(
            f"is not YAML: {error.problem or error.context}",
            file=file,
            line=first_line + mark.line if mark else None,
            hint=_advice(str(error.problem)),
        ) from error
    except yaml.reader.ReaderError as error:
        line = first_line + text.count("\n", 0, error.position)
        raise InputError(
            f"is not YAML: character U+{ord(_one(error)):04X} is not allowed", file=file, line=line
        ) from error
    except (ValueError, TypeError, OverflowError, RecursionError, yaml.YAMLError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"can't be read as YAML: {reason}", file=file) from error
    return YamlText(text, value, node, lines)


def _one(error: yaml.reader.ReaderError) -> str:
    return error.character if isinstance(error.character, str) else chr(error.character)


def _advice(problem: str) -> str | None:
    if "mapping values are not allowed" in problem:
        return 'A text with ": " in it must stand in quotes, or in a block begun with ">-".'
    if "cannot start any token" in problem:
        return "A text that begins with @, ` or % or is indented by a tab must stand in quotes."
    if "expected <block end>" in problem:
        return "A quoted text ends before its line does, or the indentation differs; quote the whole text."
    return None


class _Survey:
    """Walks the nodes once: notes lines, refuses duplicates and endless structures before anything is built."""

    def __init__(self, file: str, first_line: int) -> None:
        self._file, self._first, self._seen = file, first_line, 0
        self._lines: dict[str, int] = {}

    def lines(self, node: yaml.Node) -> dict[str, int]:
        self._visit(node, "$", 0)
        return self._lines

    def _visit(self, node: yaml.Node, path: str, depth: int) -> None:
        line = self._first + node.start_mark.line
        self._lines.setdefault(path, line)
        self._seen += 1
        if depth > _MAX_DEPTH or self._seen > _MAX_NODES:
            raise InputError("can't be read as YAML: endless or nested too deeply", file=self._file, line=line)
        if isinstance(node, yaml.MappingNode):
            self._mapping(node, path, depth)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._visit(item, f"{path}[{index}]", depth + 1)

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> None:
        first_seen: dict[str, int] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            line = self._first + key.start_mark.line
            if not isinstance(key, yaml.ScalarNode):
                raise InputError("is not usable: a key must be plain text", file=self._file, line=line)
            if name in first_seen and key.tag != "tag:yaml.org,2002:merge":
                found = f"{name!r} on lines {first_seen[name]} and {line}"
                raise InputError(
                    "a key stands twice", file=self._file, line=line, found=found, hint="Keep one of them."
                )
            first_seen[name] = line
            below = child(path, name)
            self._lines[below] = line
            self._visit(value, below, depth + 1)
