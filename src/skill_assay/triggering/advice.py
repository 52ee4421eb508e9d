"""What follows from what a skill is for: a capability is judged otherwise than a preference."""

from __future__ import annotations

from skill_assay.model.trigger_results import TriggerResults

__all__ = ["advise"]


def advise(found: TriggerResults) -> tuple[str, ...]:
    """How to read these results, by the skill's kind; nothing where none is declared."""
    positives = [one.query for one in found.queries if one.query.should_trigger]
    bare = sum(not (query.files or query.turns) for query in positives)
    if found.kind == "capability":
        return tuple(_capability(bare, len(positives)))
    if found.kind == "preference":
        return tuple(_preference(bare, len(positives)))
    return ()


def _capability(bare: int, positives: int) -> list[str]:
    lines = [
        "Declared a capability: the agent can't do the task without it, so what counts is whether it helps "
        "(assay run), and whether it fires once the task shows, which a bare line often does not."
    ]
    if bare:
        lines.append(
            f"{bare} of {positives} positive queries are bare lines: give them the files and earlier turns a real "
            "session would have (context), and read their recall with that in mind."
        )
    return lines


def _preference(bare: int, positives: int) -> list[str]:
    lines = [
        "Declared a preference: the agent can do the task without it, only otherwise, so it must fire on the bare "
        "request; whether the outputs then follow it each time is shown by assay run, under reliability."
    ]
    if bare < positives:
        lines.append(
            f"{positives - bare} of {positives} positive queries come with context: ask the same as bare lines too."
        )
    return lines
