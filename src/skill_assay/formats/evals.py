"""`evals/evals.json`, in every dialect people write it in, and tables of prompts, to an `EvalSet`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.classes import class_key, class_tags, derived_class, with_class
from skill_assay.formats.criteria import parse_criteria
from skill_assay.formats.dialect import CRITERIA_KEYS, EVAL_ALIASES, EVAL_KEYS, Located, locate
from skill_assay.formats.document import Document, parse_document
from skill_assay.formats.fields import Fields
from skill_assay.formats.fixtures import check_fixtures
from skill_assay.formats.notes import Notes, raise_first, shown
from skill_assay.formats.plugin_suite import case_folders, find_suite, is_suite, read_suite
from skill_assay.formats.prompt_table import eval_rows, find_tables
from skill_assay.formats.reading import read_source
from skill_assay.formats.sniff import is_eval_file
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.evals import Environment, Eval, EvalSet, Expectation
from skill_assay.model.findings import Finding, Severity
from skill_assay.model.prompt_classes import NEGATIVE, class_of

__all__ = ["examine_evals", "find_evals", "load_evals", "located_in"]


def find_evals(skill_root: Path) -> Path:
    """The skill's evals: `evals/evals.json`, else the one file in `evals/` that holds evals, else that folder
    when several do, else a table of prompts there, else a suite of `claude plugin eval`: the skill's
    own or its plugin's.

    Raises:
        NotFoundError: there are none.
        InputError: there are only tables of prompts, and several.
    """
    folder = skill_root / "evals"
    if (folder / "evals.json").is_file():
        return folder / "evals.json"
    files = eval_files(folder)
    if not files and (tables := find_tables(folder)):
        return _only(tables, folder)
    if not files and (suite := find_suite(skill_root)):
        return suite
    if not files:
        hint = f"assay init {skill_root}  writes a first evals/evals.json to fill in."
        raise NotFoundError("there are no evals for this skill", file=str(folder / "evals.json"), hint=hint)
    return files[0] if len(files) == 1 else folder


def _only(tables: list[Path], folder: Path) -> Path:
    if len(tables) > 1:
        names = ", ".join(path.name for path in tables)
        hint = "Name the one to use with --evals."
        raise InputError("there are several tables of prompts", file=str(folder), found=names, hint=hint)
    return tables[0]


def eval_files(folder: Path) -> list[Path]:
    """The JSON files directly in a folder that hold evals."""
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.glob("*.json")) if path.is_file() and is_eval_file(path)]


def load_evals(path: Path, *, skill_root: Path) -> EvalSet:
    """Read evals.

    Args:
        path: a file, or a folder of files that are read as one set, or a suite of `claude plugin eval`.
        skill_root: the skill's folder, from which fixtures are found.

    Raises:
        NotFoundError: there is no such file.
        InputError: the first of the errors, with file, JSON path, line, what was found and expected.
    """
    evals, findings = examine_evals(path, skill_root=skill_root)
    raise_first(findings)
    return evals


def examine_evals(path: Path, *, skill_root: Path) -> tuple[EvalSet, tuple[Finding, ...]]:
    """The evals as far as they can be understood, and everything that was noticed, errors included.

    Raises:
        InputError: a file can't be read as JSON at all.
    """
    files = eval_files(path) if path.is_dir() else [path]
    if (not files or path.suffix in (".md", ".yaml")) and case_folders(path):
        suite = _suite(path, skill_root)
        return suite, suite.findings
    if not files:
        raise NotFoundError("no file here holds evals", file=str(path), hint="assay init  writes a first one.")
    sets = [_read_file(file, skill_root) for file in files]
    found = _ids_of_one_kind(sets[0] if len(sets) == 1 else _join(sets))
    return found, found.findings


def _suite(path: Path, skill_root: Path) -> EvalSet:
    found = read_suite(path, skill_root=skill_root)
    notes = Notes(str(found.root))
    _refuse_twins([(one, one.id) for one in found.evals], notes)
    for one in found.evals:
        check_fixtures(one, skill_root, found.root, one.id, notes)
    return replace(found, findings=found.findings + notes.findings)


def _suite_beside(path: Path, notes: Notes) -> None:
    if path.parent.name == "evals" and is_suite(path.parent):
        remedy = f"Name one of its cases with --evals, as {case_folders(path.parent)[0]}."
        notes.info("suite-beside", "the suite of `claude plugin eval` beside it is not read", "$", remedy=remedy)


def _ids_of_one_kind(found: EvalSet) -> EvalSet:
    """All texts where some are: what other tools read of a run they sort, and numbers beside texts end them."""
    kinds = {type(one.id if one.original_id is None else one.original_id) for one in found.evals}
    if len(kinds) < 2:
        return found
    return replace(found, evals=tuple(replace(one, original_id=None) for one in found.evals))


def _read_file(path: Path, skill_root: Path) -> EvalSet:
    source = read_source(path, what="evals file")
    document = parse_document(source)
    notes = Notes(str(path), document.line)
    for twice in document.duplicates:
        notes.warn("duplicate-key", "a key stands twice in one object; the last one counts", twice)
    located = located_in(document, notes)
    if not located.evals and not notes.failed:
        notes.error(
            "no-evals", "there are no evals in this file", "$", remedy="Write at least one.", found="an empty list"
        )
    evals = [(one, at) for raw, at in located.evals if (one := _read_eval(raw, at, notes))]
    evals = _numbered(evals, notes)
    _refuse_twins(evals, notes)
    for one, at in evals:
        check_fixtures(one, skill_root, path.parent, at, notes)
    _suite_beside(path, notes)
    plain = tuple(one for one, _ in evals)
    if document.table:
        plain = _classified(plain)
    return EvalSet(located.skill_name, plain, path, source.digest, notes.findings, located.extra)


def located_in(document: Document, notes: Notes) -> Located:
    """The evals of a parsed file, each with its JSON path."""
    if not document.table:
        return locate(document.value, notes)
    rows = eval_rows(document.value)
    return Located(None, [(row, f"$[{index}]") for index, row in enumerate(rows)])


def _classified(evals: tuple[Eval, ...]) -> tuple[Eval, ...]:
    """With the classes that a table says without a column for them."""
    named = [(one, class_of(one.tags) or derived_class(one.prompt, one.should_trigger, ())) for one in evals]
    return tuple(replace(one, tags=with_class(one.tags, word)) if word else one for one, word in named)


def _join(sets: list[EvalSet]) -> EvalSet:
    """Several files as one set; ids that stand in two of them get their file's name before them."""
    ids = [one.id for part in sets for one in part.evals]
    twins = {name for name in ids if ids.count(name) > 1}
    evals = [_of_file(one, part.source, one.id in twins) for part in sets for one in part.evals]
    names = {part.skill_name for part in sets if part.skill_name}
    notes = Notes(str(sets[0].root))
    notes.info("several-files", f"{len(sets)} files are read as one set", "")
    if twins:
        notes.info("id-prefixed", f"{len(twins)} ids stand in several files; the file's name is put before them", "")
    _refuse_twins([(one, "") for one in evals], notes)
    digest = hashlib.sha256("".join(part.digest for part in sets).encode()).hexdigest()
    found = notes.findings + tuple(finding for part in sets for finding in part.findings)
    name = names.pop() if len(names) == 1 else None
    read = tuple(part.source for part in sets)
    return EvalSet(name, tuple(evals), sets[0].source, digest, found, read=read)


def _of_file(one: Eval, file: Path, twin: bool) -> Eval:
    """An eval of one of several files: its expectations' places say which."""
    placed = tuple(replace(each, place=f"{file.name} {each.place}") for each in one.expectations)
    one = replace(one, expectations=placed)
    return replace(one, id=f"{file.stem}-{one.id}", original_id=None) if twin else one


def _read_eval(raw: Any, path: str, notes: Notes) -> Eval | None:
    if not isinstance(raw, dict):
        notes.error("wrong-type", "the eval can't be read", path, found=shown(raw), expected="an object with a prompt")
        return None
    fields = Fields(raw, path, notes)
    keys = {ours: _alias(ours, names, fields) for ours, names in EVAL_ALIASES.items()}
    prompt = fields.text(keys["prompt"])
    if prompt is None and not _noted(fields, keys["prompt"]):
        place = fields.at(keys["prompt"]) if keys["prompt"] else path
        notes.error("empty-prompt", "the eval has no prompt", place, remedy="Write what the agent is asked to do.")
    extra = {name: value for name, value in raw.items() if name not in {*EVAL_KEYS, class_key(fields)}}
    _warn_unknown(extra, fields)
    original, id_ = _id(fields, keys["id"])
    expected_skill = fields.text("expected_skill")
    wanted = _should_trigger(fields)
    return Eval(
        id=id_,
        prompt=prompt or "",
        expectations=_expectations(fields),
        name=fields.text(keys["name"]),
        expected_output=fields.text(keys["expected_output"]),
        files=fields.texts(keys["files"]),
        tags=_tags(fields, wanted),
        environment=_environment(fields),
        setup=fields.text("setup"),
        timeout_seconds=fields.positive("timeout_seconds"),
        weight=fields.positive("weight") or 1.0,
        known_issue=fields.text("known_issue"),
        turns=fields.texts("turns"),
        reference=fields.text("reference"),
        original_id=original,
        should_trigger=wanted,
        expected_skill=expected_skill,
        extra=extra,
    )


def _alias(ours: str, names: tuple[str, ...], fields: Fields) -> str | None:
    key = fields.first(names)
    if key not in (None, ours):
        fields.notes.once("key-alias", f"{key} is read as {ours}", fields.at(str(key)), Severity.INFO)
    return key


def _noted(fields: Fields, key: str | None) -> bool:
    """Whether the value is of the wrong type, which was said already."""
    return key is not None and fields.raw[key] is not None and not isinstance(fields.raw[key], str)


def _warn_unknown(extra: Iterable[str], fields: Fields) -> None:
    for name in extra:
        if not name.startswith(("_", "$")):
            remedy = did_you_mean(name, EVAL_KEYS) + "It is kept and has no effect."
            fields.notes.once("unknown-key", f"{name} in an eval means nothing here", fields.at(name), remedy=remedy)


def _id(fields: Fields, key: str | None) -> tuple[int | str | None, str]:
    """The id as written and as text; empty when it is to be numbered."""
    value = fields.raw.get(key) if key else None
    if key is None or value is None:
        return None, ""
    if isinstance(value, int) and not isinstance(value, bool):
        return value, str(value)
    if isinstance(value, str) and value.strip():
        return value, value.strip()
    if isinstance(value, str):
        remedy = "Write one, or leave the key out to have it numbered."
        fields.notes.error("empty-id", "the id is empty", fields.at(key), remedy=remedy)
    else:
        fields.wrong(key, "a text or a whole number")
    return None, ""


def _numbered(evals: list[tuple[Eval, str]], notes: Notes) -> list[tuple[Eval, str]]:
    """Evals without an id get the next free number from 1."""
    taken = {one.id for one, _ in evals}
    free = (str(number) for number in range(1, 2 * len(evals) + 1) if str(number) not in taken)
    if "" in taken and not notes.failed:
        first = next(at for one, at in evals if not one.id)
        count = sum(not one.id for one, _ in evals)
        remedy = "Give each an id, so that results stay theirs when the order changes."
        notes.warn("no-id", f"{count} of {len(evals)} evals have no id and are numbered", first, remedy=remedy)
    return [(one if one.id else replace(one, id=next(free)), at) for one, at in evals]


def _refuse_twins(evals: list[tuple[Eval, str]], notes: Notes) -> None:
    """Ids must differ, and so must the folders they give."""
    seen: dict[str, tuple[Eval, str]] = {}
    for one, at in evals:
        twin = seen.setdefault(one.folder, (one, at))
        if twin[0] is one:
            continue
        same = twin[0].id == one.id
        what = f"the id {one.id!r} stands twice" if same else f"the ids {twin[0].id!r} and {one.id!r} name one folder"
        found = f"{_called(*twin)} and {_called(one, at)}"
        notes.error("duplicate-id", what, f"{at}.id" if at else "", found=found, remedy="Give one of them another id.")


def _called(one: Eval, at: str) -> str:
    words = " ".join(one.title.split() if one.name else one.prompt.split())
    return f'{at} "{words[:40]}{"…" if len(words) > 40 else ""}"'.strip()


def _expectations(fields: Fields) -> tuple[Expectation, ...]:
    """Those under every name they have; several lists are joined."""
    present = [key for key in CRITERIA_KEYS if fields.raw.get(key) is not None]
    found: list[Expectation] = []
    for key in present:
        if key != "expectations":
            fields.notes.once("criteria-key", f"{key} is read as expectations", fields.at(key), Severity.INFO)
        found += parse_criteria(fields.raw[key], fields.at(key), fields.notes)
    return tuple(found)


def _environment(fields: Fields) -> Environment:
    raw = fields.raw.get("environment")
    if raw is None:
        return Environment()
    if isinstance(raw, str):
        fields.notes.info("note-only", "environment is one text, read as its note", fields.at("environment"))
        return Environment(note=raw)
    if not isinstance(raw, dict):
        fields.wrong("environment", '{"note": …, "vars": [NAME]}')
        return Environment()
    inner = Fields(raw, fields.at("environment"), fields.notes)
    _warn_unknown((name for name in raw if name not in ("note", "vars")), inner)
    return Environment(note=inner.text("note") or "", vars=inner.texts("vars"))


def _tags(fields: Fields, wanted: bool | None) -> tuple[str, ...]:
    """With the class; an eval in which the skill should not fire is a negative control."""
    tags = class_tags(fields, fields.texts("tags"), wanted)
    return with_class(tags, NEGATIVE) if wanted is False else tags


def _should_trigger(fields: Fields) -> bool | None:
    flag = fields.flag("should_trigger")
    silent = "expected_skill" in fields.raw and fields.raw["expected_skill"] is None
    if flag is None and silent and not isinstance(fields.raw.get("should_trigger"), str):
        message = "expected_skill null is read as should_trigger false"
        fields.notes.once("no-skill-expected", message, fields.at("expected_skill"), Severity.INFO)
        return False
    return flag
