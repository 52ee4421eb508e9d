"""What a check says when no file it names is among the outputs."""

from __future__ import annotations

from skill_assay.graders.checks.verdict import Verdict, nothing, unknown
from skill_assay.graders.outputs import matching, seen
from skill_assay.graders.words import listed
from skill_assay.model.work import Work

__all__ = ["absent"]


def absent(work: Work, pattern: str) -> Verdict:
    """A fail that lists what is there; undecided where the agent left such a file and it could not be kept."""
    left = matching(tuple(work.omitted), pattern)
    if left:
        names = listed(f"{name} ({work.omitted[name]:,} bytes)" for name in left)
        return unknown(f"{names} was left by the agent but could not be kept, so it can't be looked into.")
    return nothing(f"No file matches {pattern}. {seen(work.files)}")
