"""Published and made-up workspaces with known figures, recomputed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.benchmark.descriptive import delta_strings
from skill_assay.benchmark.files import benchmark_json
from skill_assay.errors import NotFoundError
from skill_assay.model.benchmark import Benchmark
from skill_assay.workspace.discovery import discover

MADE_UP = ["nine_runs", "single_run", "three_by_three", "versions"]
PUBLISHED = [
    "az9713__steelman-redteam-skill/workspace/iteration-1",
    "greghavens__vcf-9-x-skills/workspace/iteration-1",
]


def derived(place: Path) -> tuple[Benchmark, dict[str, Any]]:
    found = aggregate(discover(place))
    record: dict[str, Any] = json.loads(benchmark_json(found), parse_constant=pytest.fail)
    return found, record


@pytest.mark.parametrize("name", MADE_UP)
def test_figures_equal_those_of_skill_creators_own_aggregator(shared_data: Path, name: str) -> None:
    expected = json.loads((shared_data / "oracle" / "aggregate" / f"{name}.expected.json").read_text("utf-8"))
    found, record = derived(shared_data / "oracle" / "aggregate" / name)
    assert record["run_summary"] == expected["run_summary"]
    assert list(record["run_summary"]) == list(expected["run_summary"]), "the with-skill arm first"
    assert delta_strings(found) == expected["run_summary"]["delta"]
    for ours, theirs in zip(record["runs"], expected["runs"], strict=True):
        for key in ("eval_id", "configuration", "run_number", "result"):
            assert ours[key] == theirs[key]


@pytest.mark.parametrize("place", PUBLISHED)
def test_published_figures_recompute_exactly(shared_data: Path, place: str) -> None:
    root = shared_data / "workspaces" / place
    expected = json.loads((root / "benchmark.json").read_text("utf-8"))
    _, record = derived(root)
    assert record["run_summary"] == expected["run_summary"]
    assert record["metadata"]["evals_run"] == expected["metadata"]["evals_run"]


def test_an_ungraded_run_and_unknown_timings(shared_data: Path) -> None:
    found, record = derived(shared_data / "workspaces" / "Arindam200__nebius-skills")
    assert round(found.primary.pass_rate.mean, 3) == 0.689  # type: ignore[union-attr]
    assert round(found.baseline.pass_rate.mean, 3) == 0.585  # type: ignore[union-attr]
    assert found.baseline.completed == 8  # type: ignore[union-attr]
    [left_out] = found.exclusions
    assert (left_out.eval.id, left_out.arm, left_out.reason) == (2, "without_skill", "nothing was graded")
    for arm in ("with_skill", "without_skill"):
        assert set(record["run_summary"][arm]) == {"pass_rate"}, "no key for what nobody measured"


def test_fault_14_the_summary_that_counts_two_too_many_is_reported(shared_data: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        discover(shared_data / "workspaces" / "anthropics__skills")
    assert "44 of 44" in str(caught.value)
    assert "42 of 42" in str(caught.value)


def test_the_file_that_does_not_parse_is_skipped_by_name(shared_data: Path) -> None:
    found = discover(shared_data / "workspaces" / "greghavens__vcf-9-x-skills" / "workspace" / "iteration-3")
    assert len(found.runs) == 39
    [skipped] = found.skipped
    assert skipped.place == "eval-0-nsx-dfw-91/with_skill/grading.json"
    assert "line 31" in skipped.reason


@pytest.mark.parametrize("name", ["HoonStyle__legacy-spec-agent", "Xin7937-lang__jev-life"])
def test_fault_02_figures_without_gradings_are_no_benchmark(shared_data: Path, name: str) -> None:
    with pytest.raises(NotFoundError, match="no graded run"):
        discover(shared_data / "workspaces" / name)


def test_no_published_workspace_crashes(shared_data: Path) -> None:
    read = 0
    for grading in sorted((shared_data / "workspaces").rglob("*grading.json")):
        try:
            read += len(aggregate(discover(grading.parent)).runs)
        except NotFoundError:
            continue
    assert read > 50
