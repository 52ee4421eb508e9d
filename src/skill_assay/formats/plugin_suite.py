"""A suite of `claude plugin eval`, a folder for each case, read as evals.

The format is that of Claude Code 2.1: `<case>/prompt.md` and `<case>/case.yaml` (one of them is enough) and
`<case>/graders/*.md`, below the plugin's folder of evals. Source: its manual ("Test plugins with evals") and what the
program itself accepts and refuses.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from skill_assay.errors import AssayError, InputError
from skill_assay.formats.jsontext import parse_json
from skill_assay.formats.plugin_suite_case import Case, read_case
from skill_assay.formats.reading import read_source
from skill_assay.model.evals import EvalSet
from skill_assay.model.findings import Finding, Severity

__all__ = ["case_folders", "find_suite", "is_suite", "plugin_of", "plugin_skill", "read_suite"]

CASE_FILES = ("prompt.md", "case.yaml")
_SKIPPED = frozenset({"node_modules", ".claude", "results", "mocks"})
_MOST_FOLDERS = 5000
_DEPTH = 8


def find_suite(skill_root: Path) -> Path | None:
    """The folder of the suite that tests a skill: its own, else that of the plugin whose only skill it is."""
    own = skill_root / "evals"
    if is_suite(own):
        return own
    plugin = plugin_of(skill_root)
    if plugin is None or plugin == skill_root:
        return None
    folder = plugin / _evals_of(plugin)
    return folder if is_suite(folder) else None


def is_suite(folder: Path) -> bool:
    """Whether a folder holds cases, at least one with more than a prompt.md, which alone may be anything."""
    return any((case / "graders").is_dir() or (case / "case.yaml").is_file() for case in case_folders(folder))


def case_folders(path: Path) -> list[Path]:
    """The cases below a folder, or the one that a folder or file is, sorted by their path.

    Links are not followed, nor is what the format keeps for other things (`results`, `mocks`) looked into.

    Raises:
        InputError: there are too many folders to be a suite.
    """
    if path.name in CASE_FILES and path.is_file():
        return [path.parent]
    return sorted(_cases(path)) if path.is_dir() and not path.is_symlink() else []


def _cases(top: Path) -> Iterator[Path]:
    waiting, seen = [(top, 0)], 0
    while waiting:
        folder, depth = waiting.pop()
        seen += 1
        if seen > _MOST_FOLDERS:
            raise InputError("holds too many folders to be a suite of evals", file=str(top))
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        if any(entry.name in CASE_FILES for entry in entries):
            yield folder
            continue
        below = [entry for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED]
        if depth < _DEPTH:
            waiting += [(folder / entry.name, depth + 1) for entry in below]


def plugin_of(skill_root: Path) -> Path | None:
    """The plugin a skill is the only one of: the folder itself, or the one whose `skills/` holds it."""
    if _is_plugin(skill_root):
        return skill_root
    parents = skill_root.absolute().parents
    if len(parents) < 2 or parents[0].name != "skills" or not _is_plugin(parents[1]):
        return None
    return parents[1] if _skills(parents[1]) == [skill_root.absolute()] else None


def plugin_skill(path: Path) -> Path:
    """The one skill of a plugin's folder; any other path as it is."""
    if not path.is_dir() or (path / "SKILL.md").exists() or not _is_plugin(path):
        return path
    skills = _skills(path)
    return skills[0] if len(skills) == 1 else path


def _is_plugin(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (".claude-plugin/plugin.json", "plugin.json"))


def _skills(plugin: Path) -> list[Path]:
    return sorted(file.parent for file in (plugin.absolute() / "skills").glob("*/SKILL.md"))


def _evals_of(plugin: Path) -> str:
    """The folder its manifest names, below the plugin; `evals` where it names none that can be used."""
    for name in (".claude-plugin/plugin.json", "plugin.json"):
        try:
            manifest = parse_json(read_source(plugin / name).text, name).value
        except AssayError:
            continue
        experimental = manifest.get("experimental") if isinstance(manifest, dict) else None
        named = experimental.get("evals") if isinstance(experimental, dict) else None
        if isinstance(named, str) and named and not named.startswith(("/", "\\")) and ".." not in Path(named).parts:
            return named
    return "evals"


def read_suite(path: Path, *, skill_root: Path) -> EvalSet:
    """The evals as far as they can be understood, and everything that was noticed.

    Args:
        path: the suite's folder, one case's, or one case's prompt.md or case.yaml.
        skill_root: the skill's folder, from which fixtures are found.
    """
    folders = case_folders(path)
    top = path if path.is_dir() and path not in folders else folders[0].parent
    cases = [read_case(folder, top, skill_root) for folder in folders]
    findings = [finding for case in cases for finding in case.findings]
    findings += _mocks(top)
    read = tuple(file for case in cases for file in case.read)
    digest = hashlib.sha256()
    for file in read:
        digest.update(file.relative_to(top).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    evals = tuple(case.eval for case in cases if case.eval)
    return EvalSet(None, evals, _first(cases, top), digest.hexdigest(), tuple(findings), folder=top, read=read)


def _first(cases: list[Case], top: Path) -> Path:
    return next((file for case in cases for file in case.read), top / CASE_FILES[0])


def _mocks(top: Path) -> list[Finding]:
    if not (top / "mocks").is_dir():
        return []
    message = "stand-ins for MCP servers have no counterpart here; they are not read"
    remedy = "Give the agent a server of your own with --mcp-config."
    return [Finding(Severity.WARNING, "no-counterpart", message, remedy=remedy, file=str(top / "mocks"))]
