"""`assay init --from` and `--more`: drafts by a model, written to files that are not there yet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.cli.asking import Desk, asking
from skill_assay.cli.learning import analysis_words, learn
from skill_assay.errors import IncompleteError, InputError
from skill_assay.formats.evals import find_evals, load_evals
from skill_assay.formats.skill import read_skill
from skill_assay.improve.drafting import Draft, draft_evals, draft_skill, evals_file, triggers_file
from skill_assay.llm.base import ModelFailed
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.resolve import resolve_place

__all__ = ["Write", "draft_all", "draft_body", "draft_more", "say_drafts"]

Write = Callable[[Path, str], None]
"""Creates a file; one that is there is never overwritten."""


def draft_all(root: Path, name: str, source: Path, write: Write, options: dict[str, Any]) -> list[Path]:
    """SKILL.md, evals and trigger queries from a spec, notes or a transcript; the files that were written.

    Raises:
        InputError: a skill is already here, or the source can't be read.
        IncompleteError: no usable draft came.
    """
    if (root / "SKILL.md").exists():
        hint = f"assay init {root} --more N  drafts further evals; assay improve {root}  proposes a better version."
        raise InputError("there is a skill here already, and nothing is overwritten", file=str(root), hint=hint)
    try:
        material = source.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=str(source)) from error
    with asking(None, options, 1) as desk:
        draft = _asked(draft_skill, name, material, desk)
        note = f"Drafted by {desk.asker.name} from {source.name}. Look through it, then remove this line."
    return _written(root, name, draft, note, write)


def draft_body(root: Path, name: str, desk: Desk, write: Write) -> list[Path]:
    """SKILL.md from evals that were written first.

    Raises:
        NotFoundError: there are no evals either.
        IncompleteError: no usable draft came.
    """
    evals = load_evals(find_evals(root), skill_root=root)
    material = "The evals this skill must satisfy (write no further ones):\n" + evals.source.read_text(
        "utf-8", "replace"
    )
    draft = _asked(draft_skill, name, material, desk)
    write(root / "SKILL.md", draft.skill_md)
    return [root / "SKILL.md"]


def _written(root: Path, name: str, draft: Draft, note: str, write: Write) -> list[Path]:
    files = {
        root / "SKILL.md": draft.skill_md if draft.skill_md.endswith("\n") else draft.skill_md + "\n",
        root / "evals" / "evals.json": evals_file(name, draft.evals, note),
        root / "evals" / "triggers.json": triggers_file(name, draft.triggers, note),
    }
    made = [path for path in files if not path.exists()]
    for path in made:
        write(path, files[path])
    return made


def draft_more(root: Path, count: int, write: Write, options: dict[str, Any]) -> Path:
    """Further evals, in a file of their own beside the present ones.

    Raises:
        NotFoundError: there are no evals yet.
        IncompleteError: no usable draft came.
    """
    skill = read_skill(root)
    present = load_evals(find_evals(root), skill_root=root)
    place = resolve_place(root, default_workspace(root))
    seen = analysis_words(learn(place.iteration)) if place.iteration and place.iteration.has_plan else ""
    with asking(None, options, 1) as desk:
        evals = _asked(draft_evals, skill, present, seen, count, desk)
        note = f"Drafted by {desk.asker.name}. Move what you keep into {present.source.name}."
    number = 1
    while (path := root / "evals" / f"drafts-{number}.json").exists():
        number += 1
    write(path, evals_file(skill.name, evals, note))
    return path


def _asked(ask: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    *rest, desk = arguments

    async def once() -> Any:
        return await ask(*rest, desk.model, desk.ledger)

    try:
        return anyio.run(once)
    except ModelFailed as failed:
        raise IncompleteError(f"The model could not be asked: {failed}", hint="Nothing was written.") from failed


def say_drafts(made: list[Path], root: Path) -> None:
    """What was written, and that a person has to look."""
    for path in made:
        click.echo(f"drafted {path}")
    click.echo(f"These are drafts: look through them, then  assay lint {root}")
