"""Our own dataclasses to plain JSON values and back, strictly: for the records only we write.

Reading checks every type, so a damaged or forged record is one message with a place and never a crash later on.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from skill_assay.errors import InputError

__all__ = ["from_plain", "to_plain"]

T = TypeVar("T")
Decode = Callable[[Any], Any]

_BIG = 2**63
_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


class _Bad(Exception):
    """A value that does not fit; the path grows as it travels up."""

    def __init__(self, found: Any, expected: str) -> None:
        super().__init__(expected)
        self.found, self.expected, self.path = found, expected, ""

    def below(self, step: str) -> _Bad:
        self.path = step + self.path
        return self


def to_plain(value: Any) -> Any:
    """A dataclass, and everything in it, as JSON values; fields in their order.

    Raises:
        ValueError: a number that is not finite, or a value that JSON can't hold.
    """
    if value is None or isinstance(value, (bool, int)) or type(value) is str:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number that is not finite can't be recorded")
        return value
    if is_dataclass(value):
        names: tuple[str, ...] = _names(cast(Hashable, type(value)))
        return {name: to_plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    raise ValueError(f"{type(value).__name__} can't be recorded")


def from_plain(kind: type[T], raw: Any, *, file: str) -> T:
    """The dataclass that a record stands for; unknown keys are left alone.

    Raises:
        InputError: a key is missing or of the wrong type.
    """
    try:
        made: T = _decoder(cast(Hashable, kind))(raw)
    except _Bad as bad:
        found = type(bad.found).__name__ if isinstance(bad.found, (dict, list)) else repr(bad.found)[:60]
        message, path = "the record is damaged", "$" + bad.path
        raise InputError(message, file=file, json_path=path, found=found, expected=bad.expected) from bad
    return made


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _decoder(kind: Any) -> Decode:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return _anything
    if origin in (Union, types.UnionType):
        return _optional(kind)
    if origin is Literal:
        return _one_of(arguments)
    if origin is tuple:
        return _sequence(_decoder(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_decoder(arguments[1]))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind)
    return _scalar(kind) if kind in _NAMES else _dataclass(kind)


def _anything(raw: Any) -> Any:
    return raw


def _scalar(kind: Any) -> Decode:
    expected = _NAMES[kind]

    def decode(raw: Any) -> Any:
        if type(raw) is kind and (kind is not float or math.isfinite(raw)) and (kind is not int or abs(raw) < _BIG):
            return raw
        if kind is float and type(raw) is int and abs(raw) < _BIG:
            return float(raw)
        raise _Bad(raw, expected)

    return decode


def _optional(kind: Any) -> Decode:
    (inner,) = [_decoder(each) for each in get_args(kind) if each is not type(None)]
    return lambda raw: None if raw is None else inner(raw)


def _one_of(allowed: tuple[Any, ...]) -> Decode:
    def decode(raw: Any) -> Any:
        if isinstance(raw, str) and raw in allowed:
            return raw
        raise _Bad(raw, " or ".join(map(str, allowed)))

    return decode


def _enum(kind: type[Enum]) -> Decode:
    members = {member.value: member for member in kind}

    def decode(raw: Any) -> Any:
        if isinstance(raw, str) and raw in members:
            return members[raw]
        raise _Bad(raw, " or ".join(map(str, members)))

    return decode


def _sequence(inner: Decode) -> Decode:
    def decode(raw: Any) -> Any:
        if not isinstance(raw, list):
            raise _Bad(raw, "a list")
        made = []
        for index, item in enumerate(raw):
            try:
                made.append(inner(item))
            except _Bad as bad:
                raise bad.below(f"[{index}]") from None
        return tuple(made)

    return decode


def _mapping(inner: Decode) -> Decode:
    def decode(raw: Any) -> Any:
        if not isinstance(raw, dict):
            raise _Bad(raw, "an object")
        made = {}
        for key, item in raw.items():
            try:
                made[key] = inner(item)
            except _Bad as bad:
                raise bad.below(f".{key}") from None
        return made

    return decode


def _dataclass(kind: Any) -> Decode:
    hints = get_type_hints(kind)
    known = {field.name: (_decoder(hints[field.name]), _required(field)) for field in fields(kind)}

    def decode(raw: Any) -> Any:
        if not isinstance(raw, dict):
            raise _Bad(raw, "an object")
        made = {}
        for name, (inner, required) in known.items():
            if name in raw:
                try:
                    made[name] = inner(raw[name])
                except _Bad as bad:
                    raise bad.below(f".{name}") from None
            elif required:
                raise _Bad(None, "a value").below(f".{name}")
        return kind(**made)

    return decode


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
