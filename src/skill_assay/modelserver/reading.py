"""Scripts from JSON, for demonstrations and for people who write their own.

    {"rules": [{"when": {"prompt": "report", "skill": "expense-report"},
                "turns": [[{"tool": "Skill", "input": {"skill": "expense-report"}}],
                          {"items": [{"text": "Done."}], "error": {"status": 529, "count": 1}}]}]}

A turn is a list of items, or an object with `items`, `error`, `cut`, `stop_reason`, `usage`. An item is
`{"text": …}`, `{"tool": name, "input": {…}}`, `{"wait": seconds}` or `{"hang": true}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skill_assay.errors import InputError
from skill_assay.model.transcript import Tokens
from skill_assay.modelserver.script import Cut, Error, Hang, Item, Rule, Script, Text, ToolUse, Turn, Wait

__all__ = ["script_from"]

_CONDITIONS = ("prompt", "last", "skill", "without", "tool")


def script_from(data: Any, *, file: str | None = None) -> Script:
    """The script that `data` (parsed JSON) describes.

    Raises:
        InputError: with the JSON path of what is wrong.
    """
    try:
        fields = _fields(data, "$", ("rules", "models"))
        rules = [_rule(rule, f"$.rules[{n}]") for n, rule in enumerate(_list(fields.get("rules"), "$.rules"))]
        models = tuple(str(name) for name in _list(fields.get("models", ["scripted"]), "$.models"))
    except _WrongError as wrong:
        raise InputError(wrong.said, file=file, json_path=wrong.place) from None
    return Script(tuple(rules), models)


class _WrongError(Exception):
    def __init__(self, place: str, said: str) -> None:
        self.place, self.said = place, said


def _rule(data: Any, place: str) -> Rule:
    fields = _fields(data, place, ("when", "turns"))
    when = _fields(fields.get("when", {}), f"{place}.when", _CONDITIONS)
    for name, value in when.items():
        if not isinstance(value, str):
            raise _WrongError(f"{place}.when.{name}", "a text was expected")
    turns = _list(fields.get("turns"), f"{place}.turns")
    return Rule(tuple(_turn(turn, f"{place}.turns[{n}]") for n, turn in enumerate(turns)), **when)


def _turn(data: Any, place: str) -> Turn:
    if isinstance(data, list):
        return Turn(_items(data, place))
    fields = _fields(data, place, ("items", "error", "cut", "stop_reason", "usage"))
    extra: dict[str, Any] = {}
    parts: Mapping[str, Callable[..., Any]] = {"error": Error, "cut": Cut, "usage": Tokens}
    for name, build in parts.items():
        if name in fields:
            extra[name] = _built(build, fields[name], f"{place}.{name}")
    if "stop_reason" in fields:
        extra["stop_reason"] = str(fields["stop_reason"])
    return Turn(_items(_list(fields.get("items", []), f"{place}.items"), f"{place}.items"), **extra)


def _items(data: list[Any], place: str) -> tuple[Item, ...]:
    return tuple(_item(item, f"{place}[{n}]") for n, item in enumerate(data))


def _item(data: Any, place: str) -> Item:
    match data:
        case {"text": str(text), **rest} if not rest:
            return Text(text)
        case {"tool": str(name), **rest} if set(rest) <= {"input"} and isinstance(rest.get("input", {}), dict):
            return ToolUse(name, data.get("input", {}))
        case {"wait": int() | float() as seconds, **rest} if not rest and not isinstance(seconds, bool):
            return Wait(float(seconds))
        case {"hang": True, **rest} if not rest:
            return Hang()
    raise _WrongError(place, 'expected {"text": …}, {"tool": …, "input": {…}}, {"wait": seconds} or {"hang": true}')


def _built(build: Callable[..., Any], data: Any, place: str) -> Any:
    try:
        return build(**_fields(data, place, None))
    except TypeError as error:
        raise _WrongError(place, str(error).partition("() ")[2] or str(error)) from None


def _fields(data: Any, place: str, known: tuple[str, ...] | None) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _WrongError(place, "an object was expected")
    unknown = sorted(set(data) - set(known)) if known is not None else []
    if unknown:
        raise _WrongError(f"{place}.{unknown[0]}", f"unknown key; known are {', '.join(known or ())}")
    return data


def _list(data: Any, place: str) -> list[Any]:
    if not isinstance(data, list) or not data:
        raise _WrongError(place, "a list that holds something was expected")
    return data
