"""One case of a suite of `claude plugin eval`: prompt.md over case.yaml, with its graders, as an eval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError
from skill_assay.formats.fields import Fields
from skill_assay.formats.frontmatter import read_frontmatter
from skill_assay.formats.notes import Notes, shown
from skill_assay.formats.plugin_suite_graders import read_grader
from skill_assay.formats.plugin_suite_setup import CaseSetup, read_setup
from skill_assay.formats.reading import Source, read_source
from skill_assay.formats.yamltext import parse_yaml
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.findings import Finding, Severity

__all__ = ["Case", "read_case"]

_TOP = ("schema_version", "name", "description", "tags", "plugins", "runs", "expected_outcome")
_RUN = (
    "model",
    "max_turns",
    "timeout_seconds",
    "allowed_tools",
    "disallowed_tools",
    "artifact_publish",
    "growthbook_overrides",
    "append_system_prompt",
    "env",
)
_OPTIONS = {"runs": "--trials", "model": "--model", "max_turns": "--max-turns", "allowed_tools": "--allow"}
"""What is a setting of the whole run here."""
_NOWHERE = ("plugins", "disallowed_tools", "artifact_publish", "growthbook_overrides", "append_system_prompt", "env")
_MOST_BYTES = 1_048_576
_MOST_GRADERS = 256
_OPENS = re.compile(r"---[ \t]*\r?\n")
_EMPTY = re.compile(r"---[ \t]*\r?\n\s*---[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class Case:
    """What became of one folder."""

    eval: Eval | None
    findings: tuple[Finding, ...]
    read: tuple[Path, ...]
    """The files that were read, in the order they were."""


class _Reader:
    """Reads one folder; what is wrong with a file is noted, and the others are read all the same."""

    def __init__(self, folder: Path, top: Path) -> None:
        self.folder, self.top = folder, top
        self.notes: list[Notes] = []
        self.read: list[Path] = []

    def noted(self, path: Path, line_of: Any = lambda _: None) -> Notes:
        notes = Notes(str(path), line_of)
        self.notes.append(notes)
        return notes

    def source(self, name: str) -> Source | None:
        """A file of the case; `None` when there is none, or it can't be read, which is noted."""
        path = self.folder / name
        if not path.is_file() and not path.is_symlink():
            if path.exists():
                self.broken(path, InputError("is no file", hint="A case is a folder with prompt.md or case.yaml."))
            return None
        try:
            if not path.resolve().is_relative_to(self.top.resolve()):
                raise InputError("is a link that leads out of the suite", file=str(path))
            if path.is_file() and path.stat().st_size > _MOST_BYTES:
                raise InputError("is too large to be read", file=str(path), expected="at most 1 MiB")
            source = read_source(path)
        except (InputError, OSError, RuntimeError) as error:
            self.broken(path, error if isinstance(error, InputError) else InputError(f"can't be read: {error}"))
            return None
        self.read.append(path)
        return source

    def broken(self, path: Path, error: InputError) -> None:
        more = {"remedy": error.hint or "", "found": error.found or "", "expected": error.expected or ""}
        self.noted(path).error("unreadable", error.message, line=error.line, **more)

    def prose(self, name: str) -> tuple[Fields, str] | None:
        """Frontmatter and body of a Markdown file; no frontmatter is an empty one."""
        source = self.source(name)
        if source is None:
            return None
        text, file = source.text, str(source.path)
        if not _OPENS.match(text):
            return Fields({}, "$", self.noted(source.path)), text.strip()
        if empty := _EMPTY.match(text):
            return Fields({}, "$", self.noted(source.path)), text[empty.end() :].strip()
        try:
            parts = read_frontmatter(text, file)
        except InputError as error:
            self.broken(source.path, error)
            return None
        notes = self.noted(source.path, parts.yaml.line)
        return Fields(parts.values, "$", notes), text[parts.body :].strip()

    def yaml(self) -> Fields | None:
        source = self.source("case.yaml")
        if source is None:
            return None
        try:
            tree = parse_yaml(source.text, str(source.path))
        except InputError as error:
            self.broken(source.path, error)
            return None
        notes = self.noted(source.path, tree.line)
        if not isinstance(tree.value, dict):
            notes.error("wrong-type", "the case can't be read", "$", found=shown(tree.value), expected="an object")
            return None
        return Fields({str(key): value for key, value in tree.value.items()}, "$", notes)

    def place(self, name: str) -> str:
        return (self.folder / name).relative_to(self.top).as_posix()


def read_case(folder: Path, top: Path, skill_root: Path) -> Case:
    """The case in a folder, with everything that was noticed.

    Args:
        folder: it.
        top: the suite's folder; the case's id is its path below it.
        skill_root: the skill's folder, from which fixtures are found.
    """
    reader = _Reader(folder, top)
    prose, tree = reader.prose("prompt.md"), reader.yaml()
    if prose is None and tree is None:
        return Case(None, _findings(reader), tuple(reader.read))
    front, body = prose or (None, "")
    looks = _Looks(front, tree)
    prompt = body or (looks.below("execution").text("prompt") or "")
    main = looks.main
    if not prompt:
        main.notes.error("empty-prompt", "the case has no prompt", "$", remedy="Write what the agent is asked to do.")
    looks.warn()
    expectations = [*_listed(tree, reader), *_graders(reader)]
    _needs_grader(expectations, reader, main)
    setup = read_setup(looks.below("context"), folder, skill_root) if tree else CaseSetup()
    _mocks(reader)
    one = Eval(
        id=folder.relative_to(top).as_posix(),
        prompt=prompt,
        expectations=tuple(expectations),
        name=_name(looks, folder),
        expected_output=looks.of("expected_outcome").text("expected_outcome"),
        files=setup.files,
        tags=looks.of("tags").texts("tags"),
        setup=setup.command,
        timeout_seconds=looks.of("timeout_seconds").positive("timeout_seconds"),
        extra=looks.extra(),
    )
    return Case(one, _findings(reader), tuple(reader.read))


def _name(looks: _Looks, folder: Path) -> str | None:
    """Its name, where it says more than the folder's."""
    name = looks.of("name").text("name")
    return None if name == folder.name else name


class _Looks:
    """Where each key of a case is found: in prompt.md, else in case.yaml."""

    def __init__(self, front: Fields | None, tree: Fields | None) -> None:
        self._front, self._tree = front, tree
        main = front or tree
        assert main is not None
        self.main = main

    def below(self, key: str) -> Fields:
        """An object of case.yaml."""
        if self._tree is None:
            return Fields({}, "$", self.main.notes)
        value = self._tree.raw.get(key)
        if value is not None and not isinstance(value, dict):
            self._tree.wrong(key, "an object")
        raw = {str(name): item for name, item in value.items()} if isinstance(value, dict) else {}
        return Fields(raw, self._tree.at(key), self._tree.notes)

    def of(self, key: str) -> Fields:
        """The fields in which a key stands."""
        if self._front and key in self._front.raw:
            return self._front
        if self._tree is None:
            return self.main
        return self.below("execution") if key in _RUN else self._tree

    def extra(self) -> dict[str, Any]:
        """What has no place of its own in an eval, kept."""
        keys = ("description", *_OPTIONS, *_NOWHERE)
        return {key: self.of(key).raw[key] for key in keys if key in self.of(key).raw}

    def warn(self) -> None:
        """Note the keys that have no counterpart, and those that mean nothing."""
        for key in (*_OPTIONS, *_NOWHERE):
            fields = self.of(key)
            if key not in fields.raw:
                continue
            if option := _OPTIONS.get(key):
                remedy = f"Say it for the whole run: {option}."
                fields.notes.info("no-counterpart", f"{key} is not read from a case", fields.at(key), remedy=remedy)
            else:
                message = f"{key} has no counterpart here; it is not read"
                fields.notes.warn("no-counterpart", message, fields.at(key))
        for key in self._front.raw if self._front else ():
            if key not in _TOP and key not in _RUN:
                self.main.notes.warn("unknown-key", f"{key} means nothing in a prompt.md", self.main.at(key))


def _listed(tree: Fields | None, reader: _Reader) -> Iterator[Expectation]:
    """The graders that stand in case.yaml."""
    raw = tree.raw.get("graders") if tree else None
    if tree is None or raw is None:
        return
    if not isinstance(raw, list):
        tree.wrong("graders", "a list of graders")
        return
    for index, item in enumerate(raw[:_MOST_GRADERS]):
        at = f"{tree.at('graders')}[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            expected = "an object with name and type"
            tree.notes.error("wrong-type", "the grader can't be read", at, found=shown(item), expected=expected)
            continue
        values = {str(key): value for key, value in item.items() if key != "name"}
        place = f"{reader.place('case.yaml')} {at}"
        if found := read_grader(item["name"], Fields(values, at, tree.notes), "", place):
            yield found


def _graders(reader: _Reader) -> Iterator[Expectation]:
    """Those that are files."""
    folder = reader.folder / "graders"
    if folder.is_symlink() or not folder.is_dir():
        return
    names = sorted(path.name for path in folder.glob("*.md") if not path.is_dir())
    if len(names) > _MOST_GRADERS:
        error = InputError("holds too many graders", expected=f"at most {_MOST_GRADERS}", found=str(len(names)))
        reader.broken(folder, error)
        return
    for name in names:
        prose = reader.prose(f"graders/{name}")
        if prose is None:
            continue
        fields, body = prose
        if not fields.raw:
            message = "has no frontmatter, so it is no grader; it is not read"
            fields.notes.warn("no-counterpart", message, remedy='Begin it with "---", "type: llm", "---".')
        elif found := read_grader(name.removesuffix(".md"), fields, body, reader.place(f"graders/{name}")):
            yield found


def _needs_grader(expectations: list[Expectation], reader: _Reader, main: Fields) -> None:
    if not expectations and not any(notes.failed for notes in reader.notes):
        remedy = "Write graders/<name>.md."
        main.notes.warn("no-graders", "no grader of this case can be read, so nothing decides it", "$", remedy=remedy)


def _mocks(reader: _Reader) -> None:
    if (reader.folder / "mocks").is_dir():
        message = "stand-ins for MCP servers have no counterpart here; they are not read"
        reader.noted(reader.folder / "mocks").warn("no-counterpart", message)


def _findings(reader: _Reader) -> tuple[Finding, ...]:
    found = [finding for notes in reader.notes for finding in notes.findings]
    return tuple(sorted(found, key=lambda finding: finding.severity is not Severity.ERROR))
