"""From the call of a skill to the proof that its text reached the agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skill_assay.agents.skill_reads import Readers, SkillReads
from skill_assay.model.transcript import SkillUse, ToolCall, ToolResult

__all__ = ["BODY", "READERS", "SkillCalls"]

BODY = "Base directory for this skill:"
"""How the message begins that carries a skill's text."""

READERS = Readers((".claude/skills",), {"Read": "file_path"}, ("Bash",))


class SkillCalls:
    """Follows calls of the Skill tool and reads of SKILL.md; each is told once, when it is decided.

    Args:
        work: the working directory, below which the installed skills lie.
        home: the home folder.
    """

    def __init__(self, work: str, home: str) -> None:
        self._reads = SkillReads(work, home, READERS)
        self._open: dict[str, SkillUse] = {}

    def called(self, call: ToolCall) -> None:
        """Note a call; alone it proves nothing."""
        if call.name != "Skill":
            self._reads.called(call)
            return
        name = str(call.input.get("skill") or call.input.get("command") or "").strip().removeprefix("/")
        self._open[call.id] = SkillUse(name, "tool", confirmed=False, call_id=call.id, parent=call.parent)

    def answered(self, result: ToolResult, succeeded: bool) -> Iterator[SkillUse]:
        """What a result decides: refused, succeeded, or left to the skill's text."""
        use = self._open.get(result.call_id)
        if use is None:
            yield from self._reads.answered(result)
        elif result.is_error or succeeded:
            yield self._decide(use, confirmed=not result.is_error)

    def text_came(self, text: str, parent: str | None) -> Iterator[SkillUse]:
        """A skill's text came: it belongs to a call of the same (sub-)agent, or that began this sub-agent."""
        folder = text[len(BODY) :].split("\n", 1)[0].strip().replace("\\", "/").rstrip("/").rpartition("/")[2]
        waiting = [use for use in self._open.values() if parent in (use.parent, use.call_id)]
        named = [use for use in waiting if use.name.rpartition(":")[2] == folder]
        # The folder's name and the declared one may differ; a lone call can only be meant.
        if named or len(waiting) == 1:
            yield self._decide((named or waiting)[0], confirmed=True)

    def _decide(self, use: SkillUse, *, confirmed: bool) -> SkillUse:
        self._open.pop(str(use.call_id))
        return replace(use, confirmed=confirmed)
