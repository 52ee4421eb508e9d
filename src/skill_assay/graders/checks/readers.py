"""What an argument may be: one reader a type. Each returns the value to use or raises `BadArgument`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skill_assay.formats.suggest import did_you_mean
from skill_assay.graders.checks.arguments import BadArgument, Reader
from skill_assay.graders.outputs import bad_glob
from skill_assay.graders.words import shown

__all__ = [
    "anything",
    "choice",
    "evals_file",
    "flag",
    "glob",
    "json_query",
    "list_of",
    "mapping",
    "number",
    "regex",
    "regex_flags",
    "text",
    "whole",
]

Root = Path | None


def _wrong(value: Any, expected: str) -> BadArgument:
    return BadArgument("this is not what is expected here", found=shown(value), expected=expected)


def anything(value: Any, _root: Root) -> Any:
    """Any JSON value."""
    return value


def text(value: Any, _root: Root) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise _wrong(value, "a text, not empty")
    return value


def flag(value: Any, _root: Root) -> bool:
    """True or false, nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise _wrong(value, "true or false")
    return value


def number(value: Any, _root: Root) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) == float("inf"):
        raise _wrong(value, "a number")
    return value


def whole(value: Any, _root: Root) -> int:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong(value, "a whole number from 0")
    return value


def mapping(value: Any, _root: Root) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise _wrong(value, "an object")
    return value


def choice(*options: str) -> Reader:
    """One of a few words."""

    def read(value: Any, _root: Root) -> str:
        if value not in options or not isinstance(value, str):
            guess = did_you_mean(value, options) if isinstance(value, str) else ""
            raise BadArgument(
                "there is no such choice", found=shown(value), expected=" or ".join(options), hint=guess.strip() or None
            )
        return value

    return read


def list_of(reader: Reader, *, single: bool = False) -> Reader:
    """A list, not empty, each read by `reader`; with `single` one of them may stand alone."""

    def read(value: Any, root: Root) -> tuple[Any, ...]:
        if single and not isinstance(value, list):
            return (reader(value, root),)
        if not isinstance(value, list) or not value:
            raise _wrong(value, "a list, not empty")
        read_items = []
        for index, item in enumerate(value):
            try:
                read_items.append(reader(item, root))
            except BadArgument as error:
                raise error.below(f"[{index}]") from None
        return tuple(read_items)

    return read


def glob(value: Any, root: Root) -> str:
    """A pattern for files below the outputs."""
    pattern = text(value, root)
    problem = bad_glob(pattern)
    if problem:
        raise BadArgument(
            "a pattern names files below the outputs", found=f"{problem}: {shown(pattern)}", expected="as report.md"
        )
    return pattern


def regex(value: Any, root: Root) -> str:
    """A regular expression of Python's."""
    pattern = text(value, root)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadArgument(f"not a regular expression: {error}", found=shown(pattern)) from None
    return pattern


_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}


def regex_flags(value: Any, _root: Root) -> int:
    """Letters, as `im`."""
    if not isinstance(value, str) or set(value) - set(_FLAGS):
        raise _wrong(value, 'letters out of "imsxa"')
    flags = re.NOFLAG
    for letter in value:
        flags |= _FLAGS[letter]
    return int(flags)


def json_query(value: Any, root: Root) -> str:
    """A JSON path by RFC 9535."""
    import jsonpath

    query = text(value, root)
    try:
        jsonpath.compile(query, strict=True)
    except (jsonpath.JSONPathError, RecursionError) as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadArgument(f"not a JSON path: {problem}", found=shown(query), expected="as $.scenes[0].title") from None
    return query


def evals_file(value: Any, root: Root) -> Path:
    """A file in the evals folder, by its path relative to that folder (with or without `evals/` before it)."""
    written = text(value, root)
    if root is None:
        raise BadArgument("there is no evals folder this file could lie in", found=shown(written))
    if bad_glob(written):
        raise BadArgument(
            "the path leaves the evals folder", found=shown(written), expected="a path relative to evals/, with /"
        )
    candidates = [root / written] + ([root.parent / written] if written.startswith(f"{root.name}/") else [])
    for path in candidates:
        if path.is_file():
            return _inside(path, root, written)
    raise BadArgument("there is no such file in the evals folder", found=shown(written), hint=_beside(root))


def _inside(path: Path, root: Path, written: str) -> Path:
    resolved = path.resolve()
    if not resolved.is_relative_to(root.resolve()):
        raise BadArgument("the path leaves the evals folder by a link", found=shown(written))
    return resolved


def _beside(root: Path, limit: int = 10) -> str:
    names: Sequence[str] = sorted(entry.name for entry in root.iterdir()) if root.is_dir() else ()
    return f"It holds: {', '.join(names[:limit])}." if names else "It is empty."
