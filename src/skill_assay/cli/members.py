"""`--agent` and `--model`, several of each: how they are split, and which model goes to which agent.

`AGENT/MODEL` ties a model to an agent, as for `--judge`; a model of `--model` goes to every agent named without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skill_assay.agents.registry import agent_names
from skill_assay.errors import InputError
from skill_assay.model.suite import Member

__all__ = ["members_of", "split_agents"]


def members_of(agents: str | Iterable[str] | None, models: str | Iterable[str] | None) -> tuple[Member, ...]:
    """Every agent with every model that is its own, in the order named, each once; at least one.

    Args:
        agents: as given; none leaves the choice of agent open (an empty name).
        models: as given.

    Raises:
        InputError: a model that goes to nobody, or an empty one.
    """
    untied = [part.strip() for text in _texts(models) for part in text.split(",") if part.strip()]
    named = [spec for text in _texts(agents) for spec in split_agents(text)] or [""]
    found: list[Member] = []
    for spec in named:
        agent, model = _tied(spec)
        found += [Member(agent, one) for one in untied] if untied and model is None else [Member(agent, model)]
    if untied and all(_tied(spec)[1] for spec in named):
        raise InputError(
            "--model goes to agents that are named without one",
            found=", ".join(named),
            hint="Name the agent without its model, or leave --model out.",
        )
    return tuple(dict.fromkeys(found))


def split_agents(text: str) -> Iterator[str]:
    """The agents of one text: split at commas, but all that follows a colon belongs to its agent.

    So `claude-code,command: my-agent --tags a,b` are two; what comes after a `command:` is another `--agent`.
    """
    left = text.strip()
    while left:
        first, comma, rest = left.partition(",")
        # A colon after the slash is part of a model's name.
        if ":" in first.partition("/")[0] or not comma:
            yield left
            return
        if first.strip():
            yield first.strip()
        left = rest.strip()


def _texts(given: str | Iterable[str] | None) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _tied(spec: str) -> tuple[str, str | None]:
    """`codex/gpt-5.5` → agent and model; what follows an agent's colon is its own and is not looked at."""
    name, slash, model = spec.partition("/")
    if not slash or ":" in name or name.strip() not in agent_names():
        return spec, None
    if not model.strip():
        raise InputError("names no model after the slash", found=f"--agent {spec}", expected="AGENT/MODEL")
    return name.strip(), model.strip()
