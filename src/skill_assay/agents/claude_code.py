"""Claude Code: how it is found, signed in, launched and isolated. What it prints is read in `claude_code_parser`.

Facts measured with the real program (2.1.332) that this file rests on:

- The prompt goes through standard input, closed after writing: no limit of length, no prompt taken for an option,
  nothing in the process list, and no delay (an *open* input costs three seconds).
- Several user messages written at once through `--input-format stream-json` are merged into a running turn, as "the
  user sent a message while you work", unless all but the last carry `shouldQuery: false`: then they stand before it
  in the conversation, unanswered, and nothing is sent to the model for them.
- A prompt that begins with `/` is taken for a command ("/compact the data" ends at once, with an empty answer and no
  question to the model); a space before it makes it text.
- `--disable-slash-commands` takes the Skill tool away. Without it an arm without a skill has an empty catalogue and
  the same tools as the others, provided that bundled skills are off: `CLAUDE_CODE_DISABLE_BUNDLED_SKILLS` leaves one,
  which `skillOverrides` removes. What then differs is the catalogue, and one line about `/<skill-name>` beside it.
- `CLAUDE_CODE_SUBPROCESS_ENV_SCRUB` forces another permission mode and a sandbox that refuses every command where
  `socat` is missing. A shell prefix that unsets the credentials does the same for commands and changes nothing else.
  A command can still read them from `/proc` of its parent: `doctor` says so.
- The catalogue of skills is one line each, in the order of their names: a description over 1,536 characters is cut, and
  once the whole is over about 30,000 (8,000 for models with a context of 200k) later ones are names alone.
- Git instructions put the repository's status into the first message, where an installed skill shows as an untracked
  folder, and automatic memory invites the agent to write elsewhere than in the working directory: both are off.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.agents.claude_code_parser import ClaudeCodeParser
from skill_assay.agents.claude_code_sign_in import CREDENTIALS, find_sign_in
from skill_assay.agents.environment import DUMMY_KEY
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.errors import InputError
from skill_assay.model.agent import Capabilities, Detected, Listing, Request, SignIn
from skill_assay.model.attached import Picture
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "TOOLS", "ClaudeCode"]

PROGRAM = Program("Claude Code", "claude", "ASSAY_CLAUDE_CODE", "@anthropic-ai/claude-code", "2.1.332")
TOOLS = ("Agent", "Bash", "Edit", "Glob", "Grep", "Read", "Skill", "TodoWrite", "Write")
"""What every arm has: read, write, edit, search, shell, skill, sub-agents. Network tools only by `--allow`."""

_READERS = ("Glob", "Grep", "Read")
_SETTINGS = json.dumps({"skillOverrides": {"plugin-authoring": "off"}})
_FIXED = {
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "DISABLE_AUTOUPDATER": "1",
}
_SHELL = ".tool-shell"
_MCP = ".mcp-servers.json"


class ClaudeCode:
    """Adapter for Claude Code.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "claude-code"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        slash=True,
        slash_signs=True,
        turns=True,
        schema=True,
        pictures=True,
        reads_only=True,
        cost=True,
        tokens=True,
        cost_cap=True,
        turn_limit=True,
        mcp=True,
        grants=True,
        note="Earlier user messages stand before the prompt unanswered. A shell command can't read the key from its "
        "own environment, but from that of its parent process.",
        sign_in="Sign in with  claude  /login , or set ANTHROPIC_API_KEY",
        listing=Listing(per_skill=1536, total=30_000, other_totals={"[1m]": 30_000, "-4-": 8_000, "claude-3": 8_000}),
        user_skills=("${CLAUDE_CONFIG_DIR:-~/.claude}/skills",),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_CLAUDE_CODE`, else `claude` on PATH."""
        return PROGRAM.detect(self.name, env, find_sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """A key or token variable, else the user's own home; see `claude_code_sign_in`."""
        return find_sign_in(env)

    def skills_folder(self, place: Place) -> Path:
        """Skills of the project the working directory is."""
        return place.work / ".claude" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        program = PROGRAM.require(self._env)
        env = self._environment(request)
        argv = [program, *_options(request)]
        secrets = tuple(env[name] for name in CREDENTIALS if env.get(name))
        return Launch(argv, env, request.place.work, _input(request), secrets)

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return ClaudeCodeParser(
            work=request.work,
            home=request.home,
            slash=request.skill_folder if request.slash else None,
        )

    def _environment(self, request: Request) -> dict[str, str]:
        env = {"PATH": self._env.get("PATH", os.defpath), **request.env, **_FIXED}
        env |= {"HOME": request.home, "TMPDIR": request.tmp}
        if request.base_url:
            # A scripted server must never see a real credential, whatever was passed by name.
            env = {name: value for name, value in env.items() if not name.upper().endswith("_PROXY")}
            env = {name: value for name, value in env.items() if name not in CREDENTIALS}
            env |= {"ANTHROPIC_BASE_URL": request.base_url, "ANTHROPIC_API_KEY": DUMMY_KEY}
        elif not any(env.get(name) for name in CREDENTIALS):
            env |= {name: self._env[name] for name in ("HOME", "CLAUDE_CONFIG_DIR") if name in self._env}
        if "ANTHROPIC_BASE_URL" not in env and "ANTHROPIC_BASE_URL" in self._env:
            env["ANTHROPIC_BASE_URL"] = self._env["ANTHROPIC_BASE_URL"]
        env.pop("CLAUDECODE", None)
        if request.tools and not request.reads_only and os.name != "nt":
            env["CLAUDE_CODE_SHELL_PREFIX"] = _shell_prefix(request)
        return env


def _options(request: Request) -> list[str]:
    options = ["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]
    options += ["--permission-mode", "dontAsk", "--setting-sources", "project", "--settings", _SETTINGS]
    options += ["--strict-mcp-config", "--no-session-persistence", *_tools(request)]
    if request.max_turns is not None:
        options += ["--max-turns", str(request.max_turns)]
    if request.max_cost_usd is not None:
        options += ["--max-budget-usd", f"{request.max_cost_usd:.6f}"]
    if request.model:
        options += ["--model", request.model]
    if request.schema is not None:
        options += ["--json-schema", json.dumps(request.schema)]
    if request.turns or request.pictures:
        options += ["--input-format", "stream-json"]
    return options


def _tools(request: Request) -> list[str]:
    """The tools there are, and those that may be used: the same in every arm."""
    if not request.tools:
        return ["--tools", "", "--disable-slash-commands"]
    if request.reads_only:
        # Nothing is granted: what lies below the working directory may be read without that, and nothing else.
        return ["--tools", ",".join(_READERS), "--disable-slash-commands"]
    granted = [*TOOLS, *request.allow]
    built_in = sorted({tool.split("(", 1)[0] for tool in granted if not tool.startswith("mcp__")})
    options = ["--tools", ",".join(built_in)]
    if request.mcp_config is not None:
        servers, path = _mcp(request.mcp_config, request)
        granted += [f"mcp__{server}" for server in servers]
        options += ["--mcp-config", path]
    # One argument a tool: a rule such as `Bash(git log, git show)` may hold commas.
    return [*options, "--allowedTools", *granted]


def _mcp(config: Path, request: Request) -> tuple[list[str], str]:
    """The names of its servers, and where its copy lies for the agent."""
    try:
        text = config.read_text(encoding="utf-8")
        names = [str(name) for name in {**json.loads(text)["mcpServers"]}]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "This is no file of MCP servers", file=str(config), expected='{"mcpServers": {"name": {…}}}'
        ) from error
    copy = request.place.home / _MCP
    copy.write_text(text, encoding="utf-8")
    copy.chmod(0o600)
    return names, f"{request.home}/{_MCP}"


def _shell_prefix(request: Request) -> str:
    """A program put before every shell command: commands see no credential, and the throwaway home as HOME."""
    script = request.place.home / _SHELL
    lines = ["#!/bin/sh", "unset " + " ".join(CREDENTIALS), f"export HOME='{_quoted(request.home)}'"]
    script.write_text("\n".join([*lines, 'exec "${SHELL:-/bin/sh}" -c "$1"', ""]), encoding="utf-8")
    script.chmod(0o700)
    return f"{request.home}/{_SHELL}"


def _quoted(text: str) -> str:
    return text.replace("'", "'\\''")


def _input(request: Request) -> bytes:
    if request.slash and request.skill_folder:
        prompt = f"/{request.skill_folder} {request.prompt}"
    else:
        prompt = _as_text(request.prompt)
    if not request.turns and not request.pictures:
        return prompt.encode()
    lines = [_message(_as_text(text), shouldQuery=False) for text in request.turns]
    return "".join([*lines, _message(_content(prompt, request.pictures))]).encode()


def _content(prompt: str, pictures: Sequence[Picture]) -> str | list[dict[str, Any]]:
    if not pictures:
        return prompt
    blocks = [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": one.media_type, "data": b64encode(one.data).decode()},
        }
        for one in pictures
    ]
    return [{"type": "text", "text": prompt}, *blocks]


def _as_text(prompt: str) -> str:
    return f" {prompt}" if prompt.startswith("/") else prompt


def _message(content: str | list[dict[str, Any]], **more: bool) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}, **more}) + "\n"
