"""A person's verdict on single expectations, from `feedback.json`: it stands above the judge's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skill_assay.formats.feedback import Feedback
from skill_assay.model.evals import Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.protocols import Ledger
from skill_assay.model.work import Work

__all__ = ["PersonGrader", "run_id"]


def run_id(run_folder: Path) -> str:
    """A run's id in feedback: its folder relative to the iteration, `/` replaced by `-`."""
    return "-".join(run_folder.parts[-3:])


@dataclass(slots=True)
class PersonGrader:
    """Implements `model.protocols.Grader`; it stands before the judge, after the machine's own checks."""

    feedback: Feedback
    name: str = "person"

    def covers(self, one: object) -> frozenset[int]:
        """Nothing is certain before there are trials."""
        return frozenset()

    async def grade(self, expectations: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for those a person has decided."""
        review = self.feedback.of(run_id(work.run_folder))
        if review is None:
            return {}
        said = f" They wrote: {review.feedback}" if review.feedback else ""
        when = f" at {review.timestamp}" if review.timestamp else ""
        decided = {one.index: one.passed for one in review.expectations}
        return {
            index: Grade(
                one.text,
                Decision.PASSED if decided[index] else Decision.FAILED,
                f"Decided by a person{when}.{said}",
                "person",
            )
            for index, one in expectations.items()
            if index in decided
        }
