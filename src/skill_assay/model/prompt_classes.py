"""The four classes of prompts by which a skill's triggering is told apart: by its name, by the task, in context, not.

They are kept as tags, so that `--tag implicit` and every table by tag hold for them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["CLASSES", "EXPLICIT", "NEGATIVE", "calls_by_name", "class_of", "class_word"]

EXPLICIT, NEGATIVE = "explicit", "negative-control"
CLASSES = (EXPLICIT, "implicit", "contextual", NEGATIVE)
"""Names the skill; describes the task without naming it; the same amid other matters; should not use it."""

_WORDS = {
    "explicit": EXPLICIT,
    "implicit": "implicit",
    "contextual": "contextual",
    "context": "contextual",
    "negative": NEGATIVE,
    "negative control": NEGATIVE,
    "control": NEGATIVE,
}
_CALL = re.compile(r"(?<![\w$\\])\$([A-Za-z0-9][A-Za-z0-9_:-]*)", re.ASCII)


def class_word(text: str) -> str | None:
    """The class that an author's word stands for (`Implicit invocation`, `negative_control`); `None`: none."""
    words = " ".join(re.split(r"[\s_-]+", text.strip().lower()))
    for ending in (" invocation", " prompt", " trigger"):
        words = words.removesuffix(ending)
    return _WORDS.get(words)


def class_of(tags: Iterable[str]) -> str | None:
    """The class among the tags."""
    return next((tag for tag in tags if tag in CLASSES), None)


def calls_by_name(prompt: str, names: Iterable[str | None] = ()) -> bool:
    """Whether the prompt calls a skill as Codex is told to, by `$name`.

    Args:
        prompt: the prompt.
        names: those of the skill asked about; without any, a call of whatever skill counts.
    """
    called = {name.rstrip("-_:") for name in _CALL.findall(prompt)}
    asked = {name for name in names if name}
    # A price or a variable of the environment is no skill's name.
    return bool(called & asked) if asked else any(name.islower() for name in called)
