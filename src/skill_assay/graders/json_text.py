"""JSON as its standard has it: no NaN, no trailing text; equality that tells `true` from 1."""

from __future__ import annotations

import json
from typing import Any, NoReturn

__all__ = ["NotJson", "json_equal", "json_type", "parse_json"]


class NotJson(ValueError):
    """Not JSON; the message says why and where, in words that follow the file's name."""


def parse_json(data: bytes | str) -> Any:
    """The value of a JSON document (UTF-8, with or without BOM)."""
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return json.loads(text, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise NotJson(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except UnicodeDecodeError:
        raise NotJson("is not JSON: it is not UTF-8") from None
    except RecursionError:
        raise NotJson("is not JSON that can be read: it nests too deeply") from None
    except ValueError as error:
        raise NotJson(f"is not JSON: {error}") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def json_type(value: Any) -> str:
    """The value's type in JSON's words; `integer` for a number without a fraction."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    names = {str: "string", float: "number", list: "array", dict: "object", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def json_equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: 5 is 5.0, and 1 is not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(json_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(json_equal(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)
