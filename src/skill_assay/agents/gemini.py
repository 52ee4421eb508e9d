"""Gemini CLI: how it is found, signed in, launched and isolated. What it prints is read in `gemini_parser`.

Facts measured with the real program (0.61.0) that this file rests on:

- The prompt goes through standard input, closed after writing.
- It shows the working directory's tree to the model, so that names of files could give the answer away: off by a
  setting, and the same in every arm.
- Left alone it repeats a failed request for minutes; the number of attempts is a setting.
- It starts itself a second time with more memory: not needed, off by a variable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay.agents.environment import DUMMY_KEY, first_key, secrets_of, trial_environment
from skill_assay.agents.gemini_parser import GeminiParser
from skill_assay.agents.mcp_file import read_servers
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "Gemini"]

PROGRAM = Program("Gemini CLI", "gemini", "ASSAY_GEMINI", "@google/gemini-cli", "0.61.0")
_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_FIXED = {"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_TELEMETRY_ENABLED": "false"}
_BUILT_IN = ["skill-creator", "antigravity-support"]
_NETWORK = ("google_web_search", "web_fetch")


class Gemini:
    """Adapter for Gemini CLI.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "gemini"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        tokens=True,
        turn_limit=True,
        mcp=True,
        note="Cost is computed from tokens and the models' list prices.",
        user_skills=("~/.gemini/skills", "~/.agents/skills"),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_GEMINI`, else `gemini` on PATH."""
        return PROGRAM.detect(self.name, env, self.sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """A key variable."""
        return first_key(env, _KEYS, PROGRAM.title)

    def skills_folder(self, place: Place) -> Path:
        """Skills of the project the working directory is."""
        return place.work / ".gemini" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        folder = request.place.home / ".gemini"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(_settings(request)), encoding="utf-8")
        env = trial_environment(self._env, request, _FIXED, _KEYS)
        if request.base_url:
            env |= {"GOOGLE_GEMINI_BASE_URL": request.base_url, "GEMINI_API_KEY": DUMMY_KEY}
        else:
            env.setdefault("GEMINI_API_KEY", env.get("GOOGLE_API_KEY", ""))
            if "GOOGLE_GEMINI_BASE_URL" in self._env:
                env["GOOGLE_GEMINI_BASE_URL"] = self._env["GOOGLE_GEMINI_BASE_URL"]
        argv = [PROGRAM.require(self._env), "--output-format", "stream-json", "--skip-trust", "--yolo"]
        model = request.model or ("gemini-2.5-flash" if request.base_url else None)
        if model:
            argv += ["--model", model]
        return Launch(argv, env, request.place.work, request.prompt.encode(), secrets_of(env, _KEYS))

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return GeminiParser(work=request.work, home=request.home)


def _settings(request: Request) -> dict[str, Any]:
    excluded = [name for name in _NETWORK if name not in request.allow]
    tools = {"exclude": excluded} if request.tools else {"core": []}
    settings: dict[str, Any] = {
        "context": {"includeDirectoryTree": False},
        "general": {"enableAutoUpdate": False, "maxAttempts": 2, "checkpointing": {"enabled": False}},
        "model": {"maxSessionTurns": request.max_turns} if request.max_turns is not None else {},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "environmentVariableRedaction": {"enabled": True, "blocked": list(_KEYS)},
        },
        "skills": {"enabled": request.tools, "disabled": _BUILT_IN},
        "tools": tools,
    }
    if request.mcp_config is not None:
        settings["mcpServers"] = {server.name: dict(server.raw) for server in read_servers(request.mcp_config)}
    return settings
