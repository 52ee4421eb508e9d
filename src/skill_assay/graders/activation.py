"""Checks that only an arm holding the skill can pass, or only one without it.

Such a check measures that the skill was picked up, not that it helped. Inside the score it would be an effect by
construction, so it is reported under activation and never enters the pass rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from skill_assay.model.evals import Check, Expectation

__all__ = ["SKILL_TOOLS", "activation_reason", "is_activation", "is_activation_check"]

SKILL_TOOLS = ("Skill", "skill", "activate_skill")
"""The tools by which agents open a skill."""

_TOOL_KINDS = ("tool_called", "tool_not_called", "tool_order")


def is_activation(expectation: Expectation, skill_name: str | None = None) -> bool:
    """Whether one of its checks is about activation: then the whole can be passed by one arm only."""
    return any(is_activation_check(check, skill_name) for check in expectation.checks)


def is_activation_check(check: Check, skill_name: str | None = None) -> bool:
    """Whether a check is about activation."""
    return activation_reason(check, skill_name) is not None


def activation_reason(check: Check, skill_name: str | None = None) -> str | None:
    """Why a check is about activation, in words for a person; `None` when it is not."""
    if check.kind == "skill_used":
        return "it asks whether a skill was used"
    if check.kind in _TOOL_KINDS:
        for tool, pattern in _steps(check.arguments):
            if any(fnmatchcase(name, tool) for name in SKILL_TOOLS):
                return f"only an arm that holds a skill can call the tool {tool}"
            if _names_skill(pattern, skill_name):
                return "only an arm that holds the skill can call a tool with its files"
    if check.kind == "command_ran" and _names_skill(str(check.arguments.get("pattern") or ""), skill_name):
        return "only an arm that holds the skill can run a command on its files"
    return None


def _steps(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    tools = arguments.get("tools", [arguments])
    for step in tools if isinstance(tools, list | tuple) else [tools]:
        if isinstance(step, str):
            yield step, ""
        elif isinstance(step, Mapping):
            # A pattern for every tool is about the input, not about the skill tool.
            tool = str(step.get("tool", ""))
            yield ("" if set(tool) <= {"*"} else tool), str(step.get("input_matches") or "")


def _names_skill(pattern: str, skill_name: str | None) -> bool:
    """Whether a regular expression names a SKILL.md or the installed skill's folder."""
    plain = re.sub(r"\\(.)", r"\1", pattern)
    if re.search(r"SKILL\.?md|CLAUDE_SKILL_DIR", plain, re.IGNORECASE):
        return True
    return skill_name is not None and f"skills/{skill_name}" in plain
