"""From expectations to grades: each grader in turn takes those it can decide; what is left over is ungraded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from skill_assay.errors import IncompleteError
from skill_assay.graders.activation import is_activation
from skill_assay.graders.words import shortened
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.grade import Decision, Grade, GraderName
from skill_assay.model.protocols import Grader, Ledger
from skill_assay.model.work import Work

__all__ = ["UNGRADED", "grade_all"]

UNGRADED = "Ungraded:"
"""How the evidence of everything undecided begins."""

_NAMES: Mapping[str, GraderName] = {"check": "check", "script": "script", "program": "script", "judge": "judge"}


async def grade_all(one: Eval, work: Work, graders: Sequence[Grader], ledger: Ledger) -> tuple[Grade, ...]:
    """A grade for every expectation of an eval, in order.

    Args:
        one: the eval.
        work: what a trial of it left behind.
        graders: asked in this order; each is handed what none before it decided.
        ledger: for money and the journal.
    """
    left = dict(enumerate(one.expectations))
    grades: dict[int, Grade] = {}
    for grader in graders:
        if not left:
            break
        found = await _ask(grader, left, work, ledger)
        grades.update({index: grade for index, grade in found.items() if index in left})
        left = {index: expectation for index, expectation in left.items() if index not in grades}
    grades.update({index: _undecided(expectation) for index, expectation in left.items()})
    name = work.skill_name
    return tuple(_settled(grades[index], one.expectations[index], name) for index in range(len(one.expectations)))


async def _ask(grader: Grader, left: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
    try:
        return await grader.grade(left, work, ledger)
    except IncompleteError:
        # A cap was reached: what is stored can be graded later, so nothing is decided now.
        raise
    except Exception as error:
        return _failed(grader, left, work, error)


def _failed(grader: Grader, left: Mapping[int, Expectation], work: Work, error: Exception) -> dict[int, Grade]:
    """An error for those the grader was meant to decide; the others go on to the next."""
    evidence = f"the grader {grader.name} failed: {type(error).__name__}: {shortened(str(error), 300)}"
    name = _NAMES.get(grader.name, "none")
    return {
        index: Grade(expectation.text, Decision.ERROR, evidence, name, expectation.severity)
        for index, expectation in left.items()
        if index in _meant(grader, work.eval, left)
    }


def _meant(grader: Grader, one: Eval, left: Mapping[int, Expectation]) -> Collection[int]:
    """Those it was meant to decide, as far as it still can say; else all."""
    covers = getattr(grader, "covers", None)
    try:
        meant: Collection[int] = covers(one) if covers else left
        return meant
    except Exception:
        return left


def _undecided(expectation: Expectation) -> Grade:
    evidence = f"{UNGRADED} nothing here can decide it; add a check, or a function in evals/checks.py."
    return Grade(expectation.text, Decision.UNGRADED, evidence, "none", expectation.severity)


def _settled(grade: Grade, expectation: Expectation, skill_name: str | None) -> Grade:
    """The grade with what holds of every grade: evidence for a pass, and whether it counts."""
    decision, evidence = grade.decision, grade.evidence.strip()
    if decision is Decision.PASSED and not evidence:
        decision, evidence = Decision.ERROR, "it was passed without any evidence"
    if decision in (Decision.UNGRADED, Decision.ERROR) and not evidence.startswith(UNGRADED):
        evidence = f"{UNGRADED} {evidence or 'no reason was given'}"
    decided = decision in (Decision.PASSED, Decision.FAILED)
    counted = decided and expectation.severity == "required" and not is_activation(expectation, skill_name)
    evidence = evidence or "No evidence was given."
    return replace(grade, decision=decision, evidence=evidence, counted=counted, severity=expectation.severity)
