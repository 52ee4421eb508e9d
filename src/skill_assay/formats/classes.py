"""The class of a prompt, read from whichever column or key its author gave it, and kept as a tag."""

from __future__ import annotations

from collections.abc import Iterable

from skill_assay.formats.fields import Fields
from skill_assay.model.findings import Severity
from skill_assay.model.prompt_classes import CLASSES, EXPLICIT, NEGATIVE, calls_by_name, class_of, class_word

__all__ = ["CLASS_KEYS", "class_key", "class_tags", "derived_class", "with_class"]

CLASS_KEYS = ("class", "prompt_class", "category", "check_type", "kind", "type", "invocation")
"""Names for the column; one of them counts only where its value is a class."""


def class_key(fields: Fields) -> str | None:
    """The key that holds the class."""
    words = ((key, fields.raw.get(key)) for key in CLASS_KEYS)
    return next((key for key, word in words if isinstance(word, str) and class_word(word)), None)


def class_tags(fields: Fields, tags: tuple[str, ...], label: bool | None) -> tuple[str, ...]:
    """The tags with the class among them; a class that the label contradicts is an error."""
    key = class_key(fields)
    named = class_word(fields.raw[key]) if key else class_of(tags)
    if named == NEGATIVE and label:
        place = fields.at(key or "tags")
        remedy = "A negative control is a prompt for which the skill should not be used. Change one of them."
        fields.notes.error("class-label", "a negative control that should trigger the skill", place, remedy=remedy)
    if key and key != "class":
        fields.notes.once("class-key", f"{key} is read as the prompt's class", fields.at(key), Severity.INFO)
    return tags if named is None else with_class(tags, named)


def with_class(tags: tuple[str, ...], named: str) -> tuple[str, ...]:
    """The tags with this class and no other."""
    return (*(tag for tag in tags if tag not in CLASSES), named)


def derived_class(prompt: str, label: bool | None, names: Iterable[str | None]) -> str | None:
    """What a prompt set without a column for it says all the same: what is a negative, and what calls the skill.

    Implicit and contextual prompts can't be told apart by a program; they get none.
    """
    if label is False:
        return NEGATIVE
    return EXPLICIT if label and calls_by_name(prompt, names) else None
