from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.benchmark import command
from skill_assay.errors import AssayError, InputError, NotFoundError
from tests.made import foreign, grading, made_iteration, made_plan, made_trial


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


@pytest.fixture
def own(tmp_path: Path) -> Path:
    trials = [made_trial(one, arm) for one in ("a", "b") for arm in ("with_skill", "without_skill")]
    return made_iteration(tmp_path, made_plan(("a", "b")), trials).path


def test_an_iteration_of_ours_gets_its_files_anew(own: Path) -> None:
    (own / "benchmark.json").write_text("stale")
    assert "With Skill:" in run(str(own.parent)).stdout
    assert json.loads((own / "benchmark.json").read_text("utf-8"))["iteration"] == 1
    assert (own / "benchmark.md").exists()


def test_somebody_else_s_workspace_is_only_read(tmp_path: Path) -> None:
    root = foreign(tmp_path, {f"eval-1/{arm}/grading.json": grading("p") for arm in ("with_skill", "without_skill")})
    before = sorted(root.rglob("*"))
    run(str(root))
    assert sorted(root.rglob("*")) == before


@pytest.mark.slow
def test_formats_and_files(own: Path, tmp_path: Path) -> None:
    assert json.loads(run(str(own), "--format", "json").stdout)["skill_name"] == "pdf"
    assert run(str(own), "--format", "markdown").stdout.startswith("# Benchmark of pdf")
    assert run(str(own), "-o", str(tmp_path / "out.txt")).stdout == ""
    assert "With Skill:" in (tmp_path / "out.txt").read_text("utf-8")
    with pytest.raises(InputError, match="can't be written"):
        run(str(own), "-o", str(tmp_path / "none" / "x"))


def test_a_part_is_shown_and_never_written(own: Path) -> None:
    run(str(own))
    before = (own / "benchmark.json").read_text("utf-8")
    record = json.loads(run(str(own), "--eval", "b", "--format", "json").stdout)
    assert record["metadata"]["evals_run"] == ["b"]
    assert (own / "benchmark.json").read_text("utf-8") == before
    with pytest.raises(NotFoundError, match="no such eval"):
        run(str(own), "--eval", "zzz")


def test_fault_02_a_folder_without_runs_exits_2(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        run(str(tmp_path))
    assert caught.value.exit_code == 2
