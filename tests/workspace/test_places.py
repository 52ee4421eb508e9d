from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.workspace.places import default_workspace, discovery_folder, refuse_unfit, resume_command, skill_folder
from skill_assay.workspace.store import Workspace

DISCOVERED = [
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".gemini/skills",
    ".github/skills",
    ".opencode/skill",
    ".opencode/skills",
    ".pi/agent/skills",
    ".qwen/skills",
]


def test_the_usual_place_is_beside_the_skill(tmp_path: Path) -> None:
    assert default_workspace(tmp_path / "skills" / "pdf") == tmp_path / "skills" / "pdf-workspace"


def test_the_command_that_goes_on_looks_where_the_results_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    usual = tmp_path / "a skill-workspace"
    assert resume_command(Path("a skill"), usual) == "assay run 'a skill' --resume"
    assert resume_command(Path("a skill/SKILL.md"), Path(usual.name)) == "assay run 'a skill/SKILL.md' --resume"
    assert resume_command(Path("pdf"), tmp_path / "else where", "trigger") == (
        f"assay trigger pdf --workspace '{tmp_path}/else where' --resume"
    )


def test_a_skill_is_its_folder_however_it_is_named() -> None:
    assert skill_folder(Path("pdf/SKILL.md")) == skill_folder(Path("pdf")) == Path("pdf")


@pytest.mark.parametrize("folder", DISCOVERED)
def test_fault_04_no_workspace_where_agents_look_for_skills(tmp_path: Path, folder: str) -> None:
    skill = tmp_path / "project" / folder / "pdf"
    assert default_workspace(skill) == tmp_path / "project" / ".assay" / "pdf-workspace"
    with pytest.raises(InputError, match="agents look for skills"):
        Workspace.create(tmp_path / "project" / folder / "deep" / "ws")
    assert not (tmp_path / "project").exists(), "refused before anything was made"


def test_a_link_into_such_a_folder_is_seen_through(tmp_path: Path) -> None:
    inside = tmp_path / ".claude" / "skills"
    inside.mkdir(parents=True)
    (tmp_path / "link").symlink_to(inside)
    assert discovery_folder(tmp_path / "link" / "ws") is not None


def test_a_folder_merely_called_skills_is_fine(tmp_path: Path) -> None:
    assert discovery_folder(tmp_path / "claude" / "skills") is None


@pytest.mark.parametrize("content", ["SKILL.md", ".git"])
def test_a_skill_or_repository_is_no_workspace(tmp_path: Path, content: str) -> None:
    (tmp_path / content).mkdir()
    with pytest.raises(InputError, match="can't be a workspace"):
        refuse_unfit(tmp_path)


def test_a_file_is_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(InputError, match="it is a file"):
        refuse_unfit(tmp_path / "f")
