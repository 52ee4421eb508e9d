"""The floor and the ceiling: what an agent that does nothing, and one that does everything right, would get.

With them a suite can be checked without a model: the floor should fail and the ceiling pass what counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import InputError, NotFoundError
from skill_assay.model.evals import Eval, EvalSet

__all__ = ["ANSWER_FILE", "Reference", "load_references"]

ANSWER_FILE = "answer.md"
"""In a reference folder: the right answer in words; every other file is a file to make."""

_MAX_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class Reference:
    """The right outcome of one eval, read into memory so that its path need not be known in a sandbox."""

    files: tuple[tuple[str, bytes], ...]
    """Path below the working directory → content."""
    answer: str


def load_references(skill_root: Path, evals: EvalSet) -> dict[str, Reference]:
    """The references of all evals that name one, by eval id.

    A path is taken from the skill's root, else from the folder of the evals file. A reference that is one file is
    made under its own name and is also the answer.

    Raises:
        InputError: no eval has a reference, or one is missing, too large, or outside the skill.
    """
    found = {each.id: _load(each, each.reference, skill_root, evals) for each in evals.evals if each.reference}
    if not found:
        raise InputError(
            "The ceiling agent plays each eval's reference, and no eval names one",
            file=str(evals.source),
            hint='Add "reference": "evals/references/…" to the evals: a file, or a folder with the right files.',
        )
    return found


def _load(each: Eval, reference: str, skill_root: Path, evals: EvalSet) -> Reference:
    path = _resolve(each, reference, skill_root, evals)
    if path.is_file():
        files = {path.name: path}
    else:
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
        files = {file.relative_to(path).as_posix(): file for file in inside}
    if sum(file.stat().st_size for file in files.values()) > _MAX_BYTES:
        raise InputError(f"The reference of eval {each.id!r} is above {_MAX_BYTES} bytes", file=str(path))
    content = {name: file.read_bytes() for name, file in files.items()}
    if path.is_file():
        answer = content[path.name].decode("utf-8", "replace")
    else:
        answer = content.pop(ANSWER_FILE, (each.expected_output or "").encode()).decode("utf-8", "replace")
    return Reference(tuple(content.items()), answer)


def _resolve(each: Eval, reference: str, skill_root: Path, evals: EvalSet) -> Path:
    for base in (skill_root, evals.root):
        path = (base / reference).resolve()
        if path.exists():
            if not any(path.is_relative_to(root.resolve()) for root in (skill_root, evals.root)):
                raise InputError(
                    f"The reference of eval {each.id!r} lies outside the skill",
                    file=str(evals.source),
                    found=reference,
                    expected="a path below the skill's folder",
                )
            return path
    raise NotFoundError(
        f"The reference of eval {each.id!r} does not exist",
        file=str(evals.source),
        found=reference,
        expected=f"a file or folder below {skill_root} or {evals.root}",
    )
