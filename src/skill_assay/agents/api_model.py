"""A provider's model for the built-in agent, and its failures in the words of the failure table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skill_assay.agents.api_words import failure_from_words
from skill_assay.errors import Failure, FailureKind

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

__all__ = ["MOVABLE", "failure_of", "family", "is_free", "key_names", "open_model", "split_address", "url_name"]

MOVABLE = frozenset(
    {
        *("alibaba", "anthropic", "cerebras", "crusoe", "deepseek", "fireworks", "heroku", "litellm"),
        *("meta", "moonshotai", "nebius", "ollama", "openai", "openrouter", "ovhcloud", "sambanova", "together"),
        *("vercel", "vllm", "zai"),
    }
)
"""Families whose server can be another: the library takes a client of ours for them, whatever address it has. For the
others it takes none, or reads its own variables, so that a request could go to the provider all the same."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "alibaba": ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "cohere": ("CO_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "heroku": ("HEROKU_INFERENCE_KEY",),
    "huggingface": ("HF_TOKEN",),
    "vercel": ("VERCEL_AI_GATEWAY_API_KEY",),
}
_ADDRESS = re.compile(r"(.*?)@(https?://.+)", re.DOTALL)
_NO_KEY = "none"
"""A server of one's own may need none, but a client does."""


def family(provider: str) -> str:
    """A provider's name without the protocol it is spoken to by."""
    return provider.removesuffix("-chat").removesuffix("-responses")


def key_names(provider: str) -> tuple[str, ...]:
    """The variables a provider's key may be in."""
    name = family(provider)
    return _KEYS.get(name, (f"{name.upper().replace('-', '_')}_API_KEY",))


def url_name(provider: str) -> str | None:
    """The variable that names another server for a provider; `None` where there can be none."""
    name = family(provider)
    return f"{name.upper()}_BASE_URL" if name in MOVABLE else None


def split_address(model: str) -> tuple[str, str | None]:
    """A model's name and the server named after it: `MODEL@URL`, where a name may hold an `@` of its own."""
    found = _ADDRESS.fullmatch(model)
    return (found[1], found[2]) if found else (model, None)


def open_model(name: str, keys: Mapping[str, str], address: str | None = None) -> Model:
    """The model `PROVIDER:NAME`; without an address its key is taken from the process's environment.

    Other servers of OpenAI's protocol rarely know its newer one, so that with an address `openai` speaks the older.

    Args:
        name: with its provider.
        keys: the provider's, by variable.
        address: another server, which is then the only one that is asked.
    """
    from pydantic_ai.models import infer_model

    if address is None:
        return infer_model(name)
    provider, _, model = name.partition(":")
    key = next(iter(keys.values()), _NO_KEY)
    return infer_model(
        f"openai-chat:{model}" if provider == "openai" else name, lambda kind: _moved(kind, address, key)
    )


def _moved(provider: str, address: str, key: str) -> Provider[Any]:
    if provider == "anthropic":
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicProvider(api_key=key, base_url=address)
    from httpx2 import AsyncClient
    from openai import AsyncOpenAI
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.providers import infer_provider_class

    try:
        made: Any = infer_provider_class(provider)
    except ValueError as error:
        raise UserError(str(error)) from error
    # A plain one: the client's own would tidy up after the event loop is gone.
    client = AsyncOpenAI(api_key=key, base_url=address, max_retries=0, http_client=AsyncClient(timeout=600))
    moved: Provider[Any] = made(openai_client=client)
    return moved


def failure_of(error: Exception) -> Failure:
    """What an exception of a request stands for."""
    from pydantic_ai import exceptions as known

    words = _said(error)
    match error:
        case known.ModelQuotaExceededError():
            return Failure(FailureKind.NO_CREDIT, words, status=getattr(error, "status_code", None))
        case known.ModelHTTPError():
            failure = failure_from_words(words, status=error.status_code)
            wait = failure.retry_after if error.retry_after is None else error.retry_after
            return replace(failure, message=words, retry_after=wait, detail=str(error)[:2000])
        case known.ModelConnectionError() | known.ModelRequestTimeout() | OSError():
            return Failure(FailureKind.CONNECTION, words)
        case known.UnexpectedModelBehavior() if "ended without content" in words:
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


def is_free(error: Exception) -> bool:
    """Whether a request that failed so can have cost nothing: it was refused by status, or never sent."""
    from pydantic_ai import exceptions as known

    match error:
        case known.ModelHTTPError():
            return True
        case known.ModelConnectionError(phase="pool" | "connect"):
            return True
        case _:
            return False


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
