"""Expectations as people write them, strings and objects of many tools, turned into ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, cast

from skill_assay.formats.checks_table import CHECK_SHORT, parse_checks
from skill_assay.formats.fields import Fields
from skill_assay.formats.notes import Notes, shown
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.evals import Check, Expectation, Requirement
from skill_assay.model.findings import Severity

__all__ = ["parse_criteria"]

_TEXT_KEYS = ("text", "description", "criterion", "name", "expectation", "assertion")
_DETAIL_KEYS = ("criterion", "expected")
_MACHINE_KEYS = ("type", "pattern", "phrase", "needle", "value", "path")
_OWN_KEYS = ("text", "check", "checks", "severity", "id", "about")
_KNOWN = {*_TEXT_KEYS, *_DETAIL_KEYS, *_MACHINE_KEYS, *_OWN_KEYS}

_WILD_KINDS: Mapping[str, tuple[str, str, bool]] = {
    "string_match": ("contains", "text", False),
    "string_contains": ("contains", "text", False),
    "contains": ("contains", "text", False),
    "includes": ("contains", "text", False),
    "not_contains": ("contains", "text", True),
    "does_not_contain": ("contains", "text", True),
    "regex": ("matches", "pattern", False),
    "regex_match": ("matches", "pattern", False),
    "matches": ("matches", "pattern", False),
    "file_exists": ("file_exists", "path", False),
}
"""What other tools call a check: our kind, the argument its value becomes, whether it is negated."""
_VALUE_KEYS: Mapping[str, tuple[str, ...]] = {
    "contains": ("value", "phrase", "needle", "pattern"),
    "matches": ("pattern", "value"),
    "file_exists": ("path", "value"),
}
_JUDGED = frozenset({"llm_judge", "llm-judge", "judge", "llm", "rubric", "qualitative"})
"""What other tools call "a judge decides", which a text without a check says already."""
_CALL = re.compile(r"""contains\((["'])(?P<text>.+)\1\)""")


def parse_criteria(raw: Any, path: str, notes: Notes) -> tuple[Expectation, ...]:
    """The expectations under one key: a list, or a single one."""
    if isinstance(raw, (str, dict)):
        return tuple(one for one in [_one(raw, path, notes)] if one)
    if not isinstance(raw, list):
        expected = "a list of texts and objects"
        notes.error("wrong-type", "expectations can't be read", path, found=shown(raw), expected=expected)
        return ()
    parsed = (_one(item, f"{path}[{index}]", notes) for index, item in enumerate(raw))
    return tuple(one for one in parsed if one)


def _one(raw: Any, path: str, notes: Notes) -> Expectation | None:
    if isinstance(raw, str):
        if raw.strip():
            return Expectation(raw, place=path)
        notes.error("empty-expectation", "the expectation has no text", path, remedy="Write what should hold.")
        return None
    if not isinstance(raw, dict):
        expected = 'a text, or {"text": …, "check": …}'
        notes.error("wrong-type", "the expectation can't be read", path, found=shown(raw), expected=expected)
        return None
    return _object(Fields(raw, path, notes))


def _object(fields: Fields) -> Expectation | None:
    raw, notes = fields.raw, fields.notes
    checks = _checks(fields)
    key = next((key for key in _TEXT_KEYS if isinstance(raw.get(key), str) and raw[key].strip()), None)
    text = raw[key] if key else _text_of_checks(fields, checks)
    if text is None:
        notes.error("empty-expectation", "the expectation has no text", fields.path, remedy='Give it a "text".')
        return None
    if key and key != "text":
        notes.once("criterion-key", f"{key} is read as text", fields.at(key), Severity.INFO)
    for unknown in raw.keys() - _KNOWN:
        _unknown(unknown, fields)
    return Expectation(
        text=_with_details(text, key, fields),
        checks=checks,
        severity=cast(Requirement, _choice(fields, "severity", ("required", "info")) or "required"),
        id=_identity(fields, key),
        about=cast(Literal["outcome", "process"] | None, _choice(fields, "about", ("outcome", "process"))),
        place=fields.path,
    )


def _text_of_checks(fields: Fields, checks: tuple[Check, ...]) -> str | None:
    """A check without words names itself; another tool's check in words is the text."""
    written = fields.raw.get("check")
    if isinstance(written, str) and written.strip():
        return written
    if not checks:
        return None
    words = [f"{'not ' if check.negated else ''}{check.kind} {shown(dict(check.arguments))}" for check in checks]
    fields.notes.warn("no-text", "a check without a text", fields.path, remedy='Say in "text" what should hold.')
    return "; ".join(words)


def _with_details(text: str, key: str | None, fields: Fields) -> str:
    """Other tools split one statement over two keys; a judge needs both halves."""
    details = [fields.raw[name] for name in _DETAIL_KEYS if name != key and isinstance(fields.raw.get(name), str)]
    if fields.raw.get("check") == "qualitative" and isinstance(fields.raw.get("value"), str):
        details.append(fields.raw["value"])
    return " — ".join([text, *(detail for detail in details if detail.strip() and detail != text)])


def _identity(fields: Fields, text_key: str | None) -> str | None:
    name = fields.raw.get("id", fields.raw.get("name") if text_key not in (None, "name") else None)
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    if name is None or isinstance(name, str):
        return name or None
    fields.wrong("id" if "id" in fields.raw else "name", "a text or a whole number")
    return None


def _choice(fields: Fields, name: str, allowed: tuple[str, ...]) -> str | None:
    value = fields.raw.get(name)
    if value is None or value in allowed:
        return cast(str | None, value)
    fields.wrong(name, " or ".join(allowed))
    return None


def _unknown(key: str, fields: Fields) -> None:
    if not key.startswith(("_", "$")):
        remedy = did_you_mean(key, _OWN_KEYS) + "Keys starting with _ are for notes of your own."
        fields.notes.once("unknown-key", f"{key} in an expectation means nothing here", fields.at(key), remedy=remedy)


def _checks(fields: Fields) -> tuple[Check, ...]:
    raw = fields.raw
    key = "check" if "check" in raw else "checks" if "checks" in raw else None
    if key and isinstance(raw[key], (dict, list)):
        return parse_checks(raw[key], fields.at(key), fields.notes)
    if key and raw[key] is not None and not isinstance(raw[key], str):
        fields.wrong(key, 'a check, as {"file_exists": "report.md"}, or a list of them')
        return ()
    check = _wild_check(fields, key)
    return (check,) if check else ()


def _wild_check(fields: Fields, key: str | None) -> Check | None:
    """The check that another tool's keys stand for, where only one reading is possible; else it stays a text."""
    raw, notes = fields.raw, fields.notes
    written = raw.get(key) if key else None
    kind = written if isinstance(written, str) else raw.get("type")
    call = _CALL.fullmatch(kind) if isinstance(kind, str) else None
    if call:
        check: Check | None = Check("contains", {"text": call["text"]})
    elif isinstance(kind, str) and kind in _WILD_KINDS:
        check = _from_kind(kind, raw)
    elif kind is None:
        check = _from_value(raw)
    else:
        check = None
    where = fields.at(key or "type") if key or "type" in raw else fields.path
    if check:
        notes.info("foreign-check", f"read as a check: {check.kind} {shown(dict(check.arguments))}", where)
    elif key or any(name in raw for name in _MACHINE_KEYS):
        _not_a_check(fields, kind, where)
    return check


def _from_kind(kind: str, raw: Mapping[str, Any]) -> Check | None:
    ours, argument, negated = _WILD_KINDS[kind]
    names = _VALUE_KEYS[ours]
    if kind == "string_match" and "pattern" in raw:
        ours, argument, names = "matches", "pattern", ("pattern",)
    value = next((raw[name] for name in names if isinstance(raw.get(name), str) and raw[name]), None)
    if value is None or (ours == "matches" and not _compiles(value)):
        return None
    return Check(ours, {argument: value}, negated)


def _from_value(raw: Mapping[str, Any]) -> Check | None:
    """Without a kind: a pattern, phrase or needle says what it is; a bare value or path may mean anything."""
    pattern = raw.get("pattern")
    if isinstance(pattern, str) and pattern and _compiles(pattern):
        return Check("matches", {"pattern": pattern})
    phrase = next((raw[name] for name in ("phrase", "needle") if isinstance(raw.get(name), str) and raw[name]), None)
    return Check("contains", {"text": phrase}) if phrase else None


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _not_a_check(fields: Fields, kind: Any, where: str) -> None:
    if isinstance(kind, str) and kind in _JUDGED:
        return
    remedy = 'To have a machine decide it, write "check": {kind: arguments}.'
    if isinstance(kind, str) and kind in CHECK_SHORT:
        remedy = f'Write it as "check": {{"{kind}": …}}.'
    what = f"{shown(kind)} is" if isinstance(kind, str) else "its keys are"
    message = f"{what} no check of ours; the text stays, for a judge"
    fields.notes.once("foreign-text", message, where, Severity.INFO, remedy=remedy)
