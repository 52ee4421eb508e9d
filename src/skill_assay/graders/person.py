"""A person's verdict on single expectations, from `feedback.json`: it stands above the judge's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skill_assay.formats.feedback import Feedback, run_id
from skill_assay.model.evals import Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.protocols import Ledger
from skill_assay.model.work import Work

__all__ = ["PersonGrader"]


@dataclass(frozen=True, slots=True)
class PersonGrader:
    """Implements `model.protocols.Grader`; it stands before the judge, after the machine's own checks."""

    feedback: Feedback
    name: str = "person"

    def covers(self, one: object) -> frozenset[int]:
        """Nothing is certain before there are trials."""
        return frozenset()

    async def grade(self, expectations: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for those a person has decided."""
        review = self.feedback.reviews.get(run_id(work.run_folder))
        if review is None:
            return {}
        said = f" They wrote: {review.feedback}" if review.feedback else ""
        return {
            index: Grade(
                one.text,
                Decision.PASSED if review.expectations[index] else Decision.FAILED,
                f"Decided by a person{f' at {review.timestamp}' if review.timestamp else ''}.{said}",
                "person",
            )
            for index, one in expectations.items()
            if index in review.expectations
        }
