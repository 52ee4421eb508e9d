"""`assay init`: a first evals file and trigger set for a skill, or a new skill to fill in. Never overwrites."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from skill_assay.cli.model_options import model_options
from skill_assay.errors import InputError
from skill_assay.formats.skill import read_skill
from skill_assay.workspace.places import skill_folder

__all__ = ["command"]

_EVALS = Path("evals") / "evals.json"
_TRIGGERS = Path("evals") / "triggers.json"
_SKILL = """\
---
name: {name}
description: Replace this with what the skill does and when to use it, in the words a user would say.
---

# {title}

Replace this with what the agent should do, step by step. Name the files it makes and what must be in them.
"""


@click.command(name="init")
@click.argument("path", type=click.Path())
@click.option("--from", "source", type=click.Path(), metavar="FILE", help="Draft skill, evals and queries from a spec.")
@click.option("--more", type=click.IntRange(1, 50), metavar="N", help="Draft N further evals, knowing the results.")
@model_options
def command(path: str, source: str | None, more: int | None, **options: Any) -> int:
    """Add evals/evals.json and evals/triggers.json to the skill at PATH, commented and ready to fill in; where there
    is no skill yet, begin one.

    With --from or --more a model drafts; a person approves. No file that exists is changed.
    """
    root = skill_folder(Path(path))
    if source or more:
        return _draft(root, source, more, options)
    made, kept = [], []
    if not (root / "SKILL.md").exists():
        made.append(_begin_skill(root))
    name = read_skill(root).name
    for file, content in ((_EVALS, _evals(name)), (_TRIGGERS, _triggers(name))):
        if (root / file).exists():
            kept.append(root / file)
        else:
            _write(root / file, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
            made.append(root / file)
    for file in made:
        click.echo(f"wrote   {file}")
    for file in kept:
        click.echo(f"exists  {file}, left as it is")
    click.echo(_next(root, made))
    return 0


def _draft(root: Path, source: str | None, more: int | None, options: dict[str, Any]) -> int:
    from skill_assay.cli.drafts import draft_all, draft_more, say_drafts

    if source and more:
        raise InputError("--from begins a skill and --more adds evals to one: they exclude each other")
    made = draft_all(root, _name(root), Path(source), _write, options) if source else []
    made += [draft_more(root, more, _write, options)] if more else []
    say_drafts(made, root)
    return 0


def _next(root: Path, made: list[Path]) -> str:
    if not made:
        return "Nothing was written."
    return f"Fill them in (keys that begin with _ are notes), then  assay lint {root}"


def _name(root: Path) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", Path(root.absolute()).name.lower()).strip("-")
    if not name:
        raise InputError("a skill's folder needs a name of letters and digits", file=str(root))
    if root.exists() and not root.is_dir():
        raise InputError("is a file; a skill is a folder", file=str(root))
    return name


def _begin_skill(root: Path) -> Path:
    name = _name(root)
    title = name.replace("-", " ").capitalize()
    _write(root / "SKILL.md", _SKILL.format(name=name, title=title))
    return root / "SKILL.md"


def _write(file: Path, text: str) -> None:
    """Create a file; one that appeared meanwhile is not overwritten."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as target:
            target.write(text)
    except FileExistsError as error:
        raise InputError("already exists, and nothing is overwritten", file=str(file)) from error
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", file=str(file)) from error


def _evals(name: str) -> dict[str, Any]:
    return {
        "_comment": [
            "Each eval is one task. It is given to an agent with the skill and without it, several times.",
            "Keys that begin with _ are notes and are ignored. All keys: docs/reference/evals.md",
        ],
        "skill_name": name,
        "evals": [
            {
                "id": "first-task",
                "_comment": "Write the prompt as a user would: what they want, not how the skill does it.",
                "prompt": "Write a short summary of what you can do for me into report.md.",
                "files": [],
                "_files": "Files the task needs, as evals/files/input.csv; they lie in the agent's working directory.",
                "expectations": [
                    {
                        "text": "report.md exists and is not empty",
                        "check": {"file_exists": "report.md"},
                    },
                    {
                        "text": "report.md has a heading",
                        "check": {"matches": {"pattern": "^#+ ", "flags": "m", "in": "report.md"}},
                    },
                    {
                        "_comment": "An expectation without a check is decided by a judge. Say what would be seen.",
                        "text": "report.md names at least one task the user could ask for next",
                    },
                ],
            }
        ],
    }


def _triggers(name: str) -> dict[str, Any]:
    return {
        "_comment": [
            "Queries for which the skill should, and should not, fire. About ten of each; near misses tell the most.",
            "Write them as a user would, without naming the skill.",
        ],
        "skill_name": name,
        "queries": [
            {"query": "A task the skill is for, in a user's own words: replace me.", "should_trigger": True},
            {"query": "A task that sounds like it and is not: replace me.", "should_trigger": False},
        ],
    }
