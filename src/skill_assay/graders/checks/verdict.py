"""What a check answers: yes or no, or why it can be neither."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skill_assay.model.grade import Decision, Evidence

__all__ = ["Answer", "Verdict", "broken", "nothing", "said", "unknown"]


class Answer(StrEnum):
    """The five things a check can say. Only the first two are turned round by `not`."""

    YES = "yes"
    NO = "no"
    NOTHING = "nothing"
    """What it should look at is not there, so it fails, inside a `not` as well: absence is never a vacuous pass."""
    UNKNOWN = "unknown"
    """It can't be known here (a meter the agent does not report): ungraded."""
    BROKEN = "broken"
    """The check itself failed: an error, never a mark against the agent."""


_DECISIONS = {
    Answer.YES: Decision.PASSED,
    Answer.NO: Decision.FAILED,
    Answer.NOTHING: Decision.FAILED,
    Answer.UNKNOWN: Decision.UNGRADED,
    Answer.BROKEN: Decision.ERROR,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer and what was seen, in plain words that read alike inside a `not`."""

    answer: Answer
    evidence: str
    places: tuple[Evidence, ...] = ()

    @property
    def decision(self) -> Decision:
        """What it means for the expectation."""
        return _DECISIONS[self.answer]

    @property
    def passed(self) -> bool | None:
        """True for yes, false for no; `None` for everything that is neither."""
        return {Answer.YES: True, Answer.NO: False}.get(self.answer)

    def negated(self) -> Verdict:
        """The verdict of `{"not": …}` around it."""
        if self.answer is Answer.YES:
            return Verdict(Answer.NO, f"Should not be so, but is: {self.evidence}", self.places)
        if self.answer is Answer.NO:
            return Verdict(Answer.YES, f"Not so, as it should be: {self.evidence}", self.places)
        return self


def said(yes: bool, evidence: str, places: tuple[Evidence, ...] = ()) -> Verdict:
    """A plain yes or no."""
    return Verdict(Answer.YES if yes else Answer.NO, evidence, places)


def nothing(evidence: str) -> Verdict:
    """What it should look at is not there."""
    return Verdict(Answer.NOTHING, evidence)


def unknown(evidence: str) -> Verdict:
    """It can't be known here."""
    return Verdict(Answer.UNKNOWN, evidence)


def broken(evidence: str) -> Verdict:
    """The check itself failed."""
    return Verdict(Answer.BROKEN, evidence)
