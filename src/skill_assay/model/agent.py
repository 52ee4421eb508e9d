"""What an agent can do, as declared data with a sentence each; and what it is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_assay.model.attached import Picture
from skill_assay.model.place import Place

__all__ = ["Capabilities", "Detected", "Listing", "Request", "SignIn"]


@dataclass(frozen=True, slots=True)
class Listing:
    """How much of its skills an agent tells its model, in characters: names always, descriptions as far as they fit."""

    per_skill: int
    """A longer description is cut."""
    total: int
    """Over it, skills later in the alphabet lose their description."""
    other_totals: Mapping[str, int] = field(default_factory=dict)
    """Part of a model's name → its total."""

    def budget(self, model: str | None) -> int:
        """The total for a model; the usual one where the name says nothing."""
        return next((total for part, total in self.other_totals.items() if model and part in model), self.total)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an agent can and can't do. A command that needs more says so before anything is launched."""

    skills: bool = True
    """It discovers skills from a folder."""
    skill_signs: bool = True
    """A use of a skill can be seen in its events."""
    slash: bool = False
    """A skill can be called by `/name`."""
    slash_signs: bool = False
    """Such a call can be seen in its events."""
    dollar_calls: bool = False
    """A `$name` in a prompt puts that skill's text in, and nothing of it can be seen in its events."""
    openai_yaml: bool = False
    """It goes by a skill's `agents/openai.yaml`."""
    turns: bool = False
    """Earlier user messages can be given."""
    schema: bool = False
    """Its answer can be constrained by a JSON schema."""
    pictures: bool = False
    """Pictures can be put beside the prompt."""
    reads_only: bool = False
    """Its tools can be narrowed to those that read files below its working directory."""
    cost: bool = False
    """It reports its own price."""
    tokens: bool = False
    """It reports its tokens."""
    cost_cap: bool = False
    """It takes a cap of money for one attempt."""
    turn_limit: bool = False
    mcp: bool = False
    """It takes a file of MCP servers."""
    grants: bool = False
    """Tools can be granted one by one."""
    network: bool = True
    """It needs to reach a model's API; false for agents that run wholly here."""
    sign_in: str = "Sign in to it, or set its key (`assay doctor` shows how it is signed in)"
    """What a person can do when it answers that nobody is signed in."""
    install: str = ""
    """What a person can do where it is missing."""
    simulated: bool = False
    """Nothing it shows is a real agent's work."""
    note: str = ""
    listing: Listing | None = None
    """`None`: unknown."""
    user_skills: tuple[str, ...] = ()
    """Where its users keep their own skills; `~` and `${NAME:-default}` are understood."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """How the agent is signed in."""

    how: str
    """`key`, `token`, `home` (the user's own, isolated by settings), or `none`."""
    source: str
    """The variable or place it came from; never the value."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables that carry it, values included: secrets."""


@dataclass(frozen=True, slots=True)
class Detected:
    """An agent found on this machine."""

    name: str
    version: str
    path: str
    sign_in: SignIn | None


@dataclass(frozen=True, slots=True)
class Request:
    """What an agent is asked to do in one attempt; the adapter turns it into a `Launch`."""

    prompt: str
    place: Place
    work: str
    """The working directory as the agent sees it."""
    home: str
    tmp: str
    skill_folder: str | None = None
    """The installed skill's folder name; `None` in an arm without."""
    skill_name: str | None = None
    skill_path: str | None = None
    """The installed folder as the agent sees it."""
    any_skills: bool = False
    """Whether any skill at all is installed (the skill under test or a neighbour)."""
    slash: bool = False
    model: str | None = None
    max_turns: int | None = None
    max_cost_usd: float | None = None
    allow: tuple[str, ...] = ()
    mcp_config: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables passed by name (`--pass-env`), both arms alike."""
    turns: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    base_url: str | None = None
    """A model server of our own (canary, tests); then a dummy key is used and no real one is passed."""
    key: Mapping[str, Any] = field(default_factory=dict)
    """(seed, eval, arm, repeat, attempt): all the randomness a simulated agent may use."""
    tools: bool = True
    """False for a judge: no tool at all."""
    reads_only: bool = False
    """For a judge that looks for itself: only tools that read files below the working directory."""
    pictures: tuple[Picture, ...] = ()
    """Put beside the prompt."""
