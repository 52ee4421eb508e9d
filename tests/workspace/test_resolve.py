from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.errors import InputError, NotFoundError
from skill_assay.workspace.resolve import iteration_of, resolve_place
from skill_assay.workspace.store import Workspace


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "SKILL.md").write_text("---\nname: pdf\n---\n")
    return tmp_path / "pdf"


def test_a_skill_means_its_newest_iteration(skill: Path) -> None:
    workspace = Workspace.create(skill.parent / "pdf-workspace")
    workspace.next_iteration()
    newest = workspace.next_iteration()
    for place in (skill, skill / "SKILL.md", workspace.path, newest.path):
        assert iteration_of(resolve_place(place)).path == newest.path
    assert resolve_place(skill).kind == "skill"
    assert resolve_place(workspace.path).kind == "workspace"
    assert resolve_place(newest.path).kind == "iteration"


def test_a_workspace_elsewhere_can_be_named(skill: Path, tmp_path: Path) -> None:
    iteration = Workspace.create(tmp_path / "elsewhere").next_iteration()
    assert iteration_of(resolve_place(skill, tmp_path / "elsewhere")).path == iteration.path


def test_fault_02_a_skill_without_iterations_says_what_to_do(skill: Path) -> None:
    with pytest.raises(NotFoundError, match="assay run"):
        iteration_of(resolve_place(skill))


def test_any_other_folder_may_be_somebody_s_workspace(tmp_path: Path) -> None:
    assert resolve_place(tmp_path).kind == "folder"
    assert iteration_of(resolve_place(tmp_path)).path == tmp_path


def test_what_is_no_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such place"):
        resolve_place(tmp_path / "none")
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(InputError, match="is a file"):
        resolve_place(tmp_path / "x.txt")
