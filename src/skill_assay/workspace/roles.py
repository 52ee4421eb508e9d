"""Which arm is the skill's and which the baseline, where only names can tell. Never by sort order.

`old_skill` sorts before `with_skill`, so an order of names once flipped the sign of the difference; here every name
has its role in a table, and what the table does not know is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from skill_assay.errors import InputError
from skill_assay.model.benchmark import FoundArm

__all__ = ["is_arm", "normal", "roles"]

_PRIMARY = ("with_skill", "with_skills", "new_skill", "claude_with_skill", "skill", "treatment", "candidate", "with")
_BASELINE = (
    "without_skill",
    "without_skills",
    "old_skill",
    "no_skill",
    "no_skills",
    "baseline",
    "bare",
    "control",
    "without",
    "with_skill_again",
)
_PRIMARY_LIKE = re.compile(r"(^|_)(with|new)_skills?(_|$)")
_BASELINE_LIKE = re.compile(r"(^|_)((without|no|old|previous|prior)_skills?|baseline)(_|$)")


def normal(name: str) -> str:
    """`With Skills`, `with-skills` and `with_skills` are one name."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def is_arm(name: str) -> bool:
    """Whether a folder's name is that of an arm."""
    return _rank(name) is not None


def roles(names: Iterable[str], primary: str | None = None, baseline: str | None = None) -> tuple[FoundArm, ...]:
    """The arms, the primary first, then the baseline, then the others.

    Rules, in order: what the caller names; the name's place in the tables above (names that merely contain such a
    word come after); of two arms of which one is known, the other has the other role; a single arm is the primary.

    Args:
        names: the arms found.
        primary: the name of the arm whose worth is asked, if the user says so.
        baseline: likewise.

    Raises:
        InputError: the user's name is not there, or no rule applies.
    """
    found = sorted(set(names))
    for asked in filter(None, (primary, baseline)):
        if asked not in found:
            raise InputError("no such arm", found=repr(asked), expected=" or ".join(found) or "an arm")
    rest = [name for name in found if name not in (primary, baseline)]
    primary = primary or _best(rest, "primary")
    rest = [name for name in rest if name != primary]
    baseline = baseline or _best(rest, "baseline")
    rest = [name for name in rest if name != baseline]
    if primary is None and len(rest) == 1:
        primary = rest.pop()
    elif baseline is None and len(rest) == 1 and primary is not None:
        baseline = rest.pop()
    elif primary is None and not rest and baseline is not None:
        primary, baseline = baseline, None
    if primary is None:
        raise InputError(
            "can't tell which arm has the skill",
            found=", ".join(found),
            hint="Say it: --primary ARM --baseline ARM",
        )
    arms = [FoundArm(primary, "primary", guessed=True)]
    arms += [FoundArm(baseline, "baseline", guessed=True)] if baseline else []
    return (*arms, *(FoundArm(name, "other", guessed=True) for name in rest))


def _rank(name: str) -> tuple[str, int] | None:
    plain = normal(name)
    if plain in _PRIMARY:
        return "primary", _PRIMARY.index(plain)
    if plain in _BASELINE:
        return "baseline", _BASELINE.index(plain)
    if _BASELINE_LIKE.search(plain):
        return "baseline", len(_BASELINE)
    if _PRIMARY_LIKE.search(plain):
        return "primary", len(_PRIMARY)
    return None


def _best(names: list[str], role: str) -> str | None:
    ranked = [(rank[1], name) for name in names if (rank := _rank(name)) and rank[0] == role]
    return min(ranked)[1] if ranked else None
