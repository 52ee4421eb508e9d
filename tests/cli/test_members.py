"""How `--agent` and `--model` are split, and which model goes to which agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skill_assay.cli.members import members_of, split_agents
from skill_assay.cli.resolve import resolve
from skill_assay.errors import InputError
from tests.runner.small import write_skill


def labels(agents: str | tuple[str, ...] | None, models: str | tuple[str, ...] | None = None) -> list[str]:
    return [member.label for member in members_of(agents, models)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("claude-code,codex", ["claude-code", "codex"]),
        (" claude-code , codex ,", ["claude-code", "codex"]),
        ("command: my agent, with commas", ["command: my agent, with commas"]),
        ("claude-code,command: mine --tags a,b", ["claude-code", "command: mine --tags a,b"]),
        ("simulated: a,b.json", ["simulated: a,b.json"]),
        ("api/openai:gpt-5.5,api/anthropic:opus,codex", ["api/openai:gpt-5.5", "api/anthropic:opus", "codex"]),
        ("", []),
    ],
)
def test_what_follows_a_colon_is_one(text: str, parts: list[str]) -> None:
    assert list(split_agents(text)) == parts


def test_an_untied_model_goes_to_every_agent_that_is_not_tied() -> None:
    assert labels("claude-code,codex", "m,n") == ["claude-code/m", "claude-code/n", "codex/m", "codex/n"]
    assert labels("claude-code,codex/gpt-5.5", ("m", "n")) == ["claude-code/m", "claude-code/n", "codex/gpt-5.5"]
    assert labels(("opencode/anthropic/claude-sonnet-4-5",)) == ["opencode/anthropic/claude-sonnet-4-5"]
    assert labels(("command: ./mine/agent",), "m") == ["command: ./mine/agent/m"]
    assert labels("codex,codex") == ["codex"]
    assert [member.agent for member in members_of(None, "m,n")] == ["", ""]


def test_a_model_that_goes_to_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="named without one"):
        members_of("codex/gpt-5.5", "m")
    with pytest.raises(InputError, match="no model after the slash"):
        members_of("codex/", None)


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return write_skill(tmp_path)


def test_lists_may_stand_in_the_configuration_and_in_variables(skill: Path) -> None:
    config = skill / "evals" / "benchmark.config.json"
    config.write_text(json.dumps({"agent": ["codex/g", "command: x, y"], "model": ["m", "n"]}))
    assert [one.label for one in resolve(skill, {}, {}, several=True).members] == [
        "codex/g",
        "command: x, y/m",
        "command: x, y/n",
    ]
    env = {"ASSAY_AGENT": "claude-code,codex", "ASSAY_MODEL": "k"}
    assert [one.label for one in resolve(skill, {}, env, several=True).members] == ["claude-code/k", "codex/k"]
    with pytest.raises(InputError, match="Several agents or models are for `assay run`"):
        resolve(skill, {}, env)


def test_a_model_tied_to_the_only_agent_is_the_run_s_model(skill: Path) -> None:
    found = resolve(skill, {"agent": ("codex/gpt-5.5",)}, {})
    assert (found.settings.agent, found.settings.model) == ("codex", "gpt-5.5")
    assert found.origins["model"].origin == "option --agent", "said, so a resume does not take the recorded one"
