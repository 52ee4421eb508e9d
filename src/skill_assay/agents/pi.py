"""pi: how it is found, signed in, launched and isolated. What it prints is read in `pi_parser`.

Facts measured with the real program (0.73.1) that this file rests on:

- The prompt goes through standard input, closed after writing.
- It exits 0 even when the API refused it; only its events tell.
- Skills are read from `.pi/skills` and `.agents/skills` of the working directory and of the home, which is fresh.
- There is no skill tool: the catalogue names files, and a use is a read of one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from skill_assay.agents.environment import DUMMY_KEY, PROVIDER_KEYS, every_key, secrets_of, trial_environment
from skill_assay.agents.pi_parser import PiParser
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "Pi"]

PROGRAM = Program("pi", "pi", "ASSAY_PI", "@mariozechner/pi-coding-agent", "0.73.1")
_KEYS = (*PROVIDER_KEYS, "ANTHROPIC_OAUTH_TOKEN")
_SETTINGS = {"retry": {"enabled": True, "maxRetries": 1, "baseDelayMs": 1000}, "quietStartup": True}


class Pi:
    """Adapter for pi.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "pi"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        tokens=True,
        cost=True,
        note="A skill's use is seen when its SKILL.md is read. The model is named as provider/model.",
        user_skills=("~/.pi/agent/skills", "~/.agents/skills"),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_PI`, else `pi` on PATH."""
        return PROGRAM.detect(self.name, env, self.sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """Every provider's key that is set."""
        return every_key(env, _KEYS, PROGRAM.title)

    def skills_folder(self, place: Place) -> Path:
        """Skills of the project the working directory is."""
        return place.work / ".pi" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        folder = request.place.home / ".pi" / "agent"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")
        fixed = {"PI_CODING_AGENT_DIR": f"{request.home}/.pi/agent", "PI_SKIP_VERSION_CHECK": "1"}
        env = trial_environment(self._env, request, fixed, _KEYS)
        argv = [PROGRAM.require(self._env), "-p", "--mode", "json", "--no-session", "--offline", "--no-extensions"]
        if request.base_url:
            model = request.model or "scripted"
            (folder / "models.json").write_text(json.dumps(_scripted(request.base_url, model)), encoding="utf-8")
            env["OPENAI_API_KEY"] = DUMMY_KEY
            argv += ["--provider", "scripted", "--model", model]
        elif request.model:
            argv += ["--model", request.model]
        if not request.tools:
            argv += ["--no-tools", "--no-skills", "--no-context-files"]
        return Launch(argv, env, request.place.work, request.prompt.encode(), secrets_of(env, _KEYS))

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return PiParser(work=request.work, home=request.home)


def _scripted(url: str, model: str) -> dict[str, object]:
    """A provider of our own; see `Request.base_url`."""
    about = {"id": model, "contextWindow": 200_000, "maxTokens": 8000, "input": ["text"], "reasoning": False}
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "OPENAI_API_KEY", "models": [about]}
    return {"providers": {"scripted": provider}}
