"""Which files an eval brings along, and where each goes in the agent's working directory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from skill_assay.errors import InputError
from skill_assay.formats.notes import Notes, shown
from skill_assay.model.evals import Eval

__all__ = ["check_fixtures", "resolve_fixtures"]

_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:")


def resolve_fixtures(eval: Eval, skill_root: Path, *, allow_outside: bool = False) -> tuple[tuple[Path, str], ...]:
    """The eval's files: (source, place below the working directory, `/`-separated).

    A path is looked for below the skill's root first, then below its `evals/`. Its place is its path below
    `evals/files/`, else its bare name; a folder brings all its files. Links are not followed out of the skill.

    Args:
        eval: its `files`, as written.
        skill_root: the skill's folder.
        allow_outside: also take absolute paths and such that leave the skill's folder.

    Raises:
        InputError: one is missing or leaves the skill's folder, or two would have one place.
    """
    placed: dict[str, Path] = {}
    for written in eval.files:
        for source, place in _resolve(written, skill_root, allow_outside, eval.id):
            if place in placed and placed[place] != source:
                message = f"eval {eval.id!r} brings two files to one place: {place}"
                raise InputError(message, found=f"{placed[place]} and {source}", hint="Rename one of them.")
            placed[place] = source
    return tuple((source, place) for place, source in placed.items())


def check_fixtures(eval: Eval, skill_root: Path, evals_root: Path, path: str, notes: Notes) -> None:
    """Note fixtures that are missing or outside, without failing: whether they are needed is known only at a run."""
    del evals_root
    for index, written in enumerate(eval.files):
        try:
            for _ in _resolve(written, skill_root, False, eval.id):
                pass
        except InputError as error:
            notes.warn("fixture-missing", error.message, f"{path}.files[{index}]", remedy=error.hint or "")


def _resolve(written: str, root: Path, allow_outside: bool, eval_id: str) -> Iterator[tuple[Path, str]]:
    path = _portable(written)
    if not allow_outside and (_ABSOLUTE.match(written) or _leaves(path)):
        raise _outside(written, eval_id)
    candidates = (root / path, root / "evals" / path)
    try:
        found = next((candidate for candidate in candidates if candidate.exists()), None)
        if found is None:
            looked = f"Looked for {' and '.join(_shown(str(place)) for place in candidates)}."
            raise InputError(f"eval {eval_id!r}: there is no file {_shown(written)}", hint=looked)
        if not allow_outside and not _inside(found, root):
            raise _outside(written, eval_id)
        if found.is_dir():
            yield from _folder(found, root, allow_outside)
        elif not found.is_file():
            raise InputError(f"eval {eval_id!r}: {_shown(written)} is neither a file nor a folder")
        else:
            yield found, _place(found, root)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"eval {eval_id!r}: {written!r} can't be read: {error}") from error


def _folder(folder: Path, root: Path, allow_outside: bool) -> Iterator[tuple[Path, str]]:
    """Every file below a folder, under the folder's own name."""
    base = _place(folder, root)
    for source in sorted(folder.rglob("*")):
        if source.is_file() and (allow_outside or _inside(source, root)):
            yield source, (PurePosixPath(base) / source.relative_to(folder).as_posix()).as_posix()


def _place(source: Path, root: Path) -> str:
    try:
        return source.relative_to(root / "evals" / "files").as_posix()
    except ValueError:
        return source.name


def _shown(path: str) -> str:
    return path if path.isprintable() else shown(path)


def _portable(written: str) -> str:
    return written.replace("\\", "/")


def _leaves(path: str) -> bool:
    depth = 0
    for part in PurePosixPath(path).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _outside(written: str, eval_id: str) -> InputError:
    hint = "Put it below evals/files/, or allow it with --allow-outside-files."
    return InputError(f"eval {eval_id!r}: {_shown(written)} is outside the skill's folder", hint=hint)
