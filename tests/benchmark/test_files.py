from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.benchmark.derive import derive
from skill_assay.benchmark.files import benchmark_json, write_benchmark
from skill_assay.cli.show import keep
from skill_assay.errors import FailureKind
from skill_assay.reports.markdown import benchmark_markdown
from skill_assay.workspace.discovery import discover
from tests.made import made_eval, made_iteration, made_plan, made_trial


@pytest.fixture
def record(tmp_path: Path) -> dict[str, Any]:
    trials = [
        made_trial("1", marks="pp", used=True),
        made_trial("1", marks="pf", repeat=2, tokens=None),
        made_trial("1", "without_skill", marks="ff"),
        made_trial("1", "without_skill", repeat=2, failure=FailureKind.OVERLOADED),
    ]
    plan = made_plan(
        ("1",), 2, settings={"thresholds": {"min_pass_rate": 0.5, "min_improvement_ratio": 1}}, digests={"skill": "d"}
    )
    iteration = made_iteration(tmp_path, plan, trials, [made_eval("1", original_id=1, name="dates")])
    write_benchmark(iteration, aggregate(discover(iteration.path)))
    read: dict[str, Any] = json.loads(
        (iteration.path / "benchmark.json").read_text("utf-8"), parse_constant=pytest.fail
    )
    assert (iteration.path / "benchmark.md").read_text("utf-8").startswith("# Benchmark of pdf")
    return read


@pytest.mark.slow
def test_the_page_shows_a_plot_where_one_lies_beside_it(tmp_path: Path) -> None:
    trials = [made_trial("1", marks="pp"), made_trial("1", "without_skill", marks="ff")]
    iteration = made_iteration(tmp_path, made_plan(("1",), 1), trials, [made_eval("1")])
    derived = derive(iteration.path)
    keep(iteration, derived)
    page = (iteration.path / "benchmark.md").read_text("utf-8")
    assert "](benchmark-plots/forest.png)" in page
    assert (iteration.path / "benchmark-plots" / "forest.png").read_bytes().startswith(b"\x89PNG")
    assert "forest.png" not in benchmark_markdown(derived.benchmark)


def test_skill_creators_viewer_finds_what_it_needs(record: dict[str, Any]) -> None:
    metadata = record["metadata"]
    assert metadata["evals_run"] == [1]
    assert metadata["runs_per_configuration"] == 2
    assert metadata["skill_name"] == "pdf"
    assert metadata["timestamp"]
    assert list(record["run_summary"]) == ["with_skill", "without_skill", "delta"]
    for arm in ("with_skill", "without_skill"):
        for figures in record["run_summary"][arm].values():
            assert {type(figures[name]) for name in ("mean", "stddev", "min", "max")} <= {int, float}
    assert record["run_summary"]["delta"] == {"pass_rate": "+0.75", "time_seconds": "+0.0", "tokens": "+0"}
    for run in record["runs"]:
        assert {"eval_id", "configuration", "run_number", "result", "expectations"} <= set(run)
        assert {"pass_rate", "passed", "total", "time_seconds", "errors"} <= set(run["result"])
        assert {"text", "passed", "evidence"} == set(run["expectations"][0])
    assert all(isinstance(note, str) for note in record["notes"])


def test_skill_forges_readers_find_what_they_need(record: dict[str, Any]) -> None:
    assert {"skill_name", "iteration", "timestamp"} <= set(record)
    summary = record["summary"]
    assert summary["total_evals"] == 1
    assert summary["with_skill"]["pass_rate"] == 0.75
    assert summary["baseline"]["trials_completed"] == 1
    assert summary["improvement_ratio"] is None, "the baseline never passed"
    assert summary["time_savings_ratio"] == 1.0
    [one] = record["per_eval"]
    assert (one["eval_id"], one["eval_name"]) == (1, "dates")
    assert (one["trials"], one["trials_completed"], one["trials_requested"]) == (2, 2, 2)
    assert one["variance"] == 0.3536
    assert record["thresholds_met"] == {"min_pass_rate": True, "min_improvement_ratio": True}


def test_fault_16_unknown_is_left_out(record: dict[str, Any]) -> None:
    assert ["tokens" in run["result"] for run in record["runs"]] == [True, False, True]


def test_excluded_trials_are_listed_and_no_run_of_the_shared_list(record: dict[str, Any]) -> None:
    assert len(record["runs"]) == 3
    [left_out] = record["exclusions"]
    assert left_out == {
        "eval_id": 1,
        "configuration": "without_skill",
        "run_number": 2,
        "reason": "API overloaded",
        "failure": "overloaded",
    }


def test_ours_lies_beside_theirs(record: dict[str, Any]) -> None:
    assert record["schema_version"] == 1
    assert record["activation"]["with_skill"] == {"used": 1, "known": 1}
    assert record["provenance"]["digests"] == {"skill": "d"}
    assert record["runs"][0]["agent"] == "simulated"
    assert record["runs"][0]["model"] == "model-1"
    assert "inference" not in record, "nothing is concluded here"


def test_deriving_again_changes_nothing_but_the_time(tmp_path: Path) -> None:
    iteration = made_iteration(tmp_path, made_plan(), [made_trial(), made_trial(arm="without_skill")])
    once, twice = (json.loads(benchmark_json(aggregate(discover(iteration.path)))) for _ in range(2))
    for one in (once, twice):
        del one["timestamp"], one["metadata"]["timestamp"]
    assert once == twice


def test_a_text_that_looks_like_our_place_holder_is_no_trouble(tmp_path: Path) -> None:
    trial = made_trial(marks="p")
    one = made_eval(name='"runs": []')
    iteration = made_iteration(tmp_path, made_plan(), [trial], [one])
    record = json.loads(benchmark_json(aggregate(discover(iteration.path))))
    assert len(record["runs"]) == 1
    assert record["runs"][0]["eval_name"] == '"runs": []'
