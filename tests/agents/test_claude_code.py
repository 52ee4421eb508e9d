"""The launch of Claude Code as data, without launching it."""

from __future__ import annotations

import json
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.claude_code import TOOLS, ClaudeCode
from skill_assay.errors import InputError
from skill_assay.model.agent import Request
from skill_assay.model.place import Place

PLACE_NAMES = ("work", "home", "config", "tmp")


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """A user's environment with a program called `claude` on PATH."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '9.8.7 (Claude Code)'\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path / "user"), "CLAUDECODE": "1", "OTHER": "x"}


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    folders = [tmp_path / "place" / name for name in PLACE_NAMES]
    for folder in folders:
        folder.mkdir(parents=True)
    return Request("Do it.", Place(tmp_path / "place", *folders), "/trial/work", "/trial/home", "/trial/tmp")


def options(argv: Any) -> dict[str, str]:
    words = list(argv)
    return {word: words[n + 1] if n + 1 < len(words) else "" for n, word in enumerate(words) if word.startswith("--")}


def test_the_command_line(user: dict[str, str], request_: Request) -> None:
    asked = replace(request_, max_turns=7, max_cost_usd=0.25, model="m", env={"ANTHROPIC_API_KEY": "sk-secret"})
    launch = ClaudeCode(env=user).launch(asked)
    said = options(launch.argv)
    assert said["--permission-mode"] == "dontAsk" and said["--setting-sources"] == "project"
    assert (said["--max-turns"], said["--max-budget-usd"], said["--model"]) == ("7", "0.250000", "m")
    assert {"--strict-mcp-config", "--no-session-persistence", "--verbose", "--include-partial-messages"} <= set(said)
    assert set(said["--tools"].split(",")) == set(TOOLS)
    assert "WebFetch" not in " ".join(launch.argv)
    assert launch.stdin == b"Do it." and "Do it." not in launch.argv
    assert launch.cwd == asked.place.work
    assert launch.secrets == ("sk-secret",)
    assert "sk-secret" not in " ".join(launch.argv)


def test_fault_10_the_environment_is_what_was_passed_and_nothing_else(user: dict[str, str], request_: Request) -> None:
    asked = replace(request_, env={"SEEN": "1", "ANTHROPIC_API_KEY": "k", "CLAUDECODE": "1"})
    env = ClaudeCode(env=user).launch(asked).env
    assert env["SEEN"] == "1" and env["HOME"] == "/trial/home" and env["TMPDIR"] == "/trial/tmp"
    assert "OTHER" not in env and "CLAUDECODE" not in env and "CLAUDE_CONFIG_DIR" not in env


def test_without_a_key_the_users_home_is_kept(user: dict[str, str], request_: Request) -> None:
    assert ClaudeCode(env=user).launch(request_).env["HOME"] == user["HOME"]


def test_a_scripted_server_gets_a_fresh_home_and_a_dummy_key(user: dict[str, str], request_: Request) -> None:
    asked = replace(request_, base_url="http://127.0.0.1:1", env={"CLAUDE_CODE_OAUTH_TOKEN": "real"})
    launch = ClaudeCode(env=user | {"ANTHROPIC_BASE_URL": "https://gateway"}).launch(asked)
    assert launch.env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert launch.env["HOME"] == "/trial/home" and "real" not in launch.env.values()


def test_both_arms_have_the_same_command_line(user: dict[str, str], request_: Request) -> None:
    with_skill = replace(
        request_, skill_folder="pdf", skill_name="pdf", any_skills=True, env={"ANTHROPIC_API_KEY": "k"}
    )
    without = replace(request_, env={"ANTHROPIC_API_KEY": "k"})
    first, second = (ClaudeCode(env=user).launch(asked) for asked in (with_skill, without))
    assert first == second


def test_slash_and_earlier_turns(user: dict[str, str], request_: Request) -> None:
    agent = ClaudeCode(env=user)
    slash = replace(request_, skill_folder="pdf", slash=True)
    assert agent.launch(slash).stdin == b"/pdf Do it."
    turns = agent.launch(replace(slash, turns=("before",)))
    assert options(turns.argv)["--input-format"] == "stream-json"
    lines = [json.loads(line) for line in (turns.stdin or b"").splitlines()]
    assert [line["message"]["content"] for line in lines] == ["before", "/pdf Do it."]
    assert [line.get("shouldQuery") for line in lines] == [False, None]


def test_grants_are_tools_and_rules(user: dict[str, str], request_: Request) -> None:
    argv = list(ClaudeCode(env=user).launch(replace(request_, allow=("WebFetch", "Bash(git log, x)", "mcp__a"))).argv)
    assert {"WebFetch", "Bash"} <= set(options(argv)["--tools"].split(","))
    assert "mcp__a" not in options(argv)["--tools"]
    assert argv[argv.index("--allowedTools") + 1 :] == [*TOOLS, "WebFetch", "Bash(git log, x)", "mcp__a"]


def test_mcp_servers_are_copied_in_and_granted(user: dict[str, str], request_: Request, tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text('{"mcpServers": {"greeter": {"command": "x", "env": {"TOKEN": "secret"}}}}')
    argv = list(ClaudeCode(env=user).launch(replace(request_, mcp_config=config)).argv)
    assert options(argv)["--mcp-config"] == "/trial/home/.mcp-servers.json"
    assert "mcp__greeter" in argv and "secret" not in " ".join(argv)
    copy = request_.place.home / ".mcp-servers.json"
    assert copy.read_text() == config.read_text() and stat.S_IMODE(copy.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": []}', '{"mcpServers": 5}', "\xff"])
def test_a_file_of_servers_that_is_none_is_refused(
    user: dict[str, str], request_: Request, tmp_path: Path, text: str
) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match="no file of MCP servers"):
        ClaudeCode(env=user).launch(replace(request_, mcp_config=config))


def test_a_judge_has_no_tool(user: dict[str, str], request_: Request) -> None:
    argv = list(ClaudeCode(env=user).launch(replace(request_, tools=False, schema={"type": "object"})).argv)
    assert options(argv)["--tools"] == "" and "--allowedTools" not in argv
    assert json.loads(options(argv)["--json-schema"]) == {"type": "object"}


def test_the_shell_prefix_hides_credentials_and_keeps_status_and_quotes(
    user: dict[str, str], request_: Request
) -> None:
    home = request_.place.home
    asked = replace(request_, home=str(home), env={"ANTHROPIC_API_KEY": "k"})
    env = dict(ClaudeCode(env=user).launch(asked).env)
    command = """printf '%s' "[$ANTHROPIC_API_KEY][$HOME] it's" && exit 3"""
    done = subprocess.run(
        [env["CLAUDE_CODE_SHELL_PREFIX"], command], env=env, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (f"[][{home}] it's", 3)


def test_detection(user: dict[str, str]) -> None:
    found = ClaudeCode(env=user).detect(user)
    assert found is not None
    assert (found.name, found.version, found.sign_in) == ("claude-code", "9.8.7", None)
    assert ClaudeCode(env=user).detect({"PATH": "/nowhere"}) is None
    named = ClaudeCode().detect({"PATH": "/nowhere", "ASSAY_CLAUDE_CODE": found.path, "ANTHROPIC_API_KEY": "k"})
    assert named is not None and named.path == found.path and named.sign_in is not None


def test_a_program_that_is_none_is_said(user: dict[str, str], request_: Request) -> None:
    with pytest.raises(InputError, match="ASSAY_CLAUDE_CODE"):
        ClaudeCode().detect({"ASSAY_CLAUDE_CODE": "/no/such/claude"})
    with pytest.raises(InputError, match="not installed"):
        ClaudeCode(env={"PATH": "/nowhere"}).launch(request_)
    with pytest.raises(InputError, match="nothing after its name"):
        ClaudeCode("opus")


def test_sign_in_takes_the_first_way_that_applies(tmp_path: Path) -> None:
    agent = ClaudeCode(env={})
    env = {"HOME": str(tmp_path), "CLAUDE_CODE_OAUTH_TOKEN": "t-secret"}
    token = agent.sign_in(env)
    assert (token.how, token.source) == ("token", "CLAUDE_CODE_OAUTH_TOKEN")
    assert token.env == {"CLAUDE_CODE_OAUTH_TOKEN": "t-secret"} and "t-secret" not in repr(token)
    assert agent.sign_in(env | {"ANTHROPIC_API_KEY": "k"}).how == "key"
    with pytest.raises(InputError, match="not signed in") as error:
        agent.sign_in({"HOME": str(tmp_path), "ANTHROPIC_API_KEY": ""})
    assert "claude setup-token" in str(error.value)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".credentials.json").write_text("{}")
    home = agent.sign_in({"HOME": str(tmp_path)})
    assert (home.how, home.source, dict(home.env)) == ("home", str(tmp_path / ".claude"), {})
    assert agent.sign_in({"HOME": "/x", "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}).how == "home"
