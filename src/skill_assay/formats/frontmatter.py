"""The frontmatter of a SKILL.md: where it begins and ends, and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from skill_assay.errors import InputError
from skill_assay.formats.yamltext import YamlText, parse_yaml

__all__ = ["Frontmatter", "read_frontmatter"]

_OPENER = re.compile(r"---[ \t]*\r?\n")
_CLOSER = re.compile(r"^---[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_LATER = re.compile(r"^---[ \t]*\r?\n(?=(?:name|description):)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A SKILL.md, taken apart: `text[:start]` + `yaml.text` + `text[end:body]` + `text[body:]`."""

    text: str
    yaml: YamlText
    start: int
    end: int
    body: int

    @property
    def values(self) -> dict[str, object]:
        """What it says; keys that YAML reads as something else than text are written as text."""
        return {str(key): value for key, value in self.yaml.value.items()}

    def span(self, key: str) -> tuple[int, int] | None:
        """Where the value of a top-level key stands, as offsets into `text`."""
        node = self.yaml.node
        assert isinstance(node, yaml.MappingNode)
        for name, value in node.value:
            if name.value == key:
                return self.start + value.start_mark.index, self.start + value.end_mark.index
        return None


def read_frontmatter(text: str, file: str) -> Frontmatter:
    """Take a SKILL.md (decoded, without byte-order mark) apart.

    Raises:
        InputError: there is none, it is not closed, is not YAML, or is not a mapping; with the line.
    """
    opener = _OPENER.match(text)
    if opener is None:
        raise _no_opener(text, file)
    closer = _CLOSER.search(text, opener.end())
    if closer is None:
        hint = 'Write a line "---" between the frontmatter and the body.'
        raise InputError("the frontmatter is not closed", file=file, line=1, hint=hint)
    parsed = parse_yaml(text[opener.end() : closer.start()], file, first_line=2)
    if not isinstance(parsed.value, dict):
        found = "nothing" if parsed.value is None else type(parsed.value).__name__
        expected = "name: … and description: …"
        raise InputError("the frontmatter is no mapping", file=file, line=2, found=found, expected=expected)
    return Frontmatter(text, parsed, opener.end(), closer.start(), closer.end())


def _no_opener(text: str, file: str) -> InputError:
    hint = 'Begin the file with a line "---", then name: and description:, then a line "---".'
    if not text.strip():
        return InputError("is empty", file=file, hint=hint)
    later = _LATER.search(text)
    if later:
        if not text[: later.start()].strip():
            hint = "Remove the blank lines before it."
        line = text.count("\n", 0, later.start()) + 1
        return InputError("the frontmatter does not begin on the first line", file=file, line=line, hint=hint)
    return InputError("there is no frontmatter", file=file, line=1, hint=hint)
