"""`assay demo`: the bundled example, copied and run like any other skill."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from skill_assay.cli.demo import EXAMPLE, bundled_example, command, copy_example
from skill_assay.errors import InputError

ROOT = Path(__file__).parents[2]


def test_the_example_is_the_one_of_the_checkout() -> None:
    assert bundled_example() == ROOT / "examples" / EXAMPLE


def test_the_example_is_shipped_where_it_is_looked_for() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["force-include"] == {"examples": "skill_assay/examples"}


def test_a_copy_is_hidden_from_git_and_whole(tmp_path: Path) -> None:
    skill = copy_example(tmp_path / "new")
    assert (tmp_path / "new" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    wanted = {path.relative_to(bundled_example()) for path in bundled_example().rglob("*") if path.suffix != ".pyc"}
    assert {path.relative_to(skill) for path in skill.rglob("*")} == {p for p in wanted if p.name != "__pycache__"}


def test_a_copy_that_was_edited_stays(tmp_path: Path) -> None:
    skill = copy_example(tmp_path)
    assert not (tmp_path / ".gitignore").exists(), "the folder was somebody else's already"
    (skill / "SKILL.md").write_text("mine", encoding="utf-8")
    assert copy_example(tmp_path) == skill
    assert (skill / "SKILL.md").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_can_not_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be copied"):
        copy_example(tmp_path / "file" / "below")


@pytest.mark.slow
def test_the_demo_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_TRIALS", "1")
    result = CliRunner().invoke(command, ["--trials", "3", "--progress", "plain"], standalone_mode=False)
    assert result.exception is None, result.output
    assert result.return_value == 0
    assert "simulated" in result.stdout
    assert "assay run .demo/expense-report" in result.stderr
    (written,) = tmp_path.rglob("benchmark.json")
    assert written.parent == tmp_path / ".demo" / "expense-report-workspace" / "iteration-1"
    benchmark = json.loads(written.read_text(encoding="utf-8"))
    assert benchmark["summary"]["total_evals"] == 8
    assert len(benchmark["runs"]) == 47
    requested = {one["eval_id"]: (one["trials_requested"], one["trials_completed"]) for one in benchmark["per_eval"]}
    assert set(requested) == {path.name for path in (bundled_example() / "evals" / "references").iterdir()}
