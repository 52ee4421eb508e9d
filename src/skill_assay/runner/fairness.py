"""Whether the arms differ in more than the skill, as the agents themselves say in their first words.

The skill tool and the catalogue are the treatment; every other tool, the servers, the grants, the model and the
program's version must be equal. A difference is found at the first trial of a second arm, before the third launch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from skill_assay.model.transcript import Started
from skill_assay.model.trial import Arm, Trial

__all__ = ["Fairness", "inequalities"]

_SKILL_TOOLS = frozenset({"skill", "activate_skill", "slashcommand"})


def inequalities(one: Started, other: Started, *, models: bool = True) -> list[str]:
    """What differs between two agents' first words, besides skills, in words; empty when they are equal.

    Args:
        one: of one arm.
        other: of another.
        models: whether the models should be the same (not where the arms name different ones).
    """
    found = []
    tools, others = _tools(one.tools), _tools(other.tools)
    if tools != others:
        found.append(f"tools: {_difference(tools, others)}")
    servers, their = set(one.mcp_servers), set(other.mcp_servers)
    if servers != their:
        found.append(f"MCP servers: {_difference(servers, their)}")
    pairs = [("permission mode", one.permission_mode, other.permission_mode), ("version", one.version, other.version)]
    if models:
        pairs.append(("model", one.model, other.model))
    found += [f"{word}: {mine} and {theirs}" for word, mine, theirs in pairs if mine != theirs]
    return found


def _tools(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.lower() not in _SKILL_TOOLS}


def _difference(one: set[str], other: set[str]) -> str:
    parts = [f"only one arm has {', '.join(sorted(extra))}" for extra in (one - other, other - one) if extra]
    return "; ".join(parts)


@dataclass(slots=True)
class Fairness:
    """Remembers each arm's first words and compares a new arm's with the primary's."""

    arms: tuple[Arm, ...]
    allow: bool = False
    """`--allow-unequal`: note the difference, do not refuse it."""
    found: list[str] = field(default_factory=list)
    _first: dict[str, Started] = field(default_factory=dict)

    def check(self, trial: Trial) -> str | None:
        """A text when the trial's arm is not equal to one seen before and that is not allowed."""
        started = next((attempt.started for attempt in trial.attempts if attempt.started), None)
        if started is None or trial.id.arm in self._first:
            return None
        arms = {arm.name: arm for arm in self.arms}
        for name, words in self._first.items():
            same_model = arms[name].model == arms[trial.id.arm].model
            differ = inequalities(words, started, models=same_model)
            self.found += [f"{name} and {trial.id.arm} differ in {text}" for text in differ]
        self._first[trial.id.arm] = started
        if not self.found or self.allow:
            return None
        return f"the arms differ in more than the skill: {'; '.join(self.found)}"
