from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from skill_assay.cli.history import command
from skill_assay.errors import NotFoundError
from tests.made import made_iteration, made_plan, made_trial


def history(*arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    digests = {"skill": "0123456789", "eval:dates": "1"}
    for mark in ("pf", "pp", "pf"):
        trials = [made_trial(marks=mark, repeat=k) for k in (1, 2)]
        trials += [made_trial(arm="without_skill", marks="ff", repeat=k) for k in (1, 2)]
        made_iteration(tmp_path, made_plan(trials=2, digests=digests), trials)
    return tmp_path / "pdf-workspace"


def test_a_row_an_iteration_with_what_changed(workspace: Path) -> None:
    lines = history(str(workspace)).splitlines()
    assert lines[0] == "pdf: 3 iterations"
    assert [line.split()[0] for line in lines[2:5]] == ["1", "2", "3"]
    assert "100%" in lines[3] and "+50" in lines[3] and "012345" in lines[3]


def test_history_json_has_skill_creator_s_keys(workspace: Path) -> None:
    record = json.loads(history(str(workspace), "--format", "json"))
    assert record == json.loads((workspace / "trend.json").read_text("utf-8"))
    assert record["current_best"] == "iteration-2"
    rows = record["iterations"]
    assert [row["grading_result"] for row in rows] == ["baseline", "won", "lost"]
    assert [row["parent"] for row in rows] == [None, "iteration-1", "iteration-2"]
    assert [row["is_current_best"] for row in rows] == [False, True, False]
    assert [(row.get("improvements"), row.get("regressions")) for row in rows] == [(None, None), (1, 0), (0, 1)]


@pytest.mark.slow
def test_the_trend_is_drawn(workspace: Path, tmp_path: Path) -> None:
    history(str(workspace), "-o", str(tmp_path / "trend.svg"))
    svg = (tmp_path / "trend.svg").read_text("utf-8")
    assert svg.startswith("<svg") and "pass rate" in svg and "with the skill" in svg


def test_fault_02_a_place_without_iterations_exits_2(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        history(str(tmp_path))
