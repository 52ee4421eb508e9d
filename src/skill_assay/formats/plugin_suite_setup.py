"""What a case of `claude plugin eval` lays out before the agent begins: its script and folders, as setup and files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.formats.fields import Fields
from skill_assay.formats.reading import read_source

__all__ = ["COPY_FILES", "CaseSetup", "read_setup"]

COPY_FILES = 'cp -R "$(dirname "$0")/files/." . || exit 1'
"""The line of an exported script that puts the eval's files in place; read back, they are its files again."""
_OWN_PLACE = re.compile(r"\$0|\$\{0|BASH_SOURCE|\$\{?[1-9@*]")
_MOST_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class CaseSetup:
    """The counterpart of `context`."""

    command: str | None = None
    files: tuple[str, ...] = ()


def read_setup(context: Fields, folder: Path, skill_root: Path) -> CaseSetup:
    """Read `context` of a case.yaml; what has no counterpart is noted.

    Args:
        context: its fields.
        folder: the case's.
        skill_root: the skill's folder, from which files are named where they lie below it.
    """
    if context.text("history_file"):
        message = "an earlier conversation has no counterpart here; the prompt is asked without it"
        remedy = "In evals.json, turns holds earlier messages of the user."
        context.notes.warn("no-counterpart", message, context.at("history_file"), remedy=remedy)
    command, files = _script(context, folder, skill_root)
    folders = context.texts("add_dirs")
    named = [_named(path, skill_root) for name in folders if (path := _inside(name, folder, context, "add_dirs"))]
    if named:
        message = "add_dirs is read as files: they are put into the working directory"
        context.notes.info("add-dirs", message, context.at("add_dirs"))
    return CaseSetup(command, (*files, *named))


def _script(context: Fields, folder: Path, skill_root: Path) -> tuple[str | None, tuple[str, ...]]:
    name = context.text("scaffold_script")
    path = _inside(name, folder, context, "scaffold_script") if name else None
    if path is None:
        return None, ()
    at = context.at("scaffold_script")
    try:
        if path.is_file() and path.stat().st_size > _MOST_BYTES:
            raise InputError("is too long to be a setup")
        text = read_source(path).text.replace("\r\n", "\n")
    except InputError as error:
        context.notes.error("bad-script", f"the script {error.message}", at, found=str(path))
        return None, ()
    lines = [line for line in text.split("\n") if not line.startswith("#!")]
    files: tuple[str, ...] = ()
    if COPY_FILES in lines and (folder / "files").is_dir():
        lines = lines[lines.index(COPY_FILES) + 1 :]
        files = tuple(_named(item, skill_root) for item in sorted((folder / "files").iterdir()))
    command = "\n".join(lines).strip()
    if _OWN_PLACE.search(command):
        message = "the script looks for files beside itself, where no setup runs here; it is not read"
        remedy = "Name the files in evals.json, and what is to be run in setup."
        context.notes.warn("no-counterpart", message, at, remedy=remedy)
        return None, files
    if command:
        context.notes.info("setup", "the script is read as setup, and runs in the sandbox of the trial", at)
    return command or None, files


def _inside(name: str, folder: Path, context: Fields, key: str) -> Path | None:
    """A path of the case, below its folder."""
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            context.notes.error("outside", f"{name} leads out of the case's folder", context.at(key))
            return None
        if path.exists():
            return path
        context.notes.error("fixture-missing", f"there is no {name} in the case's folder", context.at(key))
    except (OSError, ValueError, RuntimeError) as error:
        context.notes.error("fixture-missing", f"{name!r} can't be read: {error}", context.at(key))
    return None


def _named(path: Path, skill_root: Path) -> str:
    absolute, root = path.absolute(), skill_root.absolute()
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()
