"""Iterations in a row, each by its own record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.benchmark.derive import derive
from skill_assay.benchmark.files import write_benchmark
from skill_assay.benchmark.history import history
from skill_assay.benchmark.trend import trend_of, trend_rows
from skill_assay.model.history import TrendRow
from skill_assay.model.trial import Arm
from skill_assay.reports.history import history_text
from skill_assay.workspace.store import Workspace
from tests.made import made_iteration, made_plan, made_trial


def taken_in_turn(tmp_path: Path) -> Workspace:
    """Two agents, two iterations each, in turn; every iteration's numbers are written."""
    for agent in ("codex", "pi", "codex", "pi"):
        arms = (
            Arm("with_skill", "primary", agent, "m", skill=Path("skill")),
            Arm("without_skill", "baseline", agent, "m"),
        )
        plan = made_plan(("dates",), 2, arms, digests={"eval:dates": "1"})
        trials = [made_trial(arm=arm.name, marks="pf", repeat=k) for arm in arms for k in (1, 2)]
        iteration = made_iteration(tmp_path, plan, trials)
        write_benchmark(iteration, derive(iteration.path).benchmark)
    return Workspace(tmp_path / "pdf-workspace")


def rows_of(workspace: Workspace) -> list[TrendRow]:
    last = workspace.iterations()[-1]
    return trend_rows(workspace.iterations(), last.path.name, derive(last.path))


def test_each_iteration_says_whom_it_asked_and_what_it_was_compared_with(tmp_path: Path) -> None:
    rows = rows_of(taken_in_turn(tmp_path))
    assert [row.subject for row in rows] == ["codex/m", "pi/m", "codex/m", "pi/m"]
    assert [row.since for row in rows] == [None, None, 1, 2]
    assert [point.since for point in trend_of(rows)] == [None, None, 1, 2]
    assert [row.shown for row in rows] == [False, False, False, True]


def test_the_history_names_the_iteration_a_change_is_since(tmp_path: Path) -> None:
    found, _ = history(taken_in_turn(tmp_path))
    assert [row.since for row in found.rows] == [None, None, 1, 2]
    assert [row.get("parent") for row in found.to_dict()["iterations"]] == [None, None, "iteration-1", "iteration-2"]
    assert "+0 since 1" in history_text(found) and "+0 since 2" in history_text(found)


@pytest.mark.parametrize(
    "comparison",
    [
        {"previous": "iteration-1", "comparable": False},
        {"previous": "/elsewhere/iteration-1", "comparable": True},
        {"previous": ["iteration-1"], "comparable": True},
        {"previous": "iteration-1"},
        "iteration-1",
    ],
)
def test_a_record_that_says_otherwise_leads_no_line(tmp_path: Path, comparison: Any) -> None:
    workspace = taken_in_turn(tmp_path)
    path = workspace.iterations()[2].benchmark_path
    path.write_text(json.dumps(json.loads(path.read_text()) | {"comparison": comparison}), encoding="utf-8")
    assert [row.since for row in rows_of(workspace)] == [None, None, None, 2]


@pytest.mark.parametrize("arms", [None, "codex", [None], [{"role": "primary", "agent": 3, "model": ["m"]}], [{}]])
def test_a_damaged_record_names_nobody(tmp_path: Path, arms: Any) -> None:
    workspace = taken_in_turn(tmp_path)
    path = workspace.iterations()[0].benchmark_path
    path.write_text(json.dumps(json.loads(path.read_text()) | {"arms": arms}), encoding="utf-8")
    assert [row.subject for row in rows_of(workspace)] == ["", "pi/m", "codex/m", "pi/m"]


def test_one_alone_is_no_trend(tmp_path: Path) -> None:
    workspace = taken_in_turn(tmp_path)
    only = workspace.iterations()[0]
    assert trend_rows([only], only.path.name, derive(only.path)) == []
