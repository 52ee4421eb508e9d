from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.init import command
from skill_assay.cli.lint import command as lint
from skill_assay.cli.run import command as assay_run
from skill_assay.errors import InputError
from skill_assay.formats.evals import find_evals, load_evals
from skill_assay.formats.skill import read_skill
from skill_assay.formats.triggers import find_queries, load_queries

GOOD = "---\nname: my-skill\ndescription: Makes a report from a messy table when asked.\n---\nBody\n"


def run(path: Path) -> Result:
    return CliRunner().invoke(command, [str(path)], standalone_mode=False)


def test_a_new_skill_lints_clean_and_its_evals_can_be_decided(tmp_path: Path) -> None:
    root = tmp_path / "new" / "My Skill"
    result = run(root)
    assert result.return_value == 0, result.exception
    assert result.output.count("wrote") == 3
    assert read_skill(root).name == "my-skill"
    evals = load_evals(find_evals(root), skill_root=root)
    assert evals.skill_name == "my-skill" and not evals.findings
    assert any(each.checks for one in evals.evals for each in one.expectations)
    queries = load_queries(find_queries(root))
    assert {query.should_trigger for query in queries.queries} == {True, False}
    report = CliRunner().invoke(lint, ["--format", "json", str(root)], standalone_mode=False)
    totals = json.loads(report.output)["totals"]
    # The folder's name has a capital and a space, which a skill's name can't have.
    assert totals["error"] == 0 and totals["warning"] == 1
    assert "placeholder" in report.output


def test_an_existing_skill_gets_what_is_missing(tmp_path: Path) -> None:
    root = tmp_path / "my-skill"
    (root / "evals").mkdir(parents=True)
    (root / "SKILL.md").write_text(GOOD)
    (root / "evals" / "evals.json").write_text("mine")
    result = run(root / "SKILL.md")
    assert "exists" in result.output and result.output.count("wrote") == 1
    assert (root / "evals" / "evals.json").read_text() == "mine"
    assert (root / "SKILL.md").read_text() == GOOD
    assert json.loads((root / "evals" / "triggers.json").read_text())["skill_name"] == "my-skill"


def test_twice_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "my-skill"
    run(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    result = run(root)
    assert "Nothing was written." in result.output
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    report = CliRunner().invoke(lint, ["--strict", str(root)], standalone_mode=False)
    assert report.return_value == 0, report.output


def test_a_run_understands_what_init_wrote(tmp_path: Path) -> None:
    root = tmp_path / "my-skill"
    run(root)
    arguments = ["--dry-run", "--agent", "simulated: floor", "--trials", "1", str(root)]
    result = CliRunner().invoke(assay_run, arguments, standalone_mode=False)
    assert result.return_value == 0, result.exception
    assert "first-task/with_skill/1" in result.output and "first-task/without_skill/1" in result.output
    assert not (tmp_path / "my-skill-workspace").exists()


def test_a_broken_skill_is_told_and_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "my-skill"
    root.mkdir()
    (root / "SKILL.md").write_text("no frontmatter")
    assert isinstance(run(root).exception, InputError)
    assert [path.name for path in root.iterdir()] == ["SKILL.md"]


@pytest.mark.parametrize("name", ["file", "..."])
def test_places_that_cannot_be_a_skill(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    assert isinstance(run(tmp_path / name).exception, InputError)
    assert (tmp_path / "file").read_text() == "x"
