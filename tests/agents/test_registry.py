"""Agents by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from skill_assay.agents import registry
from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.errors import InputError


def test_the_built_in_agents_come_through_entry_points() -> None:
    assert {"claude-code", "command", "simulated"} <= set(registry.agent_names())
    assert registry.agent_names() == tuple(sorted(registry.agent_names()))
    assert isinstance(registry.create_agent("claude-code"), ClaudeCode)


def test_what_follows_the_colon_reaches_the_agent() -> None:
    assert registry.create_agent("command: cat {prompt_file}").name == "command"
    with pytest.raises(InputError, match="nothing after its name"):
        registry.create_agent("claude-code: opus")


@pytest.mark.parametrize("spec", ["", "claud-code", "nobody: x"])
def test_an_unknown_name_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(InputError, match=r"claude-code, .*command, .*simulated"):
        registry.create_agent(spec)


def test_a_broken_plug_in_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no.such.module:Agent", registry.GROUP)
    monkeypatch.setattr(registry, "_points", lambda: {"broken": broken})
    with pytest.raises(InputError, match=r"broken.*no\.such\.module"):
        registry.create_agent("broken")


def test_the_default_is_an_agent_that_is_installed(tmp_path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho 1.0\n")
    program.chmod(0o755)
    assert registry.detect_default({"PATH": str(tmp_path)}).name == "claude-code"


def test_fault_2_no_agent_is_an_error_that_helps() -> None:
    with pytest.raises(InputError) as error:
        registry.detect_default({"PATH": "/nowhere"})
    said = str(error.value)
    assert error.value.exit_code == 2
    assert "npm install" in said and "ASSAY_CLAUDE_CODE" in said and "--agent 'command:" in said


def test_the_built_in_one_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is always here where its library is, and would be taken without anyone having asked."""
    monkeypatch.setattr(registry, "agent_names", lambda: ("api", "command", "simulated"))
    with pytest.raises(InputError, match="No coding agent was found"):
        registry.detect_default({"OPENAI_API_KEY": "sk-x"})
