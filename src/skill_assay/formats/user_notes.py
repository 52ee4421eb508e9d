"""`user_notes.md`: the doubts an agent leaves about its own work, asked for in the same words in every arm.

The question fixes three headings, so that the notes are summarised by reading them, without a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["NOTES_FILE", "NOTES_REQUEST", "summary_of_notes"]

NOTES_FILE = "user_notes.md"
"""In the working directory; it is no output and never graded."""

NOTES_REQUEST = f"""\
When you are done, write what you doubt about your own work to {NOTES_FILE} in the working directory: one point a \
line, each under the heading it belongs to: "# Uncertainties", "# Needs review" or "# Workarounds". Leave out a \
heading that you have nothing for; if you have no doubts, do not write the file. This file is not part of the task."""

_KEYS = {"uncertaint": "uncertainties", "need": "needs_review", "review": "needs_review", "workaround": "workarounds"}
_HEADING = re.compile(r"(?:#{1,6}\s*|\*\*)(?P<words>[^*\n]{1,80}?)(?:\*\*)?\s*:?\s*")
_POINT = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+")
_MOST_POINTS, _MOST_CHARACTERS = 20, 400


def summary_of_notes(text: str) -> Mapping[str, list[str]]:
    """The points of the notes as `user_notes_summary` of `grading.json`.

    Args:
        text: the whole file. A point is a line or a list item with the lines indented below it; what stands under no
            heading, or under one of another name, needs review. At most 20 points a heading, 400 characters each;
            what is left out is said in the last point.

    Returns:
        `uncertainties`, `needs_review` and `workarounds`, each a list that may be empty.
    """
    found: dict[str, list[str]] = {"uncertainties": [], "needs_review": [], "workarounds": []}
    key = "needs_review"
    for line in text.splitlines():
        words = line.strip()
        heading = _HEADING.fullmatch(words)
        if heading:
            key = _key_of(heading["words"])
        elif words and line[:1].isspace() and found[key] and not _POINT.match(words):
            found[key][-1] += f" {words}"
        elif words:
            found[key].append(_POINT.sub("", words, count=1))
    return {name: _bounded(points) for name, points in found.items()}


def _key_of(heading: str) -> str:
    words = heading.lower()
    return next((key for stem, key in _KEYS.items() if stem in words), "needs_review")


def _bounded(points: list[str]) -> list[str]:
    kept = [one if len(one) <= _MOST_CHARACTERS else one[: _MOST_CHARACTERS - 1] + "…" for one in points[:_MOST_POINTS]]
    left = len(points) - len(kept)
    return [*kept, f"and {left} more in {NOTES_FILE}"] if left else kept
