"""Codex: how it is found, signed in, launched and isolated. What it prints is read in `codex_parser`.

Facts measured with the real program (0.171.0) that this file rests on:

- The prompt goes through standard input (`-`), closed after writing.
- Skills are read from `.agents/skills` up to the git root and from HOME and CODEX_HOME; of two with one name both are
  listed. So HOME and CODEX_HOME are fresh, and not below the temporary folder, where Codex refuses to put its helpers.
- Without a skill the catalogue is empty and the tools are the same: bundled skills are off by a setting.
- TERM and KILL leave the running shell command behind; INT ends both.
- Its own sandbox refuses writes without an event and can't be nested, so it is off, as other agents' prompts for
  permission are; a wall around it is `--sandbox bwrap`.
- Providers of one's own speak the Responses API only.
- A CODEX_HOME kept for its sign-in brings its AGENTS.md and its skills to the model, whatever options are given
  (`--ignore-user-config`, `--ignore-rules`, `project_doc_max_bytes=0`); so a sign-in kept there can't be used.
- A schema for the answer is handed on as OpenAI's strict kind, and the reply is not held against it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from skill_assay.agents.codex_parser import CodexParser
from skill_assay.agents.environment import DUMMY_KEY, first_key, secrets_of, trial_environment
from skill_assay.agents.mcp_file import Server, read_servers
from skill_assay.agents.programs import Program, refuse_argument
from skill_assay.agents.strict_schema import asked_in_words, strict
from skill_assay.errors import InputError
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.prompt_classes import calls_by_name
from skill_assay.model.protocols import Parser

__all__ = ["PROGRAM", "Codex"]

PROGRAM = Program("Codex", "codex", "ASSAY_CODEX", "@openai/codex", "0.171.0")
_KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
_SETTINGS = (
    "skills.bundled.enabled=false",
    "features.plugins=false",
    "features.remote_plugin=false",
    "features.apps=false",
    "features.memories=false",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    f"shell_environment_policy.exclude={json.dumps(list(_KEYS))}",
)
_NO_TOOLS = (
    "features.shell_tool=false",
    "features.unified_exec=false",
    "features.view_image=false",
    "features.image_generation=false",
    "features.multi_agent=false",
    "features.goals=false",
    "skills.include_instructions=false",
)
"""What stays (`request_user_input`) touches nothing."""
_SCHEMA = ".answer-schema.json"


class Codex:
    """Adapter for Codex.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "codex"
    capabilities = Capabilities(
        install=PROGRAM.advice,
        slash=True,
        dollar_calls=True,
        openai_yaml=True,
        schema=True,
        tokens=True,
        mcp=True,
        note="A skill's use is seen when a command reads its SKILL.md; `$name` in the prompt leaves no sign. "
        "Cost is computed from tokens and the model's list price, where --model names one.",
        user_skills=("~/.agents/skills", "${CODEX_HOME:-~/.codex}/skills"),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program named by `ASSAY_CODEX`, else `codex` on PATH."""
        return PROGRAM.detect(self.name, env, self.sign_in)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """A key variable.

        Raises:
            InputError: there is none; where the user is signed in with a ChatGPT account, why that is of no use here.
        """
        kept = Path(env.get("CODEX_HOME") or Path(env.get("HOME") or "~").expanduser() / ".codex") / "auth.json"
        if not any(env.get(name) for name in _KEYS) and kept.is_file():
            raise InputError(
                "Codex is signed in by a file, which can't be used here",
                found=str(kept),
                expected=" or ".join(_KEYS),
                hint="Set CODEX_API_KEY. Beside that file lie your own AGENTS.md and skills, which Codex would show "
                "to the model in every arm and no option leaves out; and files with a sign-in are never copied.",
            )
        return first_key(env, _KEYS, PROGRAM.title)

    def skills_folder(self, place: Place) -> Path:
        """Skills of the repository the working directory is."""
        return place.work / ".agents" / "skills"

    def launch(self, request: Request) -> Launch:
        """The command line, with the prompt on standard input."""
        home = request.place.home / ".codex"
        home.mkdir(exist_ok=True)
        env = trial_environment(self._env, request, {"CODEX_HOME": f"{request.home}/.codex"}, _KEYS)
        if request.base_url:
            env["CODEX_API_KEY"] = DUMMY_KEY
        elif not env.get("CODEX_API_KEY") and env.get("OPENAI_API_KEY"):
            env["CODEX_API_KEY"] = env["OPENAI_API_KEY"]
        argv = [PROGRAM.require(self._env), "exec", *self._options(request), "-"]
        return Launch(
            argv, env, request.place.work, _prompt(request).encode(), secrets_of(env, _KEYS), end_signal="INT"
        )

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return CodexParser(
            work=request.work,
            home=request.home,
            model=request.model,
            signs=not (request.slash or _calls_it(request)),
            schema=request.schema,
        )

    def _options(self, request: Request) -> list[str]:
        settings = [*_SETTINGS, *self._provider(request), *_mcp(request)]
        options = ["--json", "--skip-git-repo-check", "--ephemeral", "--color", "never"]
        if request.tools:
            options += ["--dangerously-bypass-approvals-and-sandbox"]
            if "web_search" not in request.allow:
                settings.append('web_search="disabled"')
        else:
            options += ["--sandbox", "read-only"]
            settings += [*_NO_TOOLS, 'web_search="disabled"']
        if request.model:
            options += ["--model", request.model]
        if request.schema is not None and (schema := strict(request.schema)) is not None:
            (request.place.home / _SCHEMA).write_text(json.dumps(schema), encoding="utf-8")
            options += ["--output-schema", f"{request.home}/{_SCHEMA}"]
        return [*options, *(word for setting in settings for word in ("-c", setting))]

    def _provider(self, request: Request) -> list[str]:
        """Where the model is, if not at its maker's: a scripted server, or the user's own by OPENAI_BASE_URL."""
        url = f"{request.base_url}/v1" if request.base_url else self._env.get("OPENAI_BASE_URL")
        if not url:
            return []
        table = f'{{name="assay",base_url={json.dumps(url)},wire_api="responses",env_key="CODEX_API_KEY",'
        table += "request_max_retries=1,stream_max_retries=1}"
        return ['model_provider="assay"', f"model_providers.assay={table}"]


def _calls_it(request: Request) -> bool:
    """Whether the prompt itself calls the skill by `$name`: its text is then put in without an event."""
    names = (request.skill_folder, request.skill_name)
    texts = (request.prompt, *request.turns)
    return request.skill_folder is not None and any(calls_by_name(text, names) for text in texts)


def _prompt(request: Request) -> str:
    called = f"${request.skill_folder} " if request.slash and request.skill_folder else ""
    if request.schema is not None and strict(request.schema) is None:
        return asked_in_words(called + request.prompt, request.schema)
    return called + request.prompt


def _mcp(request: Request) -> list[str]:
    if request.mcp_config is None:
        return []
    return [f"mcp_servers.{json.dumps(s.name)}={_table(s)}" for s in read_servers(request.mcp_config)]


def _table(server: Server) -> str:
    """As an inline table of TOML, in which JSON's strings and arrays are valid."""
    if server.url:
        return f"{{url={json.dumps(server.url)}}}"
    env = ",".join(f"{json.dumps(name)}={json.dumps(value)}" for name, value in server.env.items())
    return f"{{command={json.dumps(server.command)},args={json.dumps(list(server.args))},env={{{env}}}}}"
