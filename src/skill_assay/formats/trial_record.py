"""`trial.json`: our whole record of a trial, and back."""

from __future__ import annotations

from typing import Any

from skill_assay.errors import InputError
from skill_assay.formats.record import from_plain, to_plain
from skill_assay.model.trial import Trial

__all__ = ["SCHEMA_VERSION", "trial_from_dict", "trial_to_dict"]

SCHEMA_VERSION = 1


def trial_to_dict(trial: Trial) -> dict[str, Any]:
    """The record, grades included.

    Raises:
        ValueError: it holds a number that is not finite.
    """
    return {"schema_version": SCHEMA_VERSION, **to_plain(trial)}


def trial_from_dict(record: Any, *, file: str = "trial.json") -> Trial:
    """The trial a record stands for.

    Raises:
        InputError: the record is not one of ours, of a later version, or damaged; the message names the key.
    """
    if not isinstance(record, dict):
        raise InputError("is no record of a trial", file=file, found=type(record).__name__, expected="an object")
    version = record.get("schema_version")
    if version != SCHEMA_VERSION:
        later = isinstance(version, int) and version > SCHEMA_VERSION
        message = "was written by a later version of Skill Assay" if later else "was not written by Skill Assay"
        found, expected = repr(version)[:40], str(SCHEMA_VERSION)
        raise InputError(message, file=file, json_path="$.schema_version", found=found, expected=expected)
    return from_plain(Trial, record, file=file)
