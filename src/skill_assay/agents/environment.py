"""The environment an agent's program is started with, and the keys it is signed in by."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from skill_assay.errors import InputError
from skill_assay.model.agent import Request, SignIn

__all__ = ["DUMMY_KEY", "PROVIDER_KEYS", "every_key", "first_key", "secrets_of", "trial_environment"]

DUMMY_KEY = "sk-ant-scripted-model-server"
"""What a model server of our own is shown: never a real credential."""

PROVIDER_KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "CEREBRAS_API_KEY",
)
"""For agents that speak to several providers: each key passes if it is set."""


def first_key(env: Mapping[str, str], names: Iterable[str], title: str) -> SignIn:
    """The first variable of `names` that is set.

    Raises:
        InputError: none is.
    """
    named = tuple(names)
    for name in named:
        if env.get(name):
            return SignIn("key", name, {name: env[name]})
    raise _not_signed_in(title, named)


def every_key(env: Mapping[str, str], names: Iterable[str], title: str) -> SignIn:
    """All variables of `names` that are set: which one is needed, the model decides.

    Raises:
        InputError: none is.
    """
    named = tuple(names)
    found = {name: env[name] for name in named if env.get(name)}
    if not found:
        raise _not_signed_in(title, named)
    return SignIn("key", ", ".join(found), found)


def _not_signed_in(title: str, names: tuple[str, ...]) -> InputError:
    return InputError(
        f"{title} is not signed in",
        found=f"none of {', '.join(names)}",
        hint=f"Set {names[0]}. Trials have a fresh home, so a sign-in kept in yours can't be used; files that hold "
        "one are never copied.",
    )


def trial_environment(
    user: Mapping[str, str], request: Request, fixed: Mapping[str, str], credentials: Iterable[str]
) -> dict[str, str]:
    """The allow-listed variables, a fresh home, and the agent's own settings; a scripted server sees no credential."""
    env = {"PATH": user.get("PATH", os.defpath), **request.env}
    if request.base_url:
        hidden = {name for name in env if name.upper().endswith("_PROXY")} | set(credentials)
        env = {name: value for name, value in env.items() if name not in hidden}
    return {**env, **fixed, "HOME": request.home, "TMPDIR": request.tmp}


def secrets_of(env: Mapping[str, str], credentials: Iterable[str]) -> tuple[str, ...]:
    """The values that must never be written down; see `Launch.secrets`."""
    return tuple(env[name] for name in credentials if env.get(name))
