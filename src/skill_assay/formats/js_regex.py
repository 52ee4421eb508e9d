"""Regular expressions of JavaScript as Python's, and the other way, where both can say the same.

What neither reading changes: `\\d`, `\\w` and `\\s` know more scripts in Python.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

__all__ = ["compiles", "from_js", "to_js"]

_TOKEN = re.compile(
    r"\\k<\w+>|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.|\(\?=\\n\?\$\)|\(\?P<|\(\?P=\w+\)|\(\?<(?![=!])|.", re.DOTALL
)
_END = r"(?=\n?$)"
"""How JavaScript says what `$` is in Python: the end, or before a line end that is the last character."""
_ONLY_PYTHON = re.compile(r"\(\?(?:#|\(|>|P>|[aiLmsux]*-?[imsx]*[:)])(?<!\(\?:)|[*+?}]\+|\{,\d+\}")
_SAME_LETTERS = frozenset("dDwWsSbBnrtfv123456789")


def compiles(pattern: str) -> bool:
    """Whether Python takes it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def from_js(pattern: str, flags: str = "") -> str | None:
    """The Python form of a JavaScript pattern; `None` where Python has none.

    Args:
        pattern: what stands between the slashes.
        flags: its letters; `m` decides what `$` means.
    """
    written: list[str] = []
    for token, in_class in _tokens(pattern, js=True):
        form = _python(token, in_class, "m" in flags)
        if form is None:
            return None
        written.append(form)
    found = "".join(written)
    return found if compiles(found) else None


def to_js(pattern: str, flags: str = "") -> str | None:
    """The JavaScript form of a Python pattern; `None` where JavaScript has none, or it would mean something else."""
    plain = "".join("_" if token[0] == "\\" or in_class else token for token, in_class in _tokens(pattern, js=False))
    if _ONLY_PYTHON.search(plain) or re.search(r"(?<!\\)\[\^?\]", pattern) or not compiles(pattern):
        return None
    written: list[str] = []
    for token, in_class in _tokens(pattern, js=False):
        form = _javascript(token, in_class, "m" in flags)
        if form is None:
            return None
        written.append(form)
    found = "".join(written)
    return found if from_js(found, flags) == pattern else None


def _tokens(pattern: str, *, js: bool) -> Iterator[tuple[str, bool]]:
    """The parts, each with whether it stands in a class; `[]` and `[^]` are whole parts in JavaScript."""
    at, in_class = 0, False
    while at < len(pattern):
        if not in_class and js and (whole := re.compile(r"\[\^?\]").match(pattern, at)):
            yield whole[0], False
            at = whole.end()
            continue
        found = _TOKEN.match(pattern, at)
        token = found[0] if found and (not in_class or pattern[at] == "\\") else pattern[at]
        if in_class and token.startswith("\\k"):
            token = token[:2]
        if not js and token == _END:
            token = "("
        yield token, in_class
        at += len(token)
        if token == "[" and not in_class:
            in_class = True
            if not js and (first := re.compile(r"\^?\]").match(pattern, at)):
                yield first[0], True
                at = first.end()
        elif token == "]":
            in_class = False


def _python(token: str, in_class: bool, lines: bool) -> str | None:
    if token.startswith("\\"):
        return _python_escape(token, in_class)
    if in_class:
        return token
    if token == _END and lines:
        return token
    if token == "$" and not lines:
        return r"\Z"
    return {"(?<": "(?P<", "[^]": r"[\s\S]", "[]": "(?!)", _END: "$"}.get(token, token)


def _python_escape(token: str, in_class: bool) -> str | None:
    if token.startswith("\\k<") and not in_class:
        return f"(?P={token[3:-1]})"
    letter = token[1:2]
    if letter in ("p", "P", "c", "") or token in ("\\x", "\\u", "\\k"):
        return None
    if token == "\\0":
        return r"\x00"
    known = not letter.isalnum() or letter in _SAME_LETTERS or len(token) > 2
    return token if known else letter


def _javascript(token: str, in_class: bool, lines: bool) -> str | None:
    if token.startswith("\\"):
        if token == r"\Z" and not in_class and not lines:
            return "$"
        letter = token[1:2]
        known = bool(letter) and (not letter.isalnum() or letter in _SAME_LETTERS or len(token) > 2)
        return token if known and not token.startswith("\\k") else None
    if in_class:
        return token
    if token.startswith("(?P="):
        return f"\\k<{token[4:-1]}>"
    if token == "$" and not lines:
        return _END
    return {"(?P<": "(?<"}.get(token, token)
