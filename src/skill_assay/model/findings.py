"""What a reader of somebody's file noticed: one idea a finding, with its place and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "Severity"]


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """The file can't be used as it is."""
    WARNING = "warning"
    """It can be used, and is likely not what was meant."""
    INFO = "info"
    """Something was repaired or understood in an unusual way."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing noticed in a file."""

    severity: Severity
    rule: str
    """A short stable name, as `duplicate-id`; documented in docs/reference/lint.md."""
    message: str
    """What was found and what was expected."""
    remedy: str = ""
    """What to do about it."""
    file: str = ""
    json_path: str = ""
    line: int | None = None
    found: str = ""
    """What stood there, shortened."""
    expected: str = ""
