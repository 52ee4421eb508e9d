"""What a reader notices in somebody's file: collected while reading goes on, so that all of it can be told at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from skill_assay.errors import InputError
from skill_assay.model.findings import Finding, Severity

__all__ = ["Notes", "child", "errors_of", "raise_first", "shown"]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def child(path: str, key: str) -> str:
    """The JSON path of a key below `path`."""
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def shown(value: Any, limit: int = 60) -> str:
    """A value as a message shows it: as JSON where it can be, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Notes:
    """The findings of one file, each with its line."""

    def __init__(self, file: str, line_of: Callable[[str], int | None] = lambda _: None) -> None:
        """Args:
        file: the name to show.
        line_of: the line of a JSON path, where it is known.
        """
        self.file = file
        self._line_of = line_of
        self._found: list[Finding] = []

    def error(self, rule: str, message: str, path: str = "", **more: Any) -> None:
        """The file can't be used as it is. `more`: remedy, found, expected, line."""
        self._add(Severity.ERROR, rule, message, path, **more)

    def warn(self, rule: str, message: str, path: str = "", **more: Any) -> None:
        """It can be used, and is likely not what was meant."""
        self._add(Severity.WARNING, rule, message, path, **more)

    def info(self, rule: str, message: str, path: str = "", **more: Any) -> None:
        """Something was repaired, or understood in an unusual way."""
        self._add(Severity.INFO, rule, message, path, **more)

    def once(self, rule: str, message: str, path: str = "", severity: Severity = Severity.WARNING, **more: Any) -> None:
        """Told at its first place only, however often it holds in the file."""
        if all((found.rule, found.message) != (rule, message) for found in self._found):
            self._add(severity, rule, message, path, **more)

    def _add(self, severity: Severity, rule: str, message: str, path: str, **more: Any) -> None:
        line = more.pop("line", None) or (self._line_of(path) if path else None)
        finding = Finding(severity, rule, message, file=self.file, json_path=path, line=line, **more)
        if finding not in self._found:
            self._found.append(finding)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, in the order they were noticed."""
        return tuple(self._found)

    @property
    def failed(self) -> bool:
        """Whether there is an error among them."""
        return any(finding.severity is Severity.ERROR for finding in self._found)


def errors_of(findings: tuple[Finding, ...]) -> list[Finding]:
    """Only the errors."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def raise_first(findings: tuple[Finding, ...]) -> None:
    """Raise `InputError` for the first error, saying how many more there are; nothing when there is none."""
    errors = errors_of(findings)
    if not errors:
        return
    first, rest = errors[0], len(errors) - 1
    more = f"{rest} more error{'s' if rest > 1 else ''}; `assay lint` shows all." if rest else ""
    raise InputError(
        first.message,
        hint=" ".join(part for part in (first.remedy, more) if part) or None,
        file=first.file,
        json_path=first.json_path or None,
        line=first.line,
        found=first.found or None,
        expected=first.expected or None,
    )
