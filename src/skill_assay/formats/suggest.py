"""A guess at what a misspelt name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`Did you mean "x"? ` with a space behind it, or nothing when no known name is near."""
    words = {word.lower().replace("-", "_"): word for word in known}
    near = get_close_matches(name.lower().replace("-", "_").replace(" ", "_"), words, n=1, cutoff=0.7)
    return f'Did you mean "{words[near[0]]}"? ' if near else ""
