"""The words a trial begins with: the eval's prompt, the same in every arm but for the one stated difference."""

from __future__ import annotations

from skill_assay.formats.user_notes import NOTES_REQUEST
from skill_assay.model.agent import Capabilities
from skill_assay.model.trial import TrialSpec

__all__ = ["build_prompt", "uses_slash"]


def build_prompt(spec: TrialSpec, skill_name: str | None) -> str:
    """The prompt of one trial.

    `told` puts one line before it that names the skill; `auto` and `slash` say nothing here (a slash command is
    the adapter's to write). `bare` also leaves the environment note out. The request for notes is the same in all.
    """
    parts = []
    if spec.arm.skill is not None and spec.arm.invoke == "told":
        parts.append(f"Use the {skill_name} skill for this task.")
    parts.append(spec.eval.prompt)
    if spec.arm.environment_note and spec.eval.environment.note:
        parts.append(spec.eval.environment.note)
    if spec.notes:
        parts.append(NOTES_REQUEST)
    return "\n\n".join(parts)


def uses_slash(spec: TrialSpec, capabilities: Capabilities) -> bool:
    """Whether the adapter is to call the skill by its slash command."""
    return spec.arm.skill is not None and spec.arm.invoke == "slash" and capabilities.slash
