"""SKILL.md and its folder to a `Skill`, and a new description into it without touching another byte."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.frontmatter import Frontmatter, read_frontmatter
from skill_assay.formats.notes import Notes, raise_first, shown
from skill_assay.formats.reading import decode, read_source
from skill_assay.formats.skill_files import folder_digest, installable_files
from skill_assay.model.findings import Finding
from skill_assay.model.skill import Skill

__all__ = ["examine_skill", "folder_digest", "installable_files", "read_skill", "with_description"]

_FILE = "SKILL.md"
_NOT_PRINTABLE = re.compile("[^\t -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def read_skill(path: Path | str) -> Skill:
    """Read a skill.

    Args:
        path: the skill's folder, or its SKILL.md.

    Raises:
        NotFoundError: there is no SKILL.md.
        InputError: it can't be used; with the line and what to do.
    """
    skill, findings = examine_skill(path)
    raise_first(findings)
    assert skill is not None
    return skill


def examine_skill(path: Path | str) -> tuple[Skill | None, tuple[Finding, ...]]:
    """The skill as far as it can be understood, and all that was noticed in its name and description.

    Raises:
        InputError: SKILL.md is missing or can't be taken apart at all.
    """
    file = _locate(Path(path))
    source = read_source(file, what=_FILE)
    parts = read_frontmatter(source.text, str(file))
    notes = Notes(str(file), parts.yaml.line)
    name = _name(parts, file.parent.name, notes)
    description = _text(parts, "description", notes)
    if description is None and not notes.failed:
        remedy = "Write description: what the skill does and when it is to be used."
        notes.error("no-description", "there is no description, so no agent can find the skill", "$", remedy=remedy)
    if notes.failed:
        return None, notes.findings
    return (
        Skill(
            root=file.parent,
            name=name or "",
            description=description or "",
            body=source.text[parts.body :],
            raw=source.data,
            frontmatter=parts.values,
            digest=folder_digest(file.parent),
            files=tuple(installable_files(file.parent)),
        ),
        notes.findings,
    )


def with_description(skill: Skill, text: str) -> bytes:
    """SKILL.md with another description: that one value replaced, every other byte kept.

    Raises:
        InputError: the text is blank or can't be written as YAML, or the old value is shared (an anchor).
    """
    file = str(skill.root / _FILE)
    if not text.strip():
        raise InputError("a description can't be blank", file=file)
    old, bom = decode(skill.raw, file)
    parts = read_frontmatter(old, file)
    span = parts.span("description")
    if span is None:
        raise InputError("there is no description to replace", file=file)
    for value in _spellings(text, old[span[0] : span[1]]):
        new = old[: span[0]] + value + old[span[1] :]
        if _only_description_changed(parts, new, text, file):
            return (b"\xef\xbb\xbf" if bom else b"") + new.encode("utf-8")
    hint = "Write the description as a plain or quoted text of its own, without & or *."
    raise InputError(
        "the description can't be replaced alone", file=file, line=parts.yaml.line("$.description"), hint=hint
    )


def _locate(path: Path) -> Path:
    """SKILL.md for a folder or the file itself; absolute, but links in the way are kept: the folder's name counts."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)
    file = path if path.name == _FILE and not path.is_dir() else path / _FILE
    try:
        if not file.is_file():
            raise _not_there(path, file)
        file.resolve(strict=True).relative_to(file.parent.resolve())
    except (OSError, RuntimeError) as error:
        raise NotFoundError(f"can't be read: {error}", file=str(path)) from error
    except ValueError as error:
        raise InputError("is a link that leads out of the skill's folder", file=str(file)) from error
    return file


def _not_there(path: Path, file: Path) -> NotFoundError:
    folder = file.parent
    if path.is_file():
        return NotFoundError("is no skill", file=str(path), expected=f"a folder with a {_FILE}, or that file")
    if not folder.is_dir():
        return NotFoundError("there is no such folder", file=str(path))
    other = next((item.name for item in folder.iterdir() if item.name.lower() == _FILE.lower()), None)
    hint = f"Rename {other} to {_FILE}." if other else "A skill is a folder with a SKILL.md; `assay init` begins one."
    return NotFoundError("there is no SKILL.md here", file=str(folder), hint=hint)


def _name(parts: Frontmatter, folder: str, notes: Notes) -> str | None:
    if "name" in parts.values:
        return _text(parts, "name", notes)
    remedy = f"Write name: {folder}"
    notes.warn("no-name", f"there is no name; the folder's is used: {folder}", "$", remedy=remedy)
    return folder


def _text(parts: Frontmatter, key: str, notes: Notes) -> str | None:
    """The text under a key; what is there and no usable text is an error."""
    if key not in parts.values:
        return None
    value: Any = parts.values[key]
    if isinstance(value, str) and value.strip():
        return value
    blank = value is None or isinstance(value, str)
    message = f"the {key} is blank" if blank else f"the {key} is no text"
    found = None if blank else shown(value)
    remedy = f"Write a {key}." if blank else "Put it in quotes."
    more = {"found": found} if found else {}
    notes.error(f"bad-{key}", message, f"$.{key}", remedy=remedy, **more)
    return None


def _spellings(text: str, old: str) -> list[str]:
    """Ways to write the value, the most like the old one first; what stood around the old text is kept."""
    trailing = old[len(old.rstrip()) :]
    lead = " " if not old else ""
    block = re.match(r"[|>][^\r\n#]*(#[^\r\n]*)?", old)
    comment = f" {block[1].rstrip()}" if block and block[1] else ""
    quoted = lead + _double_quoted(text) + comment + trailing
    plain = lead + text + trailing
    return [plain, quoted] if old[:1] not in "\"'|>&*!" and "\n" not in text else [quoted]


def _double_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + _NOT_PRINTABLE.sub(lambda match: _escape(match[0]), escaped) + '"'


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _only_description_changed(old: Frontmatter, new: str, text: str, file: str) -> bool:
    try:
        parts = read_frontmatter(new, file)
    except (InputError, yaml.YAMLError):
        return False
    same_body = new[parts.body :] == old.text[old.body :]
    return same_body and parts.values == {**old.values, "description": text}
