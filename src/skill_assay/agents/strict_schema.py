"""A JSON schema as OpenAI's models take it ("strict"), and a reply by it as the schema itself has it.

Strict means: every property is required, nothing else is allowed, and few keywords are known. So what may be left out
may be null instead, and is left out again in the reply. What is dropped here is checked afterwards: replies are
validated against the schema itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["asked_in_words", "restored", "strict"]

_KEPT = ("type", "description", "enum", "const", "minItems", "maxItems", "minimum", "maximum")
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def strict(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The strict form; `None` where there is none, as for an object of any keys."""
    try:
        return _strict(schema)
    except ValueError:
        return None


def asked_in_words(prompt: str, schema: Mapping[str, Any]) -> str:
    """The prompt with the schema in it, for what can't be told it otherwise."""
    words = "Answer with one JSON object and nothing else. It must satisfy this JSON schema:"
    return f"{prompt}\n\n{words}\n{json.dumps(schema)}"


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
    if "anyOf" in schema:
        found["anyOf"] = [_strict(one) for one in schema["anyOf"]]
    elif "type" not in schema:
        found["type"] = _type_of(schema)
    types = _types(found)
    if "object" in types:
        found |= _object(schema)
    if "array" in types:
        found["items"] = _strict(schema["items"]) if schema.get("items") else _any()
    return found


def _object(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not properties or schema.get("additionalProperties") is not False:
        raise ValueError("an object of any keys")
    required = schema.get("required", ())
    return {
        "properties": {
            name: _strict(one) if name in required else _nullable(_strict(one)) for name, one in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return schema if "null" in _types(schema) else {"anyOf": [schema, {"type": "null"}]}


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    said = schema.get("type", ())
    return (said,) if isinstance(said, str) else tuple(said)


def _type_of(schema: Mapping[str, Any]) -> str | list[str]:
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else _any()
    types = list(dict.fromkeys(_TYPES[type(value)] for value in values if type(value) in _TYPES))
    if not types:
        _any()
    return types[0] if len(types) == 1 else types


def _any() -> Any:
    raise ValueError("anything at all")


def restored(reply: Any, schema: Mapping[str, Any]) -> Any:
    """The reply without the nulls that stand for what was left out."""
    if isinstance(reply, list) and isinstance(schema.get("items"), Mapping):
        return [restored(one, schema["items"]) for one in reply]
    properties = schema.get("properties")
    if not isinstance(reply, dict) or not isinstance(properties, Mapping):
        return reply
    required = schema.get("required", ())
    return {
        name: restored(value, properties.get(name, {}))
        for name, value in reply.items()
        if value is not None or name in required or name not in properties
    }
