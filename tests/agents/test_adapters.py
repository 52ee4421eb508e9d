"""What the adapters of the other CLIs hand to their programs, without launching one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.codex import Codex
from skill_assay.agents.copilot import Copilot
from skill_assay.agents.gemini import Gemini
from skill_assay.agents.opencode import OpenCode
from skill_assay.agents.pi import Pi
from skill_assay.agents.programs import Program
from skill_assay.agents.qwen import Qwen
from skill_assay.agents.registry import agent_names, create_agent
from skill_assay.errors import InputError
from skill_assay.model.agent import Request
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Agent

ROOT = Path(__file__).parents[2]
KEY = "a-real-key-of-the-user"
ADAPTERS: Mapping[str, tuple[Callable[..., Agent], str]] = {
    "codex": (Codex, "OPENAI_API_KEY"),
    "copilot": (Copilot, "COPILOT_GITHUB_TOKEN"),
    "gemini": (Gemini, "GEMINI_API_KEY"),
    "opencode": (OpenCode, "ANTHROPIC_API_KEY"),
    "pi": (Pi, "ANTHROPIC_API_KEY"),
    "qwen": (Qwen, "OPENAI_API_KEY"),
}


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH with a program for each, which says its version, and ripgrep."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in (*ADAPTERS, "rg"):
        program = folder / name
        program.write_text('#!/bin/sh\necho "$0 version 1.2.3-beta."\n', encoding="utf-8")
        program.chmod(0o755)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path, *(tmp_path / name for name in ("work", "home", "config", "tmp")))
    for folder in (place.work, place.home, place.config, place.tmp):
        folder.mkdir()
    return place


def launch(name: str, programs: Path, place: Place, user: Mapping[str, str] | None = None, **more: Any) -> Launch:
    agent = ADAPTERS[name][0](env={"PATH": str(programs), "HOME": "/home/user", **(user or {})})
    about = {"prompt": "Do it.", "work": str(place.work), "home": str(place.home), "tmp": str(place.tmp)}
    return agent.launch(Request(place=place, **{**about, **more}))


def words(launch: Launch, place: Place) -> str:
    """All that is handed over: command line, environment, files in the home."""
    files = [path.read_text(encoding="utf-8") for path in sorted(place.home.rglob("*")) if path.is_file()]
    return "\n".join([*launch.argv, *map("=".join, launch.env.items()), *files])


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_prompt_goes_by_standard_input_and_the_home_is_fresh(name: str, programs: Path, place: Place) -> None:
    got = launch(name, programs, place, prompt="-x '$HOME'\n@file")
    assert got.stdin == b"-x '$HOME'\n@file" and got.argv[0] == str(programs / name)
    assert got.env["HOME"] == str(place.home) and got.env["TMPDIR"] == str(place.tmp)
    assert "/home/user" not in words(got, place)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_key_reaches_the_program_and_is_a_secret(name: str, programs: Path, place: Place) -> None:
    make, variable = ADAPTERS[name]
    signed = make(env={}).sign_in({variable: KEY})
    assert signed.how in ("key", "token") and variable in signed.source and KEY not in repr(signed)
    got = launch(name, programs, place, env=signed.env)
    assert KEY in got.env.values() and got.secrets and set(got.secrets) == {KEY}
    assert not any(KEY in word for word in got.argv)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_scripted_server_sees_no_real_key_and_no_proxy(name: str, programs: Path, place: Place) -> None:
    """Also not one that was passed by name, whatever it is called."""
    passed = {ADAPTERS[name][1]: KEY, "HTTPS_PROXY": "http://proxy", "OTHER": "kept"}
    got = launch(name, programs, place, passed, env=passed, base_url="http://127.0.0.1:9")
    assert KEY not in words(got, place) and "http://proxy" not in words(got, place)
    assert "http://127.0.0.1:9" in words(got, place) and got.env["OTHER"] == "kept"


@pytest.mark.parametrize("name", ADAPTERS)
def test_without_a_key_the_advice_names_one(name: str) -> None:
    with pytest.raises(InputError, match="is not signed in") as caught:
        ADAPTERS[name][0](env={}).sign_in({"HOME": "/home/user"})
    assert "Set " in str(caught.value) and "fresh home" in str(caught.value)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_program_is_found_by_variable_or_path(name: str, programs: Path, place: Place) -> None:
    agent, variable = ADAPTERS[name][0](env={}), f"ASSAY_{name.upper()}"
    found = agent.detect({"PATH": str(programs)})
    assert found is not None and (found.name, found.version) == (name, "1.2.3-beta")
    assert found.path == str(programs / name) and found.sign_in is None
    assert agent.detect({"PATH": "/nowhere"}) is None
    with pytest.raises(InputError, match=variable):
        agent.detect({"PATH": "/nowhere", variable: "/nowhere/it"})
    with pytest.raises(InputError, match="not installed here"):
        launch(name, programs, place, {"PATH": "/nowhere" if name != "opencode" else str(only_rg(programs))})
    with pytest.raises(InputError, match="takes nothing after its name"):
        ADAPTERS[name][0]("more")


def only_rg(programs: Path) -> Path:
    folder = programs.parent / "rg-only"
    folder.mkdir()
    (folder / "rg").symlink_to(programs / "rg")
    return folder


@pytest.mark.parametrize("name", [name for name in ADAPTERS if name != "pi"])
def test_mcp_servers_are_handed_on_in_its_own_form(name: str, programs: Path, place: Place, tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    servers = {"files": {"command": "serve-files", "args": ["--root", 'a "b"'], "env": {"DEPTH": "3"}}}
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    handed = words(launch(name, programs, place, mcp_config=config), place)
    assert all(word in handed for word in ("files", "serve-files", "--root", "DEPTH"))
    config.write_text('{"mcpServers": {"files": {}}}', encoding="utf-8")
    if name != "copilot":  # it is handed the file as it is
        with pytest.raises(InputError, match="no file of MCP servers"):
            launch(name, programs, place, mcp_config=config)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_model_is_named_in_its_own_words(name: str, programs: Path, place: Place) -> None:
    argv = list(launch(name, programs, place, model="maker/model-2").argv)
    assert argv[argv.index("--model") + 1] == "maker/model-2"
    assert "--model" not in launch(name, programs, place).argv


def test_codex_is_ended_by_int_and_called_by_dollar(programs: Path, place: Place) -> None:
    """TERM would leave its shell command running."""
    got = launch("codex", programs, place, slash=True, skill_folder="sums")
    assert got.end_signal == "INT" and got.stdin == b"$sums Do it."
    agent = Codex(env={})
    request = Request("x", place, "/w", "/h", "/t", slash=True, skill_folder="sums")
    (started,) = agent.parser(request).feed(b'{"type": "thread.started"}')
    assert getattr(started, "skill_signs", None) is False


def test_codex_answers_by_schema(programs: Path, place: Place) -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "integer"}}, "additionalProperties": False}
    argv = list(launch("codex", programs, place, schema=schema, tools=False).argv)
    file = Path(argv[argv.index("--output-schema") + 1])
    assert json.loads(file.read_text(encoding="utf-8"))["required"] == ["sum"]
    assert "--dangerously-bypass-approvals-and-sandbox" not in argv and "read-only" in argv
    parser = Codex(env={}).parser(Request("x", place, "/w", "/h", "/t", schema={}))
    for line in (
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": '{"sum": 3}'}},
        {"type": "turn.completed", "usage": {}},
    ):
        list(parser.feed(json.dumps(line).encode()))
    assert parser.end(0, "").structured == {"sum": 3}


def test_opencode_says_that_ripgrep_is_missing(programs: Path, place: Place) -> None:
    """Without it every use of a skill fails."""
    (programs / "rg").unlink()
    with pytest.raises(InputError, match="ripgrep"):
        launch("opencode", programs, place)


def test_network_tools_come_only_when_allowed(programs: Path, place: Place) -> None:
    for name, tool in (
        ("codex", "web_search"),
        ("gemini", "web_fetch"),
        ("qwen", "web_fetch"),
        ("opencode", "webfetch"),
    ):
        off, on = (words(launch(name, programs, place, allow=allow), place) for allow in ((), (tool,)))
        assert tool in off and off.count(tool) > on.count(tool), name


def test_the_versions_tested_are_those_that_are_pinned() -> None:
    wanted = json.loads((ROOT / "tests/clients/package.json").read_text(encoding="utf-8"))
    pins = {**wanted["dependencies"], **wanted["optionalDependencies"]}
    pins["opencode-ai"] = pins.pop("opencode-linux-x64")
    for name in set(agent_names()) - {"api", "command", "simulated"}:
        program = getattr(sys.modules[type(create_agent(name)).__module__], "PROGRAM", None)
        assert isinstance(program, Program), name
        assert pins.get(program.package) == program.tested, name
