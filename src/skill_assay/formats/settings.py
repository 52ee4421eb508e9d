"""Settings that a file or a variable may hold: their types, their other names, and how text becomes a value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["SETTINGS", "THRESHOLDS", "BadValue", "Kind", "parse_budget", "setting_of", "variable"]


class BadValue(Exception):
    """A value that does not fit; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of setting."""

    from_json: Callable[[Any], Any]
    """The value from JSON, or `BadValue`."""
    from_text: Callable[[str], Any]
    """The value from a variable's text, or `BadValue`."""


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"ASSAY_{name.upper()}"


def parse_budget(text: str) -> dict[str, float | int]:
    """Caps from `5usd,2Mtok,60trials`, any of them; `k` and `M` multiply.

    Raises:
        BadValue: it is not written like that, or names one twice.
    """
    caps: dict[str, float | int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        match = _CAP.fullmatch(part)
        if match is None or _UNITS[match["unit"].lower()] in caps:
            raise BadValue(_BUDGET)
        unit = _UNITS[match["unit"].lower()]
        amount = float(match["amount"]) * {"k": 1e3, "m": 1e6}.get((match["factor"] or "").lower(), 1)
        caps[unit] = amount if unit == "usd" else round(amount)
    return _budget(caps)


_BUDGET = 'caps as 5usd,2Mtok,60trials, or {"usd": 5, "tokens": 2000000, "trials": 60}'
_CAP = re.compile(r"(?P<amount>\d{1,12}(?:\.\d{1,6})?)\s*(?P<factor>[kKmM])?\s*(?P<unit>usd|tok|tokens|trials)", re.I)
_UNITS = {"usd": "usd", "tok": "tokens", "tokens": "tokens", "trials": "trials"}


def _budget(raw: Any) -> dict[str, float | int]:
    if isinstance(raw, str):
        return parse_budget(raw)
    if not isinstance(raw, dict) or not raw or not raw.keys() <= {"usd", "tokens", "trials"}:
        raise BadValue(_BUDGET)
    caps = {name: value for name, value in raw.items() if value is not None}
    for name, value in caps.items():
        if not _is_number(value) or value <= 0 or (name != "usd" and value != int(value)):
            raise BadValue(_BUDGET)
    return {name: float(value) if name == "usd" else int(value) for name, value in caps.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15


def _number(low: float, high: float = math.inf, *, whole: bool = False, above: bool = False) -> Kind:
    """A number from `low` (or above it) to `high`."""
    bound = f"above {low:g}" if above else f"from {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
    expected = f"a {'whole ' if whole else ''}number {bound}"

    def from_json(raw: Any) -> Any:
        if not _is_number(raw) or not low <= raw <= high or (above and raw == low) or (whole and raw != int(raw)):
            raise BadValue(expected)
        return int(raw) if whole else float(raw)

    def from_text(text: str) -> Any:
        try:
            return from_json(float(text))
        except ValueError as error:
            raise BadValue(expected) from error

    return Kind(from_json, from_text)


def _text(raw: Any) -> str:
    if isinstance(raw, str) and raw.strip():
        return raw.strip()
    raise BadValue("a text")


def _texts(raw: Any) -> tuple[str, ...]:
    items = [raw] if isinstance(raw, str) else raw
    if isinstance(items, list) and all(isinstance(item, str) and item.strip() for item in items):
        return tuple(item.strip() for item in items)
    raise BadValue("a text or a list of texts")


def _texts_from_text(text: str) -> tuple[str, ...]:
    """Split at commas, but not inside brackets: `Read,Bash(git add, git commit)` are two."""
    parts = re.findall(r"(?:[^,()]|\([^)]*\)?|\))+", text)
    return tuple(part.strip() for part in parts if part.strip())


def _choice(*allowed: str) -> Kind:
    def from_json(raw: Any) -> str:
        if isinstance(raw, str) and raw in allowed:
            return raw
        raise BadValue(" or ".join(allowed))

    return Kind(from_json, from_json)


def _flag(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    raise BadValue("true or false")


def _flag_from_text(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if text.strip().lower() in words:
        return words[text.strip().lower()]
    raise BadValue("true or false")


_VERDICTS, _SCOPES = ("better", "not_worse"), ("tasks_like_these", "these_evals")


def _verdict(raw: Any) -> Any:
    """`better`, or `{is, scope}`, which demands the scope too."""
    if raw in _VERDICTS:
        return raw
    if isinstance(raw, dict) and raw.keys() <= {"is", "scope"} and raw.get("is") in _VERDICTS:
        scope = raw.get("scope")
        if scope in _SCOPES:
            return {"is": raw["is"], "scope": scope}
        if scope is None:
            return raw["is"]
    raise BadValue('"better", "not_worse" or {"is": "better", "scope": "tasks_like_these" or "these_evals"}')


def _no_regressions(raw: Any) -> Any:
    """`true` is `confirmed`; `false` asks nothing."""
    if raw is True or raw == "confirmed":
        return "confirmed"
    if raw is False or raw == "listed":
        return raw
    raise BadValue('"confirmed", "listed", true or false')


def _turns(raw: Any) -> int | str:
    if raw == "end" or (isinstance(raw, int) and not isinstance(raw, bool) and raw >= 1):
        return cast("int | str", raw)
    raise BadValue("a whole number from 1, or end")


def _turns_from_text(text: str) -> int | str:
    return _turns(int(text) if text.isascii() and text.isdigit() else text)


_TURNS = Kind(_turns, _turns_from_text)
_TEXT = Kind(_text, _text)
_TEXTS = Kind(_texts, _texts_from_text)
_NAMES = Kind(lambda raw: _text(raw) if isinstance(raw, str) else _texts(raw), _text)
"""One or several, split later, where it is known what a comma belongs to."""
_FLAG = Kind(_flag, _flag_from_text)
_BUDGETS = Kind(_budget, parse_budget)
_SHARE = _number(0, 1)

SETTINGS: Mapping[str, Kind] = {
    "skill_name": _TEXT,
    "skill_path": _TEXT,
    "evals": _TEXT,
    "previous_benchmark": _TEXT,
    "kind": _choice("capability", "preference"),
    "agent": _NAMES,
    "model": _NAMES,
    "judge": _TEXT,
    "judge_votes": _number(1, whole=True),
    "judge_mode": _choice("inline", "agent"),
    "baseline_type": _choice("no_skill", "old_skill"),
    "baseline": _TEXTS,
    "invoke": _choice("told", "auto", "slash"),
    "trials": _number(1, whole=True),
    "workers": _number(1, whole=True),
    "timeout": _number(0, above=True),
    "max_turns": _number(1, whole=True),
    "allow": _TEXTS,
    "mcp_config": _TEXT,
    "pass_env": _TEXTS,
    "sandbox": _TEXT,
    "budget": _BUDGETS,
    "timeouts": _choice("exclude", "fail"),
    "retry_timeouts": _number(0, whole=True),
    "seed": _number(0, 2**53, whole=True),
    "margin": _SHARE,
    "grader": _TEXT,
    "queries": _TEXT,
    "runs": _number(1, whole=True),
    "threshold": _number(0, 1, above=True),
    "decide_after": _TURNS,
    "subagents": _FLAG,
    "catalog": _TEXTS,
    "curtail": _FLAG,
    "rounds": _number(1, whole=True),
    "patience": _number(1, whole=True),
    "holdout": _SHARE,
    "fresh": _SHARE,
    "accept": _choice("best", "significant"),
    "effort": _choice("adaptive", "curtailed", "full"),
    "proposer": _TEXT,
    "eval": _TEXTS,
    "tag": _TEXTS,
    "workspace": _TEXT,
    "notes": _FLAG,
    "ungraded": _FLAG,
    "allow_outside_files": _FLAG,
    "allow_unequal": _FLAG,
    "keep_secrets": _FLAG,
    "keep_sandboxes": _FLAG,
}
"""Settings by the name of their long option, `-` as `_`."""

_OTHER_NAMES: Mapping[str, str] = {
    "trials_per_eval": "trials",
    "eval_set_path": "evals",
    "timeout_seconds": "timeout",
}
"""What skill-forge's configuration and ours call some of them."""

THRESHOLDS: Mapping[str, Kind] = {
    "min_pass_rate": _SHARE,
    "max_avg_tokens": _number(0, above=True),
    "max_avg_duration_seconds": _number(0, above=True),
    "min_improvement_ratio": _number(0),
    "min_delta": _number(-1, 1),
    "max_excluded_share": _SHARE,
    "min_activation": _SHARE,
    "verdict": Kind(_verdict, _verdict),
    "no_regressions": Kind(_no_regressions, _no_regressions),
}
"""The thresholds of a gate: skill-forge's four, then ours."""


def setting_of(key: str) -> str | None:
    """The setting that a key of a configuration file stands for."""
    name = _OTHER_NAMES.get(key, key)
    return name if name in SETTINGS else None


def known_keys() -> list[str]:
    """Every key a configuration file may have."""
    return [*SETTINGS, *_OTHER_NAMES, "thresholds", "schema_version"]
