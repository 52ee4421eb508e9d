"""Qwen Code: how it is found, signed in, launched and isolated. What it prints is read in `qwen_parser`.

Facts measured with the real program (0.24.4) that this file rests on:

- The prompt goes through standard input, closed after writing.
- It speaks to any server of OpenAI's protocol; the key, address and model are variables.
- It shows the working directory's tree to the model, so that names of files could give the answer away: off by a
  setting, and the same in every arm.
- Left alone it repeats a failed request for many minutes. A setting takes that down to seven tries, a minute and a
  quarter; fewer can't be had, and it tells of none of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay.agents.environment import DUMMY_KEY, first_key, secrets_of, trial_environment
from skill_assay.agents.mcp_file import read_servers
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.agents.qwen_parser import QwenParser
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "Qwen"]

PROGRAM = Program("Qwen Code", "qwen", "ASSAY_QWEN", "@qwen-code/qwen-code", "0.24.4")
_KEYS = ("OPENAI_API_KEY",)
_FIXED = {"QWEN_CODE_NO_RELAUNCH": "true", "QWEN_TELEMETRY_ENABLED": "false"}
_BUILT_IN = (
    *("batch", "browser-use", "computer-use", "coordinate", "dataviz", "extension-creator", "goal-draft", "loop"),
    *("new-app", "qc-helper", "review", "simplify", "stuck", "workflow-authoring", "workflow-creator"),
    "zvec-grep-install",
)
"""Skills that come with it: off in every arm, so that without a skill the catalogue is empty."""
_FROM_USER = ("OPENAI_BASE_URL", "OPENAI_MODEL")


class Qwen:
    """Adapter for Qwen Code.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "qwen"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        tokens=True,
        turn_limit=True,
        mcp=True,
        note="Cost is computed from tokens and the model's list price, where it is known.",
        user_skills=("~/.qwen/skills", "~/.agents/skills"),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_QWEN`, else `qwen` on PATH."""
        return PROGRAM.detect(self.name, env, self.sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """A key variable; OPENAI_BASE_URL and OPENAI_MODEL say whose."""
        return first_key(env, _KEYS, PROGRAM.title)

    def skills_folder(self, place: Place) -> Path:
        """Skills of the project the working directory is."""
        return place.work / ".qwen" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        folder = request.place.home / ".qwen"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(_settings(request)), encoding="utf-8")
        env = trial_environment(self._env, request, _FIXED, _KEYS)
        if request.base_url:
            env |= {"OPENAI_BASE_URL": f"{request.base_url}/v1", "OPENAI_API_KEY": DUMMY_KEY}
        else:
            env |= {name: self._env[name] for name in _FROM_USER if name in self._env}
        argv = [PROGRAM.require(self._env), "--output-format", "stream-json", "--yolo", "--auth-type", "openai"]
        model = request.model or ("scripted" if request.base_url else None)
        if model:
            argv += ["--model", model]
        if request.max_turns is not None:
            argv += ["--max-session-turns", str(request.max_turns)]
        if not request.tools:
            argv += ["--core-tools", "none"]
        return Launch(argv, env, request.place.work, request.prompt.encode(), secrets_of(env, _KEYS))

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return QwenParser(work=request.work, home=request.home)


def _settings(request: Request) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "context": {"includeDirectoryTree": False},
        "general": {"enableAutoUpdate": False},
        # Each would ask the model something on its own, after the answer.
        "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False, "enableAutoSkill": False},
        "privacy": {"usageStatisticsEnabled": False},
        "skills": {"disabled": list(_BUILT_IN)},
        "model": {"generationConfig": {"maxRetries": 0, "timeout": 300_000}},
    }
    if "web_fetch" not in request.allow:
        settings["tools"] = {"exclude": ["web_fetch"]}
    if request.mcp_config is not None:
        settings["mcpServers"] = {server.name: dict(server.raw) for server in read_servers(request.mcp_config)}
    return settings
