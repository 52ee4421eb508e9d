"""The simulated agent's script: what it does per eval and arm, with what weights. Strict, since it is our format.

Described in docs/reference/simulated-agent.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from skill_assay.agents.event_lines import REPORTABLE
from skill_assay.agents.simulated_behaviour import FAILED, Amount, Behaviour, Fail, QueryRule
from skill_assay.errors import FailureKind, InputError, NotFoundError
from skill_assay.formats.suggest import did_you_mean

__all__ = ["Amount", "Behaviour", "Fail", "QueryRule", "Script", "load_script"]

WITH, WITHOUT, ANY = "with_skill", "without_skill", "*"
QUERIES = "queries"
"""The name under which `arms` holds the defaults of trigger queries."""


@dataclass(frozen=True, slots=True)
class Script:
    """A whole script: eval → arm → behaviours, each level with `*` for the rest; and trigger queries → rules."""

    file: str
    evals: Mapping[str, Mapping[str, tuple[Behaviour, ...]]]
    queries: Mapping[str, tuple[QueryRule, ...]] = field(default_factory=dict)

    def query(self, query_id: str, text: str, description: str) -> QueryRule:
        """The first rule that holds for a query: named by its text, else by its id, else by `*`.

        Raises:
            InputError: the script says nothing about it.
        """
        for key in (" ".join(text.split()), query_id, ANY):
            for rule in self.queries.get(key, ()):
                if rule.holds(description):
                    return rule
        raise InputError(
            f"The simulated agent's script says nothing about the query {text[:60]!r} under this description",
            file=self.file,
            json_path="$.queries",
            hint=f"Add it under its text or id ({query_id}), or under {ANY!r} for all queries that are not named.",
        )

    def behaviours(self, eval_id: str, arm: str, installed: bool) -> tuple[Behaviour, ...]:
        """What may happen in an arm; the arm's own name comes before its role, and that before `*`.

        Raises:
            InputError: the script says nothing about it.
        """
        for key in (eval_id, ANY):
            for name in (arm, WITH if installed else WITHOUT, ANY):
                if found := self.evals.get(key, {}).get(name):
                    return found
        raise InputError(
            f"The simulated agent's script says nothing about eval {eval_id!r} in the arm {arm!r}",
            file=self.file,
            json_path="$.evals",
            hint=f"Add it under its id, or under {ANY!r} for all evals that are not named.",
        )


def load_script(path: Path) -> Script:
    """Read a script.

    Raises:
        InputError: with the JSON path of what is wrong.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise NotFoundError(
            "The simulated agent needs a script and there is none here",
            file=str(path),
            hint="Write one (docs/reference/simulated-agent.md), or name it: --agent 'simulated: PATH'",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The simulated agent's script can't be read: {error}", file=str(path)) from error
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"Not JSON: {error.msg}", file=str(path), line=error.lineno) from error
    except RecursionError as error:
        raise InputError("Not a script: nested too deeply", file=str(path)) from error
    return _Reader(str(path)).script(data)


_ARM_DEFAULTS = ("use_skill", "tokens", "seconds", "cost_usd", "turns", "sleep")


class _Reader:
    """Turns JSON into a script; every complaint carries its place."""

    def __init__(self, file: str) -> None:
        self._file = file

    def script(self, data: Any) -> Script:
        top = self._object(data, "$", ("about", "arms", "evals", "queries"))
        arms = self._mapping(top.get("arms", {}), "$.arms")
        defaults = {
            name: self._fields(self._object(value, place := _at("$.arms", name), _ARM_DEFAULTS), place)
            for name, value in arms.items()
        }
        evals = {}
        named = {} if "evals" not in top and "queries" in top else top.get("evals")
        for eval_id, value in self._mapping(named, "$.evals").items():
            place = _at("$.evals", eval_id)
            evals[eval_id] = {
                arm: self._behaviours(items, _at(place, arm), defaults.get(arm, defaults.get(ANY, {})))
                for arm, items in self._mapping(value, place).items()
            }
        return Script(self._file, evals, self._queries(top.get("queries", {}), defaults.get(QUERIES, {})))

    def _queries(self, data: Any, defaults: Mapping[str, Any]) -> dict[str, tuple[QueryRule, ...]]:
        found = {}
        for key, value in self._mapping(data, "$.queries").items():
            place = _at("$.queries", key)
            rules = value if isinstance(value, list) else [value]
            if not rules:
                raise self._wrong("A chance, a rule, or a list of rules is needed", place, value)
            several = isinstance(value, list)
            found[" ".join(key.split())] = tuple(
                self._rule(rule, f"{place}[{index}]" if several else place, defaults)
                for index, rule in enumerate(rules)
            )
        return found

    def _rule(self, data: Any, place: str, defaults: Mapping[str, Any]) -> QueryRule:
        rule = self._object(data if isinstance(data, dict) else {"fires": data}, place, (*_RULE, *_OF_A_QUERY))
        fields = self._fields({name: rule[name] for name in rule if name in _OF_A_QUERY}, place)
        instead = self._mapping(rule.get("instead", {}), _at(place, "instead"))
        chances = tuple((name, self.chance(value, _at(_at(place, "instead"), name))) for name, value in instead.items())
        fires = self.chance(rule.get("fires", 0.0), _at(place, "fires"))
        if fires + sum(chance for _, chance in chances) > 1 + 1e-9:
            raise self._wrong("The chances add up to more than 1", place, data)
        when = None if "when" not in rule else self.text(rule["when"], _at(place, "when"))
        return QueryRule(Behaviour(**{**defaults, **fields, "use_skill": False}), fires, chances, when)

    def _behaviours(self, data: Any, place: str, defaults: Mapping[str, Any]) -> tuple[Behaviour, ...]:
        if isinstance(data, dict):
            data = [data]
        if not isinstance(data, list) or not data:
            raise self._wrong("A behaviour, or a list of behaviours, is needed", place, data)
        found = []
        for index, item in enumerate(data):
            where = f"{place}[{index}]"
            fields = self._fields(self._object(item, where, tuple(_FIELDS)), where)
            found.append(Behaviour(**{**defaults, **fields}))
        for named in (True, False):
            group = [behaviour for behaviour in found if bool(behaviour.repeats) is named]
            if group and not sum(behaviour.weight for behaviour in group):
                raise self._wrong("The weights add up to 0", place, 0)
        return tuple(found)

    def _fields(self, data: Mapping[str, Any], place: str) -> dict[str, Any]:
        return {name: _FIELDS[name](self, value, _at(place, name)) for name, value in data.items()}

    def _mapping(self, data: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(data, dict):
            raise self._wrong("An object is needed here", place, data)
        return data

    def _object(self, data: Any, place: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        for key in self._mapping(data, place):
            if key not in known:
                raise InputError(
                    "Unknown key",
                    file=self._file,
                    json_path=place,
                    found=repr(key),
                    expected="one of " + ", ".join(known),
                    hint=did_you_mean(key, known).strip() or None,
                )
        return self._mapping(data, place)

    def _wrong(self, message: str, place: str, found: Any) -> InputError:
        shown = json.dumps(found, ensure_ascii=False)[:80]
        return InputError(message, file=self._file, json_path=place, found=shown)

    def text(self, value: Any, place: str) -> str:
        if not isinstance(value, str) or not _encodable(value):
            raise self._wrong("A text is needed here", place, value)
        return value

    def number(self, value: Any, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise self._wrong("A number of at least 0 is needed here", place, value)
        return float(value)

    def chance(self, value: Any, place: str) -> float:
        number = self.number(value, place)
        if number > 1:
            raise self._wrong("A chance from 0 to 1 is needed here", place, value)
        return number

    def count(self, value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self._wrong("A whole number of at least 1 is needed here", place, value)
        return value

    def amount(self, value: Any, place: str) -> Amount:
        if not isinstance(value, list):
            return Amount(self.number(value, place))
        if len(value) != 2:
            raise self._wrong("A number, or [mean, standard deviation], is needed here", place, value)
        return Amount(self.number(value[0], f"{place}[0]"), self.number(value[1], f"{place}[1]"))

    def skill(self, value: Any, place: str) -> bool | str:
        if isinstance(value, bool) or (isinstance(value, str) and value):
            return value
        raise self._wrong("true, false or a skill's name is needed here", place, value)

    def commands(self, value: Any, place: str) -> tuple[str, ...]:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list):
            raise self._wrong("A list of shell lines is needed here", place, value)
        return tuple(self.text(item, f"{place}[{index}]") for index, item in enumerate(items))

    def repeats(self, value: Any, place: str) -> tuple[int, ...]:
        if not isinstance(value, list) or not value:
            raise self._wrong("A list of repeats, counted from 1, is needed here", place, value)
        return tuple(self.count(item, f"{place}[{index}]") for index, item in enumerate(value))

    def files(self, value: Any, place: str) -> tuple[tuple[str, str], ...]:
        files = []
        for path, content in self._mapping(value, place).items():
            pure = PurePosixPath(path)
            strange = "\\" in path or "\0" in path or not _encodable(path)
            if strange or not pure.parts or pure.is_absolute() or ".." in pure.parts:
                raise self._wrong("A path below the working directory is needed here", place, path)
            if isinstance(content, dict | list):
                content = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            files.append((path, self.text(content, _at(place, path))))
        return tuple(files)

    def fail(self, value: Any, place: str) -> Fail:
        data = self._object(value, place, ("kind", "attempts", "message", "retry_after"))
        kind = data.get("kind")
        if not isinstance(kind, str) or kind not in REPORTABLE:
            known = ", ".join(sorted(REPORTABLE))
            raise InputError(
                "No failure that an agent can have",
                file=self._file,
                json_path=_at(place, "kind"),
                found=json.dumps(kind)[:80],
                expected=f"one of {known}",
            )
        return Fail(
            kind=FailureKind(kind),
            attempts=None if "attempts" not in data else self.count(data["attempts"], _at(place, "attempts")),
            message=self.text(data.get("message", FAILED), _at(place, "message")),
            retry_after=None
            if "retry_after" not in data
            else self.number(data["retry_after"], _at(place, "retry_after")),
        )


_FIELDS: Mapping[str, Callable[[_Reader, Any, str], Any]] = {
    "weight": _Reader.number,
    "repeats": _Reader.repeats,
    "use_skill": _Reader.skill,
    "run": _Reader.commands,
    "write": _Reader.files,
    "say": _Reader.text,
    "tokens": _Reader.amount,
    "seconds": _Reader.amount,
    "cost_usd": _Reader.amount,
    "turns": _Reader.count,
    "sleep": _Reader.number,
    "fail": _Reader.fail,
}

_RULE = ("when", "fires", "instead")
_OF_A_QUERY = ("run", "write", "say", "tokens", "seconds", "cost_usd", "turns", "sleep", "fail")
"""Keys of a behaviour that a query's rule may have too."""


def _encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _at(place: str, key: str) -> str:
    return f"{place}.{key}" if key.isidentifier() else f"{place}[{json.dumps(key, ensure_ascii=False)}]"
