"""The benchmark configuration, and which value of a setting holds: option, then variable, then file, then default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError
from skill_assay.formats.jsontext import parse_json
from skill_assay.formats.notes import Notes, child, raise_first, shown
from skill_assay.formats.reading import read_source
from skill_assay.formats.settings import SETTINGS, THRESHOLDS, BadValue, Kind, known_keys, setting_of, variable
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.findings import Finding

__all__ = ["Configuration", "Setting", "examine_config", "find_config", "load_config", "resolve_settings"]

_FILE = "benchmark.config.json"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration file, understood."""

    source: Path
    values: Mapping[str, Any]
    """By the setting's own name (`trials`, whatever the file calls it); only what the file says."""
    thresholds: Mapping[str, Any]
    """Only what the file says."""
    findings: tuple[Finding, ...] = ()

    def place(self, name: str) -> Path | None:
        """A setting that is a path, found from the file's folder, then its skill's, then here; `None` when not set."""
        written = self.values.get(name)
        if written is None:
            return None
        folder = self.source.parent
        candidates = (folder / written, folder.parent / written, Path(written))
        return next((path for path in candidates if path.exists()), candidates[0])


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it came from."""

    value: Any
    origin: str
    """`option --trials`, `ASSAY_TRIALS`, the file's path, or `default`."""


def find_config(skill_root: Path) -> Path | None:
    """The skill's own configuration, if it has one."""
    path = skill_root / "evals" / _FILE
    return path if path.is_file() else None


def load_config(path: Path) -> Configuration:
    """Read a configuration.

    Raises:
        NotFoundError: there is no such file.
        InputError: the first of the errors, with its JSON path and line.
    """
    configuration, findings = examine_config(path)
    raise_first(findings)
    return configuration


def examine_config(path: Path) -> tuple[Configuration, tuple[Finding, ...]]:
    """The configuration as far as it can be understood, and everything that was noticed, errors included.

    Raises:
        InputError: the file can't be parsed at all.
    """
    source = read_source(path, what="configuration")
    parsed = parse_json(source.text, str(path))
    notes = Notes(str(path), parsed.line)
    for twice in parsed.duplicates:
        notes.warn("duplicate-key", "a key stands twice in one object; the last one counts", twice)
    values: dict[str, Any] = {}
    thresholds: dict[str, Any] = {}
    if isinstance(parsed.value, dict):
        _read_values(parsed.value, values, notes)
        thresholds = _read_thresholds(parsed.value.get("thresholds"), notes)
    else:
        found, expected = shown(parsed.value), '{"trials_per_eval": 3, "thresholds": {…}}'
        notes.error("wrong-type", "is no configuration", "$", found=found, expected=expected)
    return Configuration(path, values, thresholds, notes.findings), notes.findings


def _read_values(raw: Mapping[str, Any], values: dict[str, Any], notes: Notes) -> None:
    for key, value in raw.items():
        name = setting_of(key)
        if key in ("thresholds", "schema_version") or key.startswith(("_", "$")) or value is None:
            continue
        if name is None:
            remedy = did_you_mean(key, known_keys()) + "It has no effect."
            notes.warn("unknown-key", f"{key} means nothing here", child("$", key), remedy=remedy)
        elif name in values:
            notes.error("two-names", f"{key} and another key set the same", child("$", key), remedy="Keep one of them.")
        else:
            _take(name, SETTINGS[name], value, child("$", key), values, notes)


def _read_thresholds(raw: Any, notes: Notes) -> dict[str, Any]:
    thresholds: dict[str, Any] = {}
    if raw is not None and not isinstance(raw, dict):
        notes.error("wrong-type", "thresholds can't be read", "$.thresholds", found=shown(raw), expected="an object")
    for key, value in raw.items() if isinstance(raw, dict) else ():
        path = child("$.thresholds", key)
        if key in THRESHOLDS:
            if value is not None:
                _take(key, THRESHOLDS[key], value, path, thresholds, notes)
        elif not key.startswith("_"):
            remedy = did_you_mean(key, THRESHOLDS) + f"Thresholds: {', '.join(THRESHOLDS)}."
            notes.warn("unknown-key", f"there is no threshold {key}; nothing is gated by it", path, remedy=remedy)
    return thresholds


def _take(name: str, kind: Kind, raw: Any, path: str, into: dict[str, Any], notes: Notes) -> None:
    try:
        into[name] = kind.from_json(raw)
    except BadValue as bad:
        notes.error("wrong-type", f"{name} can't be read", path, found=shown(raw), expected=str(bad))


def resolve_settings(
    options: Mapping[str, Any],
    env: Mapping[str, str],
    configuration: Configuration | None,
    defaults: Mapping[str, Any],
) -> dict[str, Setting]:
    """Every setting of `defaults` with its value and origin.

    Args:
        options: from the command line; `None` or empty is "not given".
        env: the environment; an empty variable is "not given".
        configuration: the file, if there is one.
        defaults: all settings, by name.

    Raises:
        InputError: a variable can't be read.
    """
    return {name: _resolve(name, options, env, configuration, default) for name, default in defaults.items()}


def _resolve(
    name: str, options: Mapping[str, Any], env: Mapping[str, str], file: Configuration | None, default: Any
) -> Setting:
    if options.get(name) not in (None, ()):
        return Setting(_from_option(name, options[name]), f"option --{name.replace('_', '-')}")
    if env.get(variable(name), "").strip():
        return Setting(_from_variable(name, env[variable(name)]), variable(name))
    if file is not None and name in file.values:
        return Setting(file.values[name], str(file.source))
    return Setting(default, "default")


def _from_option(name: str, value: Any) -> Any:
    """Options come typed, but for those that click can't type."""
    if name != "budget" or not isinstance(value, str):
        return value
    return _parsed(name, value, f"--{name}")


def _from_variable(name: str, text: str) -> Any:
    return _parsed(name, text, variable(name))


def _parsed(name: str, text: str, where: str) -> Any:
    kind = SETTINGS.get(name)
    try:
        return kind.from_text(text.strip()) if kind else text
    except BadValue as bad:
        raise InputError(f"{where} can't be read", found=repr(text)[:60], expected=str(bad)) from bad
