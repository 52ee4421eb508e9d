"""OpenCode: how it is found, signed in, launched and isolated. What it prints is read in `opencode_parser`.

Facts measured with the real program (1.18.33) that this file rests on:

- The prompt goes through standard input, closed after writing.
- Its skill tool lists a skill's files with ripgrep: without `rg` on PATH every use fails.
- A folder `.opencode` in the project makes it fetch packages into it, so skills lie in `.agents/skills`.
- One skill is built in; a permission takes it out of the catalogue.
- It keeps configuration, data and cache below the XDG folders, which lie in the fresh home.
- It repeats a failed request up to five times, for more than a minute, or for as long as the server says, and without
  an event. Its log, which goes to standard error, has a line for each.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay.agents.environment import DUMMY_KEY, PROVIDER_KEYS, every_key, secrets_of, trial_environment
from skill_assay.agents.mcp_file import Server, read_servers
from skill_assay.agents.opencode_parser import OpenCodeParser
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.errors import InputError
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "OpenCode"]

PROGRAM = Program("OpenCode", "opencode", "ASSAY_OPENCODE", "opencode-ai", "1.18.33")
_FIXED = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}
_CONFIG = ".opencode-config.json"
_LOGS = ("--print-logs", "--log-level", "ERROR")


class OpenCode:
    """Adapter for OpenCode.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "opencode"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        tokens=True,
        cost=True,
        mcp=True,
        note="The model is named as provider/model. Needs ripgrep (`rg`) on PATH.",
        user_skills=("~/.config/opencode/skills", "~/.agents/skills", "~/.claude/skills"),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_OPENCODE`, else `opencode` on PATH."""
        return PROGRAM.detect(self.name, env, self.sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """Every provider's key that is set."""
        return every_key(env, PROVIDER_KEYS, PROGRAM.title)

    def skills_folder(self, place: Place) -> Path:
        """Skills of the project the working directory is."""
        return place.work / ".agents" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        (request.place.home / _CONFIG).write_text(json.dumps(_config(request)), encoding="utf-8")
        fixed = {**_FIXED, "OPENCODE_CONFIG": f"{request.home}/{_CONFIG}"}
        for name, folder in (("CONFIG", ".config"), ("DATA", ".local/share"), ("CACHE", ".cache"), ("STATE", ".state")):
            fixed[f"XDG_{name}_HOME"] = f"{request.home}/{folder}"
        env = trial_environment(self._env, request, fixed, PROVIDER_KEYS)
        if request.base_url:
            env["OPENAI_API_KEY"] = DUMMY_KEY
        if shutil.which("rg", path=env["PATH"]) is None:
            raise InputError("OpenCode opens skills with ripgrep, which is missing", hint="Install ripgrep (`rg`).")
        argv = [PROGRAM.require(self._env), "run", "--format", "json", "--title", "trial", "--pure", "--auto", *_LOGS]
        model = _model(request)
        if model:
            argv += ["--model", model]
        return Launch(argv, env, request.place.work, request.prompt.encode(), secrets_of(env, PROVIDER_KEYS))

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return OpenCodeParser(work=request.work, home=request.home, model=_model(request))


def _model(request: Request) -> str | None:
    if not request.base_url:
        return request.model
    return f"scripted/{(request.model or 'scripted').rpartition('/')[2]}"


def _config(request: Request) -> dict[str, Any]:
    config: dict[str, Any] = {"autoupdate": False, "share": "disabled", "snapshot": False}
    config["permission"] = {"skill": {"customize-opencode": "deny"}}
    if request.base_url:
        options = {"baseURL": f"{request.base_url}/v1", "apiKey": "{env:OPENAI_API_KEY}"}
        name = str(_model(request)).rpartition("/")[2]
        models = {name: {"name": name, "limit": {"context": 200_000, "output": 8000}}}
        config["provider"] = {
            "scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": models}
        }
    if not request.tools:
        config["tools"] = {"*": False}
    elif not {"webfetch", "websearch"} & set(request.allow):
        config["tools"] = {"webfetch": False, "websearch": False}
    if request.mcp_config is not None:
        config["mcp"] = {server.name: _mcp(server) for server in read_servers(request.mcp_config)}
    return config


def _mcp(server: Server) -> dict[str, Any]:
    if server.url:
        return {"type": "remote", "url": server.url, "enabled": True}
    command = [server.command, *server.args]
    return {"type": "local", "command": command, "environment": dict(server.env), "enabled": True}
