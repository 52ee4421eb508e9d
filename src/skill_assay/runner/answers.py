"""What gives the answers away, evals and references, must reach no sandbox: neither as a fixture nor with the skill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.model.evals import EvalSet
from skill_assay.model.skill import Skill

__all__ = ["refuse_answers"]

_NAMES = ("evals.json", "checks.py", "simulated.json", "triggers.json")


def refuse_answers(skill: Skill, evals: EvalSet, fixtures: Mapping[str, Iterable[tuple[Path, str]]]) -> None:
    """Refuse evals whose trials could read what is expected of them.

    Raises:
        InputError: a fixture is, or the skill as installed holds, the evals, their checks or a reference.
    """
    expected = {*(path.resolve() for path in (evals.source, *evals.read)), *_references(skill, evals)}
    named = expected | {(evals.root / name).resolve() for name in _NAMES}
    for eval_id, files in fixtures.items():
        for source, place in files:
            if _among(source, named):
                raise InputError(
                    f"eval {eval_id!r}: the fixture {place} gives away what is expected of the agent",
                    file=str(evals.source),
                    found=str(source),
                    hint="Name the files it needs one by one, best below evals/files/.",
                )
    for name in skill.files:
        if _among(skill.root / name, expected):
            raise InputError(
                "gives away what is expected of the agent, which would be handed it with the skill",
                file=str(skill.root / name),
                hint="Move it below the skill's evals/, which is never installed, or out of the skill.",
            )


def _references(skill: Skill, evals: EvalSet) -> Iterable[Path]:
    for one in evals.evals:
        for base in (skill.root, evals.root):
            if one.reference and (base / one.reference).exists():
                yield (base / one.reference).resolve()
                break


def _among(path: Path, places: Iterable[Path]) -> bool:
    real = path.resolve()
    return any(real == place or place in real.parents for place in places)
