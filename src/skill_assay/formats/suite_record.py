"""`suite.json`: the suites of a workspace as a record of ours, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skill_assay.errors import InputError
from skill_assay.model.suite import Member, Suite

__all__ = ["SCHEMA_VERSION", "suites_from_dict", "suites_to_dict"]

SCHEMA_VERSION = 1
_MEMBER = ("agent", "model", "version", "iteration", "reason")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "agent": (str,),
    "model": (str, type(None)),
    "version": (str, type(None)),
    "iteration": (int, type(None)),
    "reason": (str,),
}


def suites_to_dict(suites: Sequence[Suite]) -> dict[str, Any]:
    """The record, the newest suite last."""
    return {"schema_version": SCHEMA_VERSION, "suites": [_suite_to_dict(suite) for suite in suites]}


def suites_from_dict(record: Any, *, file: str = "suite.json") -> tuple[Suite, ...]:
    """The suites a record stands for.

    Raises:
        InputError: it is not one of ours, of another version, or damaged.
    """
    version = record.get("schema_version") if isinstance(record, Mapping) else None
    if version != SCHEMA_VERSION:
        raise InputError(
            "was written by another version, or by something else",
            file=file,
            json_path="$.schema_version",
            found=repr(version),
            expected=str(SCHEMA_VERSION),
            hint="Move it away: the iterations it lists stay as they are.",
        )
    try:
        return tuple(_suite_from_dict(one) for one in record["suites"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        found = f"no key {error}" if isinstance(error, KeyError) else str(error)
        raise InputError("is damaged", file=file, found=found, expected="suites with their members") from error


def _suite_to_dict(suite: Suite) -> dict[str, Any]:
    return {
        "created_at": suite.created_at,
        "after": suite.after,
        "seed": suite.seed,
        "digests": dict(suite.digests),
        "settings": dict(suite.settings),
        "members": [{name: getattr(member, name) for name in _MEMBER} for member in suite.members],
    }


def _suite_from_dict(record: Mapping[str, Any]) -> Suite:
    return Suite(
        members=tuple(_member(one) for one in record["members"]),
        seed=int(record["seed"]),
        created_at=str(record["created_at"]),
        after=int(record["after"]),
        digests=dict(record["digests"]),
        settings=dict(record["settings"]),
    )


def _member(record: Mapping[str, Any]) -> Member:
    values = {name: record[name] for name in _MEMBER}
    for name, value in values.items():
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool):
            raise ValueError(f"{name} {value!r}")
    return Member(**values)
