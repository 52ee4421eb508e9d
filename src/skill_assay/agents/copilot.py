"""GitHub Copilot CLI: how it is found, signed in, launched and isolated. What it prints is read in `copilot_parser`.

Facts measured with the real program (1.0.102) that this file rests on:

- Without a provider of one's own it asks GitHub; `COPILOT_PROVIDER_*` names one (bring your own key).
- Skills are read from `.github/skills`, `.agents/skills` and `.claude/skills`.
- A use is a call of the tool `skill` that ends with success.
- Its events name no tokens; a file does, which it writes at its end, in place of whatever has that name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from skill_assay.agents.copilot_parser import CopilotParser
from skill_assay.agents.environment import DUMMY_KEY, secrets_of, trial_environment
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.errors import InputError
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "Copilot"]

PROGRAM = Program("GitHub Copilot CLI", "copilot", "ASSAY_COPILOT", "@github/copilot", "1.0.102")
_TOKENS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
_OWN = ("COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN")
_PROVIDER = ("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE", "COPILOT_MODEL", "COPILOT_OFFLINE")
_BUILT_IN = ["customize-cloud-agent", "github-pr-media"]
_MCP = ".mcp-servers.json"
_USAGE = ".usage.json"


class Copilot:
    """Adapter for GitHub Copilot CLI.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "copilot"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        tokens=True,
        mcp=True,
        note="Tokens are known of attempts it ends by itself; a price only with a provider of your own.",
        user_skills=("~/.copilot/skills", "~/.agents/skills", "~/.claude/skills"),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_COPILOT`, else `copilot` on PATH."""
        return PROGRAM.detect(self.name, env, self.sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """A provider of one's own with its key, else a token of GitHub's."""
        for names in (_OWN, _TOKENS):
            for name in names:
                if env.get(name):
                    more = {key: env[key] for key in _PROVIDER if env.get(key)} if names is _OWN else {}
                    return SignIn("key" if names is _OWN else "token", name, {name: env[name], **more})
        raise InputError(
            f"{PROGRAM.title} is not signed in",
            found=f"none of {', '.join((*_TOKENS, *_OWN))}",
            hint="Set COPILOT_GITHUB_TOKEN, or COPILOT_PROVIDER_BASE_URL, COPILOT_PROVIDER_API_KEY and COPILOT_MODEL. "
            "Trials have a fresh home, so a sign-in kept in yours can't be used.",
        )

    def skills_folder(self, place: Place) -> Path:
        """Skills of the repository the working directory is."""
        return place.work / ".agents" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        folder = request.place.home / ".copilot"
        folder.mkdir(exist_ok=True)
        (request.place.home / _USAGE).unlink(missing_ok=True)
        (folder / "settings.json").write_text(json.dumps({"disabledSkills": _BUILT_IN}), encoding="utf-8")
        env = trial_environment(self._env, request, {"COPILOT_HOME": f"{request.home}/.copilot"}, (*_TOKENS, *_OWN))
        if request.base_url:
            env |= {
                "COPILOT_PROVIDER_BASE_URL": f"{request.base_url}/v1",
                "COPILOT_PROVIDER_TYPE": "openai",
                "COPILOT_PROVIDER_API_KEY": DUMMY_KEY,
                "COPILOT_MODEL": request.model or "scripted",
                "COPILOT_OFFLINE": "true",
            }
        argv = [PROGRAM.require(self._env), *_options(request)]
        secrets = secrets_of(env, (*_TOKENS, *_OWN))
        return Launch(argv, env, request.place.work, request.prompt.encode(), secrets)

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return CopilotParser(work=request.work, home=request.home, usage_file=request.place.home / _USAGE)


def _options(request: Request) -> list[str]:
    options = ["--output-format", "json", "--no-auto-update", "--disable-builtin-mcps", "--no-ask-user"]
    options += ["--trust-folder", "--no-remote", "--disable-client-telemetry"]
    options += [f"--secret-env-vars={','.join((*_TOKENS, *_OWN))}"]
    options += ["--usage-output-file", f"{request.home}/{_USAGE}"]
    if request.tools:
        options += ["--allow-all-tools", "--allow-all-paths"]
    else:
        options += ["--available-tools=none", "--no-custom-instructions"]
    if request.model:
        options += ["--model", request.model]
    if request.mcp_config is not None:
        copy = request.place.home / _MCP
        copy.write_text(request.mcp_config.read_text(encoding="utf-8"), encoding="utf-8")
        options += ["--additional-mcp-config", f"@{request.home}/{_MCP}"]
    return options
