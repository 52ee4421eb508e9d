"""Name → agent. Built-in and third-party agents come through one door: the entry points `skill_assay.agents`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import cast

from skill_assay.errors import InputError
from skill_assay.model.agent import Request, SignIn
from skill_assay.model.place import Place
from skill_assay.model.protocols import Agent, Parser

__all__ = ["GROUP", "agent_names", "create_agent", "detect_default", "signed_in", "stored_parser"]

GROUP = "skill_assay.agents"

_NEVER_DEFAULT = frozenset({"api", "command", "simulated"})
"""Agents a person must ask for by name: one needs a model, one a command, and one is none."""


def agent_names() -> tuple[str, ...]:
    """Every agent that can be named, sorted."""
    return tuple(sorted(_points()))


def create_agent(spec: str) -> Agent:
    """The agent of a specification: a name, or a name, a colon and what that agent wants to know.

    Args:
        spec: `claude-code`, `command: my-agent --task {prompt_file}`, `simulated: script.json`, …

    Raises:
        InputError: no such agent, it can't be loaded, or it refuses what follows the colon.
    """
    name, _, rest = spec.partition(":")
    points = _points()
    point = points.get(name.strip())
    if point is None:
        raise InputError(
            "No such agent",
            found=spec,
            expected=", ".join(sorted(points)),
            hint="`--agent 'command: …'` runs any other.",
        )
    try:
        factory = point.load()
    except (ImportError, AttributeError) as error:
        raise InputError(f"The agent {point.name!r} could not be loaded from {point.value}: {error}") from error
    return cast("Agent", factory(rest.strip()))


def detect_default(env: Mapping[str, str]) -> Agent:
    """The first agent that is installed here: Claude Code before others, then by name.

    Raises:
        InputError: none is.
    """
    names = [name for name in agent_names() if name not in _NEVER_DEFAULT]
    names.sort(key=lambda name: name != "claude-code")
    for name in names:
        agent = create_agent(name)
        if agent.detect(env) is not None:
            return agent
    raise InputError(
        "No coding agent was found",
        found=f"none of {', '.join(names)} on PATH",
        hint="Install one (`npm install -g @anthropic-ai/claude-code`), or point ASSAY_CLAUDE_CODE to its program, "
        "or name another: --agent 'command: my-agent {prompt_file}'. --agent simulated tries everything without one.",
    )


def signed_in(agent: Agent, model: str | None, env: Mapping[str, str]) -> SignIn:
    """How an agent signs in for a model; one that speaks to many providers (`sign_in_for`) needs that model's own.

    Raises:
        InputError: it is not signed in.
    """
    with_model: Callable[[str | None, Mapping[str, str]], SignIn] | None = getattr(agent, "sign_in_for", None)
    return agent.sign_in(env) if with_model is None else with_model(model, env)


def stored_parser(agent: Agent) -> Parser:
    """A parser for an attempt's stored output: where it once ran does not matter any more."""
    nowhere = Path()
    return agent.parser(Request("", Place(nowhere, nowhere, nowhere, nowhere, nowhere), "", "", ""))


@cache
def _points() -> dict[str, EntryPoint]:
    # Looking through every installed distribution takes longer than reading a whole trial.
    return {point.name: point for point in entry_points(group=GROUP)}
