"""Follows calls of a tool that opens a skill, and reads of SKILL.md beside it; each use is told once, when decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skill_assay.agents.skill_reads import Readers, SkillReads
from skill_assay.model.transcript import SkillUse, ToolCall, ToolResult

__all__ = ["SkillTool"]


class SkillTool:
    """For agents whose tool result says whether the skill was opened.

    Args:
        tool: the tool's name.
        argument: its argument that names the skill.
        work: the working directory as the agent sees it.
        home: its HOME.
        readers: how it reads files.
    """

    def __init__(self, tool: str, argument: str, work: str, home: str, readers: Readers) -> None:
        self._tool, self._argument = tool, argument
        self._reads = SkillReads(work, home, readers)
        self._open: dict[str, SkillUse] = {}

    def called(self, call: ToolCall) -> None:
        """Note a call; alone it proves nothing."""
        if call.name != self._tool:
            self._reads.called(call)
            return
        name = str(call.input.get(self._argument) or "").strip().removeprefix("/")
        self._open[call.id] = SkillUse(name, "tool", confirmed=False, call_id=call.id, parent=call.parent)

    def answered(self, result: ToolResult) -> Iterator[SkillUse]:
        """What a result decides."""
        use = self._open.pop(result.call_id, None)
        if use is None:
            yield from self._reads.answered(result)
        else:
            yield replace(use, confirmed=not result.is_error)
