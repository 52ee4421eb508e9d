"""A provider's model for the built-in agent, and its failures in the words of the failure table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.errors import Failure, FailureKind, failure_from_status

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["failure_of", "key_names", "open_model", "url_name"]

_KEYS: Mapping[str, tuple[str, ...]] = {
    "alibaba": ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "cohere": ("CO_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "heroku": ("HEROKU_INFERENCE_KEY",),
    "vercel": ("VERCEL_AI_GATEWAY_API_KEY",),
}


def _family(provider: str) -> str:
    return provider.removesuffix("-chat").removesuffix("-responses")


def key_names(provider: str) -> tuple[str, ...]:
    """The variables a provider's key may be in."""
    family = _family(provider)
    return _KEYS.get(family, (f"{family.upper().replace('-', '_')}_API_KEY",))


def url_name(provider: str) -> str:
    """The variable that names another server for a provider."""
    return f"{_family(provider).upper().replace('-', '_')}_BASE_URL"


def open_model(name: str, env: Mapping[str, str]) -> Model:
    """The model `PROVIDER:NAME`; keys and addresses are taken from the process's environment.

    Other servers of OpenAI's protocol rarely know its newer one, so that with an address `openai` speaks the older.
    """
    from pydantic_ai.models import infer_model

    provider, _, model = name.partition(":")
    if provider == "openai" and env.get(url_name(provider)):
        name = f"openai-chat:{model}"
    return infer_model(name)


def failure_of(error: Exception) -> Failure:
    """What an exception of a request stands for."""
    from pydantic_ai import exceptions as known

    words = _said(error)
    match error:
        case known.ModelQuotaExceededError():
            return Failure(FailureKind.NO_CREDIT, words, status=getattr(error, "status_code", None))
        case known.ModelHTTPError():
            return failure_from_status(
                error.status_code, words, retry_after=error.retry_after, detail=str(error)[:2000]
            )
        case known.ModelConnectionError() | known.ModelRequestTimeout() | OSError():
            return Failure(FailureKind.CONNECTION, words)
        case known.ContentFilterError():
            return Failure(FailureKind.AGENT_LIMIT, words)
        case known.UserError() | ImportError() if "key" in words.lower():
            return Failure(FailureKind.NOT_SIGNED_IN, words)
        case known.UserError() | ImportError():
            # No such provider, or its library is not installed: no trial with this model can begin.
            return Failure(FailureKind.UNKNOWN_MODEL, words)
        case known.AgentRunError():
            return failure_from_words(words)
        case _:
            raise error


def _said(error: Exception) -> str:
    """The provider's own words where it has some."""
    body: Any = getattr(error, "body", None)
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            body = None
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    said = inner.get("message") if isinstance(inner, Mapping) else None
    status = getattr(error, "status_code", None)
    return f"{f'{status}: ' if status else ''}{said or getattr(error, 'message', '') or error}"[:500]
