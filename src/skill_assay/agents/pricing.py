"""What an attempt cost, from its tokens and the model's list price, where the agent itself names no price."""

from __future__ import annotations

from skill_assay.model.transcript import Tokens

__all__ = ["list_price"]


def list_price(tokens: Tokens | None, model: str | None, provider: str | None = None) -> float | None:
    """US dollars by genai-prices, which comes with the prices and asks no server; `None`: not known.

    Args:
        tokens: by kind; `input` without what was read from a cache.
        model: in the provider's words; `provider/model` is understood.
        provider: where the model's name alone does not say.
    """
    if tokens is None or not model:
        return None
    from genai_prices import Usage, calc_price

    named, _, name = model.rpartition("/")
    cached = tokens.cache_read + tokens.cache_write
    usage = Usage(
        input_tokens=tokens.input + cached,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
    )
    try:
        return float(calc_price(usage, name, provider_id=named or provider).total_price)
    except (LookupError, ValueError):
        return None
