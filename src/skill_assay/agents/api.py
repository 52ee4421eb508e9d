"""The built-in agent (extra `[api]`): a plain loop around a model of any provider, with tools for files, shell, skills.

It is a program like the others, launched for each attempt (`api_program`), so the walls, limits and clean-up around it
are theirs. What it prints is read in `api_parser`. Its model is named as `provider:model`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from skill_assay import __version__
from skill_assay.agents.api_model import MOVABLE, key_names, split_address, url_name
from skill_assay.agents.api_parser import ApiParser
from skill_assay.agents.api_skills import FOLDER, LISTING
from skill_assay.agents.environment import DUMMY_KEY, PROVIDER_KEYS, trial_environment
from skill_assay.agents.programs import refuse_argument
from skill_assay.errors import InputError
from skill_assay.model.agent import Capabilities, Detected, Listing, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["Api"]

_KEYS = tuple(
    dict.fromkeys(
        (
            *PROVIDER_KEYS,
            *(name for provider in ("google", "azure", "cohere", "huggingface") for name in key_names(provider)),
            *(name for provider in sorted(MOVABLE) for name in key_names(provider)),
        )
    )
)
_URLS = tuple(name for name in map(url_name, sorted(MOVABLE, key=lambda one: one != "openai")) if name)
_LIBRARY = "pydantic_ai"
_BOOT = (
    "import sys; sys.path += [p for p in sys.argv.pop().splitlines() if p not in sys.path]; "
    "from skill_assay.agents.api_program import main; main()"
)
"""Isolated from the working directory and from the user's variables, and yet able to find the packages."""


class Api:
    """Adapter for the built-in agent.

    Args:
        spec: nothing may follow the name.
        env: the user's environment; by default this process's.
    """

    name = "api"
    capabilities = Capabilities(
        turns=True,
        tokens=True,
        turn_limit=True,
        install="Install its library: pip install 'skill-assay[api]'",
        sign_in="Set the key of the model's provider, such as ANTHROPIC_API_KEY or OPENAI_API_KEY",
        note="The model is named as provider:model. Cost is computed from tokens and the model's list price.",
        listing=Listing(*LISTING),
    )

    def __init__(self, spec: str = "", *, env: Mapping[str, str] | None = None) -> None:
        refuse_argument(self.name, spec)
        self._env = dict(os.environ if env is None else env)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """Here, if the extra is; its version changes with the library's."""
        found = _library_version()
        if found is None:
            return None
        try:
            signed: SignIn | None = self.sign_in(env)
        except InputError:
            signed = None
        return Detected(self.name, f"{__version__}+pydantic-ai.{found}", "built in", signed)

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """Every provider's key that is set, else the address of a server that may need none.

        Raises:
            InputError: neither is there.
        """
        found = {name: env[name] for name in _KEYS if env.get(name)}
        if found:
            return SignIn("key", ", ".join(found), found)
        address = next((name for name in _URLS if env.get(name)), None)
        if address is not None:
            return SignIn("none", address)
        raise InputError(
            "The built-in agent has no key",
            found=f"none of {', '.join(PROVIDER_KEYS)}",
            hint="Set the key of the model's provider, or OPENAI_BASE_URL for a server of your own.",
        )

    def sign_in_for(self, model: str | None, env: Mapping[str, str]) -> SignIn:
        """How trials with this model sign in: its provider's key, or the address of a server that may need none.

        Raises:
            InputError: no model is named with its provider, or there is neither; or its server can't be another.
        """
        provider, _, address = _parts(model)
        names = key_names(provider)
        found = {name: env[name] for name in names if env.get(name)}
        if found:
            return SignIn("key", ", ".join(found), found)
        variable = url_name(provider)
        if address is None and not (variable and env.get(variable)):
            raise InputError(f"There is no key for {model}", found=f"no {' nor '.join(names)}", hint=f"Set {names[0]}.")
        return SignIn("none", "--model" if address else str(variable))

    def skills_folder(self, place: Place) -> Path:
        """Skills of the project the working directory is."""
        return place.work / FOLDER

    def launch(self, request: Request) -> Launch:
        """The process, with its task and the provider's key on standard input.

        Raises:
            InputError: the extra is missing, no model is named, its provider has no key, or it can't be asked at
                another address than its own although it should.
        """
        library = _library_version()
        if library is None:
            raise InputError("The built-in agent needs the extra `api`", hint="pip install 'skill-assay[api]'")
        provider, name, address = _parts(request.model)
        seen = {**self._env, **request.env}
        if request.base_url:
            keys = {key_names(provider)[0]: DUMMY_KEY}
            address = _scripted(provider, request.base_url)
        else:
            keys = dict(self.sign_in_for(request.model, seen).env)
            address = address or seen.get(url_name(provider) or "") or None
        env = trial_environment(self._env, request, {}, (*_KEYS, *_URLS))
        task = {
            "model": f"{provider}:{name}",
            "address": address,
            "version": f"{__version__}+pydantic-ai.{library}",
            "prompt": request.prompt,
            "turns": list(request.turns),
            "max_turns": request.max_turns,
            "tools": request.tools,
            "keys": keys,
        }
        folders = _import_folders()
        return Launch(
            argv=[sys.executable, "-I", "-X", "utf8", "-c", _BOOT, "\n".join(str(folder) for folder in folders)],
            env={name: value for name, value in env.items() if name not in _KEYS and name not in keys},
            cwd=request.place.work,
            stdin=json.dumps(task).encode(),
            secrets=tuple(keys.values()),
            readable=(Path(__file__).parent.parent, *folders[1:]),
        )

    def parser(self, request: Request) -> Parser:
        """A parser that knows where this attempt's skills lie."""
        return ApiParser(work=request.work, home=request.home)


def _parts(model: str | None) -> tuple[str, str, str | None]:
    """Provider, name and address of a model.

    Raises:
        InputError: the first two are not both there, or the provider's server can't be another.
    """
    provider, colon, rest = (model or "").partition(":")
    name, address = split_address(rest)
    if not provider or not colon or not name:
        raise InputError(
            "The built-in agent needs a model, named with its provider",
            found=f"--model {model}" if model else "none",
            expected="--model PROVIDER:MODEL, such as anthropic:claude-… or openai:gpt-…",
        )
    if address is not None:
        _movable(provider)
    return provider, name, address


def _scripted(provider: str, url: str) -> str:
    _movable(provider)
    return url if provider == "anthropic" else f"{url}/v1"


def _movable(provider: str) -> None:
    """What can't be sent elsewhere is not sent at all: it would go to the provider itself."""
    if url_name(provider) is None:
        raise InputError(
            f"Models of {provider} can't be asked at another address",
            expected=f"a model of {', '.join(sorted(MOVABLE))}",
            hint="openai:MODEL speaks with any server of the Chat Completions API.",
        )


def _library_version() -> str | None:
    try:
        return version("pydantic-ai-slim") if find_spec(_LIBRARY) else None
    except PackageNotFoundError:
        return None


def _import_folders() -> list[Path]:
    """Where this package and the library lie: an editable install or a user's own packages are found only so."""
    origins = [find_spec(name) for name in ("skill_assay", _LIBRARY)]
    return [Path(found.origin).parent.parent for found in origins if found is not None and found.origin]
