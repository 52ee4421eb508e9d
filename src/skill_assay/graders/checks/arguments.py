"""Arguments of a check, declared as the fields of its class and read strictly before anything is launched.

    @dataclass(frozen=True)
    class FileExists:
        path: str = argument(glob)
        min_bytes: int = argument(whole, default=1)

`read_arguments` builds such a class from what an author wrote, or raises `BadArgument` that says what is wrong with
which argument. What each reader accepts is in `graders.checks.readers`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from skill_assay.formats.suggest import did_you_mean
from skill_assay.graders.words import shown

__all__ = ["ABSENT", "Absent", "BadArgument", "Reader", "argument", "read_arguments"]

T = TypeVar("T")

Reader = Callable[[Any, Path | None], Any]
"""Turns what was written into what the check uses; given the evals folder too, for files that lie there."""


class Absent(Enum):
    """An argument that was not given, where `None` is a value like any other (survives pickling, as enums do)."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class BadArgument(Exception):
    """An argument that can't be used.

    Args:
        message: what is wrong.
        at: the argument's place below the check, as `.cell.row`.
    """

    def __init__(
        self,
        message: str,
        *,
        at: str = "",
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.at, self.found, self.expected, self.hint = message, at, found, expected, hint

    def below(self, at: str) -> BadArgument:
        """The same problem, seen from further up."""
        return BadArgument(self.message, at=at + self.at, found=self.found, expected=self.expected, hint=self.hint)


def argument(reader: Reader, *, name: str | None = None, default: Any = dataclasses.MISSING) -> Any:
    """A field of a check's class.

    Args:
        reader: reads its value.
        name: as authors write it, where Python keeps that word for itself.
        default: the value where it is not written; without one it must be.
    """
    return dataclasses.field(default=default, metadata={"reader": reader, "name": name})


def argument_names(kind: type) -> dict[str, dataclasses.Field[Any]]:
    """The arguments of a check's class by the names authors write."""
    fields = (field for field in dataclasses.fields(kind) if "reader" in field.metadata)
    return {field.metadata["name"] or field.name: field for field in fields}


def read_arguments(kind: Callable[..., T], written: Any, root: Path | None) -> T:
    """The check's class, filled.

    Args:
        kind: a dataclass whose fields were made by `argument`.
        written: a mapping of arguments, as an author wrote it.
        root: the evals folder.

    Raises:
        BadArgument: unknown, missing, of the wrong type, or unusable.
    """
    if not isinstance(written, Mapping):
        raise BadArgument("the arguments are not a mapping", found=shown(written), expected="an object")
    known = argument_names(kind)  # type: ignore[arg-type]
    for name in written:
        if name not in known:
            guess = did_you_mean(str(name), known)
            raise BadArgument(f"no argument is called {name!r}", hint=f"{guess}Arguments: {', '.join(known)}.")
    values = {}
    for name, field in known.items():
        if name in written and not (written[name] is None and field.default is None):
            values[field.name] = _read(field.metadata["reader"], written[name], root, f".{name}")
        elif field.default is dataclasses.MISSING:
            raise BadArgument(f"{name!r} is missing", hint=f"Arguments: {', '.join(known)}.")
    return kind(**values)


def _read(reader: Reader, value: Any, root: Path | None, at: str) -> Any:
    try:
        return reader(value, root)
    except BadArgument as error:
        raise error.below(at) from None
