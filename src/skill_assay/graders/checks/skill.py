"""`skill_used`: whether a skill reached the agent. Reported under activation, never in the pass rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skill_assay.graders.checks.arguments import argument
from skill_assay.graders.checks.readers import flag, text
from skill_assay.graders.checks.verdict import Verdict, said, unknown
from skill_assay.graders.words import listed
from skill_assay.model.transcript import SkillUse
from skill_assay.model.work import Work

__all__ = ["SkillUsed"]


@dataclass(frozen=True)
class SkillUsed:
    """The skill under test, or the one named, was in fact used (or was not)."""

    kind: ClassVar = "skill_used"
    name: str | None = argument(text, default=None)
    expected: bool = argument(flag, default=True)

    async def decide(self, work: Work) -> Verdict:
        """Names are compared whole: `pdf` is neither `report.pdf` nor `plugin:pdf`."""
        uses = [event for event in work.events if isinstance(event, SkillUse) and event.confirmed]
        used = self._used(work, uses)
        if used is None:
            return unknown("The agent leaves no sign of the skills it uses.")
        name = self.name or work.skill_name or "the skill"
        others = f" Skills used: {listed(dict.fromkeys(use.name for use in uses))}." if uses else " No skill was used."
        return said(used is self.expected, f"{name} was {'' if used else 'not '}used.{others}")

    def _used(self, work: Work, uses: list[SkillUse]) -> bool | None:
        if self.name is None or self.name == work.skill_name:
            return work.skill_used
        if any(use.name == self.name for use in uses):
            return True
        return None if work.skill_used is None else False
