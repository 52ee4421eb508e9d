"""The prompts, files of the package: each has a version in its first line and a digest for the record."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["NAMES", "PromptText", "load_prompt", "prompts_digest"]

NAMES = ("analyst", "classify", "comparator", "description", "draft", "improve", "judge", "more-evals")


@dataclass(frozen=True, slots=True)
class PromptText:
    """One prompt, before it is filled in."""

    name: str
    version: str
    digest: str
    """SHA-256 of the file, hexadecimal."""
    template: str

    def fill(self, **values: str) -> str:
        """The prompt with its places filled; what is filled in is never looked into again."""
        return Template(self.template).substitute(values)


@cache
def load_prompt(name: str) -> PromptText:
    """A prompt by its name."""
    data = (files("skill_assay.llm") / "prompts" / f"{name}.md").read_bytes()
    first, _, rest = data.decode("utf-8").partition("\n")
    version = re.fullmatch(r"<!-- version: (\S+) -->", first.strip())
    if version is None:
        raise ValueError(f"the prompt {name} has no version")
    return PromptText(name, version[1], hashlib.sha256(data).hexdigest(), rest)


def prompts_digest(*names: str) -> str:
    """SHA-256 over some prompts (all of them when none is named)."""
    return hashlib.sha256("\n".join(load_prompt(name).digest for name in names or NAMES).encode()).hexdigest()
