"""A model over HTTP through pydantic-ai (extra `[api]`): Anthropic, OpenAI, and whatever speaks like either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from skill_assay.agents.api_words import failure_from_words
from skill_assay.agents.json_lines import number, whole
from skill_assay.errors import Failure, FailureKind, InputError
from skill_assay.llm.base import Said
from skill_assay.model.attached import NOTHING, Attached
from skill_assay.model.transcript import Tokens, Usage

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["ApiVoice"]

_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_SECONDS = 300.0
"""For one question. The library bounds only how long a server may be silent."""
_URLS = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}


@dataclass(slots=True)
class ApiVoice:
    """Implements `Voice`.

    Args:
        provider: `anthropic` or `openai`.
        model: its name there.
        base_url: another server that speaks like the provider; then no key is needed.
        env: where the key is taken from.
        seconds: within which an answer must have come.

    Raises:
        InputError: no model is named, the extra is not installed, or there is no key.
    """

    provider: str
    model: str
    base_url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = _SECONDS

    def __post_init__(self) -> None:
        if not self.model:
            raise InputError("No model is named", found=f"{self.provider}:", expected=f"{self.provider}:MODEL")
        try:
            import pydantic_ai  # noqa: F401
        except ImportError as error:
            hint = "pip install 'skill-assay[api]', or judge through a CLI: --judge claude-code"
            raise InputError("Models over HTTP need the extra `api`", hint=hint) from error
        self.base_url = self.base_url or self.env.get(_URLS[self.provider]) or None
        if self.base_url is None and not self.env.get(_KEYS[self.provider]):
            raise InputError(f"There is no key for {self.name}", hint=f"Set {_KEYS[self.provider]}.")

    @property
    def name(self) -> str:
        """`PROVIDER:MODEL`."""
        return f"{self.provider}:{self.model}"

    @property
    def sees_pictures(self) -> bool:
        """A model that does not says so, which fails the question."""
        return True

    @property
    def reads_files(self) -> bool:
        """It has no tools."""
        return False

    async def say(self, prompt: str, schema: Mapping[str, Any], attached: Attached = NOTHING) -> Said:
        """One request; what its reply misses of the schema is looked at by who asked."""
        from pydantic_ai import Agent, BinaryContent, StructuredDict
        from pydantic_ai.exceptions import AgentRunError, ModelHTTPError

        asker = Agent(self._model(), output_type=StructuredDict(dict(schema)), retries=0)
        try:
            pictures = [BinaryContent(one.data, media_type=one.media_type) for one in attached.pictures]
            with anyio.fail_after(self.seconds):
                result = await asker.run([prompt, *pictures])
        except ModelHTTPError as error:
            failure = failure_from_words(str(error), status=error.status_code)
            wait = failure.retry_after if error.retry_after is None else error.retry_after
            return Said(model=self.model, failure=replace(failure, retry_after=wait))
        except AgentRunError as error:
            return Said(model=self.model, failure=Failure(_kind(error), str(error)[:300]))
        except TimeoutError:
            return Said(model=self.model, failure=Failure(FailureKind.CONNECTION, "gave no answer in time"))
        except OSError as error:
            return Said(model=self.model, failure=Failure(FailureKind.CONNECTION, str(error)[:300]))
        except Exception as error:
            # The library stumbles over some answers of servers that only resemble the provider's.
            return Said(model=self.model, failure=Failure(FailureKind.UNREADABLE, repr(error)[:300]))
        return Said(dict(result.output), self._usage(result.usage), self.model)

    def _model(self) -> Model:
        key = self.env.get(_KEYS[self.provider]) or "none"
        if self.provider == "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(self.model, provider=AnthropicProvider(api_key=key, base_url=self.base_url))
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIChatModel(self.model, provider=OpenAIProvider(api_key=key, base_url=self.base_url))

    def _usage(self, used: Any) -> Usage | None:
        """What it used; `None` where the server told nothing, or nothing that can be: no answer costs nothing."""
        told = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
        if any(number(count or 0) is None for count in told) or not any(told[:2]):
            return None
        asked, answered, read, written = map(whole, told)
        # The library counts cached tokens among the input; our meter keeps them apart.
        return Usage(Tokens(max(0, asked - read - written), answered, read, written), self._price(used))

    def _price(self, used: Any) -> float | None:
        """By the public price list; `None` for a model it does not know."""
        from genai_prices import calc_price

        try:
            return number(float(calc_price(used, self.model, provider_id=self.provider).total_price))
        except (LookupError, ValueError):
            return None


def _kind(error: Exception) -> FailureKind:
    from pydantic_ai.exceptions import ModelAPIError

    return FailureKind.CONNECTION if isinstance(error, ModelAPIError) else FailureKind.UNREADABLE
