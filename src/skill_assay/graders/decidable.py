"""What can be decided at all, known before anything is launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.graders.activation import is_activation
from skill_assay.model.evals import Eval, EvalSet

__all__ = ["Undecidable", "undecidable"]


@dataclass(frozen=True, slots=True)
class Undecidable:
    """The evals whose trials could not be scored."""

    evals: tuple[tuple[str, str], ...]
    """Id and reason of each."""
    all: bool
    """Whether these are all there are, so that nothing should be launched."""


def undecidable(evals: EvalSet, graders: Sequence[Any], skill_name: str | None = None) -> Undecidable:
    """The evals in which no expectation that counts can be decided by any of the graders.

    Args:
        evals: the evals of a run.
        graders: those the run will use. One without a `covers(eval)` method is taken to decide everything (a judge).
        skill_name: the skill under test.

    Raises:
        InputError: `evals/checks.py` can't be read.
    """
    pairs = ((one.id, _reason(one, graders, skill_name or evals.skill_name)) for one in evals.evals)
    found = tuple((name, reason) for name, reason in pairs if reason)
    return Undecidable(found, all=len(found) == len(evals.evals))


def _reason(one: Eval, graders: Sequence[Any], skill_name: str | None) -> str | None:
    if not one.expectations:
        return "it has no expectations"
    decided = frozenset[int]().union(*(_covered(grader, one) for grader in graders))
    if not decided:
        return "none of its expectations has a check or a function in evals/checks.py"
    counting = [index for index in decided if _counts(one, index, skill_name)]
    return None if counting else "all that can be decided in it is informative or about activation"


def _covered(grader: Any, one: Eval) -> frozenset[int]:
    covers = getattr(grader, "covers", None)
    return frozenset(covers(one)) if covers else frozenset(range(len(one.expectations)))


def _counts(one: Eval, index: int, skill_name: str | None) -> bool:
    expectation = one.expectations[index]
    return expectation.severity == "required" and not is_activation(expectation, skill_name)
