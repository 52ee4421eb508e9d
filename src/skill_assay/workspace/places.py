"""Where a workspace may lie: never where an agent would look for skills."""

from __future__ import annotations

import shlex
from pathlib import Path

from skill_assay.errors import InputError

__all__ = ["default_workspace", "discovery_folder", "refuse_unfit", "resume_command", "skill_folder"]

_DISCOVERED: tuple[tuple[str, ...], ...] = (
    (".agents", "skills"),
    (".claude", "plugins"),
    (".claude", "skills"),
    (".codex", "skills"),
    (".config", "opencode", "skill"),
    (".config", "opencode", "skills"),
    (".copilot", "skills"),
    (".gemini", "extensions"),
    (".gemini", "skills"),
    (".github", "skills"),
    (".opencode", "skill"),
    (".opencode", "skills"),
    (".pi",),
    (".qwen", "extensions"),
    (".qwen", "skills"),
)
"""Ends of paths in (and below) which some agent looks for skills."""


def discovery_folder(path: Path) -> Path | None:
    """The folder at or above `path` in which agents look for skills; `None` where there is none."""
    return next((folder for folder, _ in _discovered(path)), None)


def default_workspace(skill_root: Path) -> Path:
    """`<skill>-workspace` beside the skill, or in `.assay/` of the project where agents would look beside it."""
    root = skill_root.absolute()
    name = f"{root.name}-workspace"
    projects = [folder.parents[length - 1] for folder, length in _discovered(root.parent)]
    return projects[-1] / ".assay" / name if projects else root.parent / name


def skill_folder(named: Path) -> Path:
    """The folder of a skill that may be named by its SKILL.md."""
    return named.parent if named.name == "SKILL.md" else named


def resume_command(skill: Path, workspace: Path, command: str = "run") -> str:
    """The command that goes on, ready to be copied: with the workspace where it is not the one it would look in.

    Args:
        skill: its folder or its SKILL.md, as a person named it.
        workspace: where the results lie.
        command: `run`, or another that goes on.
    """
    usual = default_workspace(skill_folder(skill)).resolve() == workspace.resolve()
    return shlex.join(["assay", command, str(skill), *([] if usual else ["--workspace", str(workspace)]), "--resume"])


def refuse_unfit(workspace: Path) -> None:
    """Refuse a folder that can't be a workspace.

    Raises:
        InputError: it is a file, a skill, a repository, or lies where agents look for skills.
    """
    found = discovery_folder(workspace)
    reason = None
    if found is not None:
        reason = f"can't be a workspace: agents look for skills in {found} and would find what runs leave behind"
    elif workspace.exists() and not workspace.is_dir():
        reason = "can't be a workspace: it is a file"
    elif (workspace / "SKILL.md").exists():
        reason = "can't be a workspace: it is a skill"
    elif (workspace / ".git").exists():
        reason = "can't be a workspace: it is a repository, and a workspace hides itself from git"
    if reason:
        raise InputError(
            reason, file=str(workspace), hint="Leave --workspace out to use the usual place, or name another folder."
        )


def _discovered(path: Path) -> list[tuple[Path, int]]:
    """Every such folder at or above, innermost first, with the number of its tell-tale parts; links both ways."""
    found = []
    for place in dict.fromkeys((path.absolute(), path.resolve())):
        for folder in (place, *place.parents):
            found += [(folder, len(end)) for end in _DISCOVERED if folder.parts[-len(end) :] == end]
    return found
