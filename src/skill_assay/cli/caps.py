"""`--budget` of commands that resolve no configuration."""

from __future__ import annotations

from typing import Any

from skill_assay.errors import InputError
from skill_assay.formats.settings import BadValue, parse_budget

__all__ = ["parse_caps"]


def parse_caps(text: str | None) -> dict[str, Any]:
    """The caps; none when the option is not given.

    Raises:
        InputError: they are not written as they must be.
    """
    try:
        return parse_budget(text) if text else {}
    except BadValue as error:
        raise InputError("--budget can't be read", found=text, expected=str(error)) from error
