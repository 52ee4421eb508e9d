"""`assay export`: evals and trigger sets in the formats of other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from skill_assay.errors import InputError
from skill_assay.formats.evals import find_evals, load_evals
from skill_assay.formats.export import Exported, codex_table, eval_set
from skill_assay.formats.plugin_suite import plugin_skill
from skill_assay.formats.skill import read_skill
from skill_assay.formats.triggers import find_queries, load_queries
from skill_assay.model.skill import Skill
from skill_assay.reports.figures import count
from skill_assay.workspace.writing import Writer

__all__ = ["command"]

_SHOWN = 6


@click.command(name="export")
@click.argument("place", type=click.Path(), metavar="PLACE")
@click.option(
    "--to",
    "form",
    required=True,
    type=click.Choice(["plugin-suite", "codex-csv", "skill-creator"]),
    help="plugin-suite: evals for `claude plugin eval`; codex-csv, skill-creator: the trigger set for those.",
)
@click.option("-o", "--output", required=True, type=click.Path(), metavar="DIR", help="The folder to write into.")
@click.option("--force", is_flag=True, help="Replace files that are there; of a case, its other graders go too.")
@click.option("--allow-outside-files", is_flag=True, help="Take files from outside the skill's folder along.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(place: str, form: str, output: str, force: bool, allow_outside_files: bool, format_: str) -> int:
    """Write the evals or the trigger set of PLACE (a skill's folder, or one file of evals or queries) for another tool.

    What has no counterpart there is said, by eval and expectation. Where anything is refused, nothing is written.
    """
    root = plugin_skill(Path(place))
    found = _suite(root, allow_outside_files) if form == "plugin-suite" else _triggers(root, form)
    target = Path(output)
    cases = {name.split("/")[0] for name in found.texts} if form == "plugin-suite" else set()
    stale = _refuse(found, target, cases, force)
    for path in stale:
        path.unlink()
    _write(found, target)
    click.echo(_as_json(found, target) if format_ == "json" else _as_text(found, target, form))
    return 0


def _suite(root: Path, allow_outside: bool) -> Exported:
    from skill_assay.formats.export_suite import export_suite

    skill = _skill_of(root)
    path = find_evals(skill.root) if _is_skill(root) else root
    evals = load_evals(path, skill_root=skill.root)
    return export_suite(evals, skill_name=skill.name, skill_root=skill.root, allow_outside=allow_outside)


def _triggers(root: Path, form: str) -> Exported:
    skill = _skill_of(root)
    path = find_queries(skill.root) if _is_skill(root) else root
    queries = load_queries(path, skill_name=skill.name)
    return eval_set(queries) if form == "skill-creator" else codex_table(queries, skill.name)


def _is_skill(root: Path) -> bool:
    return root.name == "SKILL.md" or (root / "SKILL.md").is_file()


def _skill_of(root: Path) -> Skill:
    """The skill that is named, or in whose `evals/` the file lies."""
    if _is_skill(root) or not root.exists():
        return read_skill(root)
    for folder in list(root.absolute().parents)[:4]:
        if (folder / "SKILL.md").is_file():
            return read_skill(folder)
    hint = "Name the skill's folder, or a file in its evals/."
    raise InputError("belongs to no skill", file=str(root), hint=hint)


def _refuse(found: Exported, target: Path, cases: set[str], force: bool) -> list[Path]:
    """Refuse what must not be written, before anything is.

    Returns:
        graders of cases that are replaced, which would stay behind as graders of the new ones.
    """
    if target.exists() and not target.is_dir():
        raise InputError("is a file; the output is a folder", file=str(target))
    real = target.resolve()
    present: list[Path] = []
    for name in (*found.texts, *found.copies):
        path = target / name
        if not (path.parent.resolve() / path.name).is_relative_to(real) or path.is_symlink():
            raise InputError("is a link; nothing is written through it", file=str(path))
        if path.is_dir():
            raise InputError("is a folder, where a file is to be written", file=str(path))
        present += [path] if path.exists() else []
    present += [target / case for case in sorted(cases) if (target / case).exists() and not force]
    if present and not force:
        raise InputError(
            "is there already, and nothing is overwritten",
            file=str(present[0]),
            hint="Add --force, or name another -o.",
        )
    new = {target / name for name in found.texts}
    return [path for case in sorted(cases) for path in (target / case / "graders").glob("*.md") if path not in new]


def _write(found: Exported, target: Path) -> None:
    writer = Writer()
    for name, text in found.texts.items():
        writer.write_verbatim(target / name, text.encode("utf-8"))
    for name, source in found.copies.items():
        try:
            data = source.read_bytes()
        except OSError as error:
            raise InputError(f"can't be read: {error.strerror}", file=str(source)) from error
        writer.write_verbatim(target / name, data)


def _as_json(found: Exported, target: Path) -> str:
    facts = {
        "schema_version": 1,
        "output": str(target),
        "files": sorted((*found.texts, *found.copies)),
        "without_counterpart": [{"place": loss.place, "reason": loss.reason} for loss in found.losses],
    }
    return json.dumps(facts, indent=2, ensure_ascii=False)


def _as_text(found: Exported, target: Path, form: str) -> str:
    lines = [f"wrote {count(len(found.texts) + len(found.copies), 'file')} below {target}"]
    if found.losses:
        lines += ["", "Without counterpart, or different there:"]
    for reason in dict.fromkeys(loss.reason for loss in found.losses):
        places = [loss.place for loss in found.losses if loss.reason == reason]
        lines.append(f"  {reason} ({_listed(places)})")
    if form == "plugin-suite":
        scaffold = " --scaffold" if any(name.endswith("/scaffold.sh") for name in found.texts) else ""
        lines += ["", "In the plugin that holds it:"]
        lines.append(f"  claude plugin eval . --allow-tools Write Edit Bash{scaffold}")
    return "\n".join(lines)


def _listed(places: Sequence[str]) -> str:
    more = len(places) - _SHOWN
    return "; ".join(places[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
