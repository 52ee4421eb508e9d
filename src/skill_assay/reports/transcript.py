"""A transcript for a person: the events of one attempt as Markdown.

Whatever the agent or a tool said is quoted in a fence longer than any it contains, so that it can't pose as a part of
the page; the prompt stands under `## Eval Prompt`, where viewers look for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from skill_assay.model.transcript import (
    Event,
    Finished,
    Other,
    Retrying,
    SkillUse,
    Started,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)

__all__ = ["transcript_markdown"]

_LONG = 20_000
_SHORT = 4_000


def transcript_markdown(prompt: str, events: Iterable[Event]) -> str:
    """The page: the prompt first, then what happened, in order."""
    parts = ["# Transcript", "## Eval Prompt", _fenced(prompt, _LONG), "## Events"]
    parts += filter(None, (_event(event) for event in events))
    return "\n\n".join(parts) + "\n"


def _event(event: Event) -> str | None:
    match event:
        case Started():
            facts = [("model", event.model), ("version", event.version), ("skills", ", ".join(event.skills) or None)]
            return _headed("Started", None, _facts(facts))
        case Text(text=text, parent=parent):
            return _headed("Agent", parent, _fenced(text, _LONG))
        case ToolCall():
            given = json.dumps(event.input, ensure_ascii=False, indent=2, default=str)
            return _headed(f"Tool call: {_inline(event.name)}", event.parent, _fenced(given, _SHORT))
        case ToolResult():
            return _headed("Tool error" if event.is_error else "Tool result", event.parent, _fenced(event.text, _SHORT))
        case SkillUse():
            what = "used" if event.confirmed else "asked for, not given"
            return _headed(f"Skill {what}: {_inline(event.name)}", event.parent, _facts([("how", event.how)]))
        case Retrying():
            return _headed("Waiting for the API", None, _fenced(event.failure.message, _SHORT))
        case Finished():
            return _finished(event)
        case Other():
            return None


def _finished(event: Finished) -> str:
    if event.failure is not None:
        return _headed(f"Failed: {event.failure.kind}", None, _fenced(event.failure.message, _SHORT))
    answer = _fenced(event.answer or "", _LONG)
    return f"## Answer\n\n{answer}" + (f"\n\n{_usage(event.usage)}" if event.usage != Usage() else "")


def _usage(usage: Usage) -> str:
    tokens = usage.tokens.total if usage.tokens else None
    cost = f"{usage.cost_usd:.4f} USD" if usage.cost_usd is not None else None
    return _facts([("tokens", tokens), ("cost", cost), ("turns", usage.turns)])


def _headed(title: str, parent: str | None, body: str) -> str:
    return f"### {title}{' (sub-agent)' if parent else ''}" + (f"\n\n{body}" if body else "")


def _facts(facts: Sequence[tuple[str, object]]) -> str:
    return "\n".join(f"- {name}: {_inline(str(value))}" for name, value in facts if value is not None)


def _inline(text: str) -> str:
    shown = re.sub(r"\s+", " ", text)[:200]
    fence = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _fenced(text: str, limit: int) -> str:
    left = len(text) - limit
    shown = text if left <= 0 else f"{text[:limit]}\n… {left} more characters; all of it is in the attempt's own output"
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    return f"{fence}text\n{shown}\n{fence}"
