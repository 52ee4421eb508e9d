"""A benchmark whose evals carry a class of prompts is told by class, and a negative control wants no use of the skill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.benchmark.files import benchmark_json
from skill_assay.model.benchmark import Benchmark
from skill_assay.reports.classes import class_rows
from skill_assay.reports.markdown import benchmark_markdown
from skill_assay.reports.terminal import render_benchmark
from skill_assay.workspace.discovery import discover
from skill_assay.workspace.store import Iteration
from tests.made import made_eval, made_iteration, made_plan, made_trial
from tests.viewer.small import client_of, site_of

CLASSES = {"by-name": "explicit", "by-task": "implicit", "clock": "negative-control", "other": None}
USED = {"by-name": None, "by-task": True, "clock": False, "other": True}


def benchmark(folder: Path, tags: dict[str, str | None], used: dict[str, bool | None]) -> Benchmark:
    plan = made_plan(tuple(tags), 2, settings={"thresholds": {"min_activation": 1.0}})
    trials = [
        made_trial(name, arm, k, "pp" if arm == "with_skill" else "pf", used=used[name] if arm == "with_skill" else False)
        for name in tags
        for arm in ("with_skill", "without_skill")
        for k in (1, 2)
    ]  # fmt: skip
    evals = [made_eval(name, tags=(tag,) if tag else ()) for name, tag in tags.items()]
    return aggregate(discover(made_iteration(folder, plan, trials, evals).path))


@pytest.fixture
def found(tmp_path: Path) -> Benchmark:
    return benchmark(tmp_path, CLASSES, USED)


def test_each_class_has_a_row_in_every_report(found: Benchmark) -> None:
    assert [(row.name, row.evals, row.rates, row.used, row.use_known) for row in class_rows(found)] == [
        ("explicit", 1, (1.0, 0.5), 0, 0),
        ("implicit", 1, (1.0, 0.5), 2, 2),
        ("negative-control", 1, (1.0, 0.5), 0, 2),
        ("", 1, (1.0, 0.5), 2, 2),
    ]
    lines = [line.split() for line in render_benchmark(found).splitlines()]
    assert ["explicit", "1", "100%", "50%", "unknown"] in lines
    assert ["negative-control", "1", "100%", "50%", "0", "of", "2"] in lines
    page = benchmark_markdown(found)
    assert "## By class of prompts" in page and "| implicit | 1 | 100% | 50% | 2 of 2 |" in page
    record = json.loads(benchmark_json(found))["by_class"]
    assert [one["class"] for one in record] == ["explicit", "implicit", "negative-control", None]
    assert "used" not in record[0] and record[2]["known"] == 2


def test_the_page_has_the_table_too(tmp_path: Path, found: Benchmark) -> None:
    page = client_of(site_of(Iteration(next(tmp_path.rglob("plan.json")).parent))).get("/i/iteration-1/overview").text
    table = page[page.index("By class of prompts") :]
    assert "<td>2 of 2</td>" in table and table.index("explicit") < table.index("negative-control")


def test_a_negative_control_wants_no_use(tmp_path: Path, found: Benchmark) -> None:
    assert found.use(wanted=True) == (4, 4) and found.use(wanted=False) == (0, 2)
    assert not any("the skill was used in" in note for note in found.notes)
    assert [one.status for one in found.thresholds] == ["met"]
    loud = benchmark(tmp_path / "loud", CLASSES, {**USED, "clock": True, "other": False})
    assert "the skill was used in 2 of 4 trials of with_skill" in loud.notes
    assert any("in 2 of 2 trials of with_skill in which it should not be" in note for note in loud.notes)
    (result,) = loud.thresholds
    assert result.value == 0.5 and result.causes == ("other 0 %",)


def test_without_classes_nothing_is_said(tmp_path: Path) -> None:
    plain = benchmark(tmp_path, {"a": None, "b": None}, {"a": True, "b": True})
    assert class_rows(plain) == () and "class of prompts" not in render_benchmark(plain)
    assert "By class" not in benchmark_markdown(plain) and "by_class" not in json.loads(benchmark_json(plain))
