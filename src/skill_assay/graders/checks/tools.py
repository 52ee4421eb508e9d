"""`tool_called`, `tool_not_called`, `tool_order`: the tools the agent called, sub-agents included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.arguments import BadArgument, argument, read_arguments
from skill_assay.graders.checks.readers import Root, list_of, regex, text, whole
from skill_assay.graders.checks.verdict import Verdict, said, unknown
from skill_assay.graders.texts import input_text
from skill_assay.graders.words import counted, listed, shortened
from skill_assay.model.transcript import Started, ToolCall
from skill_assay.model.work import Work

__all__ = ["Step", "ToolCalled", "ToolNotCalled", "ToolOrder", "calls_of", "matched"]


@dataclass(frozen=True)
class Step:
    """A call of a tool (its whole name, or a pattern as `mcp__files__*`) with an input that matches."""

    tool: str = argument(text)
    input_matches: str | None = argument(regex, default=None)

    def __str__(self) -> str:
        given = f" with input /{shortened(self.input_matches, 60)}/" if self.input_matches else ""
        return f"{self.tool}{given}"

    async def fits(self, calls: Sequence[ToolCall]) -> list[bool]:
        """Which of the calls are such a one."""
        named = [fnmatchcase(call.name, self.tool) for call in calls]
        if self.input_matches is None or not any(named):
            return named
        inputs = [input_text(call.input) if hit else None for call, hit in zip(calls, named, strict=True)]
        return await bounded(matched, self.input_matches, inputs)


def matched(pattern: str, inputs: Sequence[str | None]) -> list[bool]:
    """Which of the texts the pattern matches somewhere; runs in a worker process."""
    compiled = re.compile(pattern)
    return [given is not None and compiled.search(given) is not None for given in inputs]


def calls_of(work: Work) -> tuple[list[ToolCall], Verdict | None]:
    """The tool calls in order; or the verdict that this agent does not show them."""
    calls = [event for event in work.events if isinstance(event, ToolCall)]
    shows_tools = bool(calls) or any(isinstance(event, Started) for event in work.events)
    return calls, None if shows_tools else unknown("The transcript does not show which tools were called.")


def called(calls: Sequence[ToolCall]) -> str:
    """What was called, for evidence."""
    return f"Called: {listed(dict.fromkeys(call.name for call in calls))}." if calls else "No tool was called."


@dataclass(frozen=True)
class ToolCalled(Step):
    """The tool was called so many times."""

    kind: ClassVar = "tool_called"
    min: int = argument(whole, default=1)
    max: int | None = argument(whole, default=None)

    def __post_init__(self) -> None:
        if self.max is not None and self.max < self.min:
            raise BadArgument(f"no number is at least {self.min} and at most {self.max}")

    async def decide(self, work: Work) -> Verdict:
        """Counts the calls that fit."""
        calls, verdict = calls_of(work)
        if verdict:
            return verdict
        count = sum(await self.fits(calls))
        yes = count >= self.min and (self.max is None or count <= self.max)
        return said(yes, f"{Step.__str__(self)} was called {counted(count, 'time')}. {called(calls)}")


@dataclass(frozen=True)
class ToolNotCalled(ToolCalled):
    """The opposite of `tool_called` with the same arguments."""

    kind: ClassVar = "tool_not_called"

    async def decide(self, work: Work) -> Verdict:
        """Yes where `tool_called` says no."""
        there = await super().decide(work)
        return there if there.passed is None else said(not there.passed, there.evidence, there.places)


def step_reader(value: Any, root: Root) -> Step:
    """A tool's name, or `{tool, input_matches}`."""
    return read_arguments(Step, {"tool": value} if isinstance(value, str) else value, root)


@dataclass(frozen=True)
class ToolOrder:
    """The tools were called in this order, other calls between them allowed."""

    kind: ClassVar = "tool_order"
    tools: tuple[Step, ...] = argument(list_of(step_reader))

    async def decide(self, work: Work) -> Verdict:
        """Takes the earliest call that fits each step."""
        calls, verdict = calls_of(work)
        if verdict:
            return verdict
        at = 0
        for number, step in enumerate(self.tools, 1):
            fits = await step.fits(calls)
            hit = next((index for index in range(at, len(calls)) if fits[index]), None)
            if hit is None:
                before = f" after {self.tools[number - 2]}" if number > 1 else ""
                order = listed((call.name for call in calls), 20)
                return said(False, f"Step {number}, {step}, did not come{before}. Calls in order: {order or 'none'}.")
            at = hit + 1
        return said(True, f"Called in this order: {listed(map(str, self.tools))}.")
