"""`plan.json`: the resolved plan as a record of ours, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError
from skill_assay.model.plan import Plan
from skill_assay.model.trial import Arm, Limits, TrialId

__all__ = ["SCHEMA_VERSION", "plan_from_dict", "plan_to_dict"]

SCHEMA_VERSION = 1

_PLAIN = ("skill_name", "skill_path", "iteration", "trials", "seed", "platform", "created_at")
_MAPPINGS = ("digests", "agents", "settings", "versions")
_ARM = ("name", "role", "agent", "model", "skill_name", "skill_digest", "invoke", "environment_note", "origin")
_LIMITS = ("seconds", "turns", "cost_usd", "tokens", "output_bytes")


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """The record, keys in reading order; the trials stand in the order in which they run."""
    return {
        "schema_version": SCHEMA_VERSION,
        **{name: getattr(plan, name) for name in _PLAIN},
        "eval_ids": list(plan.eval_ids),
        "arms": [_arm_to_dict(arm) for arm in plan.arms],
        "limits": {name: getattr(plan.limits, name) for name in _LIMITS},
        **{name: _plain(getattr(plan, name)) for name in _MAPPINGS},
        "order": [[trial.eval_id, trial.arm, trial.repeat] for trial in plan.order],
    }


def plan_from_dict(record: Any, *, file: str = "plan.json") -> Plan:
    """The plan a record stands for.

    Raises:
        InputError: the record is not one of ours, or of a later version; the message names the key.
    """
    if not isinstance(record, Mapping):
        raise InputError("is no plan", file=file, found=type(record).__name__, expected="an object")
    version = record.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(
            "was written by another version",
            file=file,
            json_path="$.schema_version",
            found=repr(version),
            expected=str(SCHEMA_VERSION),
            hint="Start a new iteration, or use the version of Skill Assay that wrote it.",
        )
    try:
        return Plan(
            eval_ids=tuple(record["eval_ids"]),
            arms=tuple(_arm_from_dict(arm) for arm in record["arms"]),
            limits=Limits(**{name: record["limits"][name] for name in _LIMITS}),
            order=tuple(TrialId(str(one), str(arm), int(repeat)) for one, arm, repeat in record["order"]),
            **_further(record),
        )
    except (KeyError, TypeError, ValueError) as error:
        found = f"no key {error}" if isinstance(error, KeyError) else str(error)
        raise InputError("is damaged", file=file, found=found, expected="the plan of an iteration") from error


def _further(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _PLAIN} | {name: dict(record[name]) for name in _MAPPINGS}


def _arm_to_dict(arm: Arm) -> dict[str, Any]:
    record = {name: getattr(arm, name) for name in _ARM}
    return {**record, "skill": arm.skill.as_posix() if arm.skill else None}


def _arm_from_dict(record: Mapping[str, Any]) -> Arm:
    skill = record["skill"]
    if record["role"] not in ("primary", "baseline"):
        raise ValueError(f"role {record['role']!r}")
    return Arm(**{name: record[name] for name in _ARM}, skill=Path(skill) if skill else None)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
