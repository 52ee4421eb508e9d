from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from junitparser import JUnitXml

from skill_assay.cli.gate import command
from skill_assay.errors import NotFoundError
from tests.made import made_iteration, made_plan, made_trial, write_json

LIMITS = {"min_pass_rate": 0.8, "max_avg_tokens": 100000, "min_improvement_ratio": 1.0}


def gate(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return int(result.return_value), result.stdout


@pytest.fixture
def place(tmp_path: Path) -> Path:
    plan = made_plan(("dates", "rows"), settings={"thresholds": LIMITS})
    trials = [
        made_trial("dates", marks="pp"),
        made_trial("rows", marks="pf"),
        made_trial("dates", "without_skill", marks="pf"),
        made_trial("rows", "without_skill", marks="ff"),
    ]
    return made_iteration(tmp_path, plan, trials).path


def test_a_missed_threshold_ends_with_1_and_says_why_and_what_next(place: Path) -> None:
    code, out = gate(str(place))
    assert code == 1
    lines = out.splitlines()
    assert lines[:4] == [
        "FAIL",
        "  min_pass_rate            0.80  0.75   missed: rows 50 %",
        "  max_avg_tokens         100000  1000   met",
        "  min_improvement_ratio    1.00  3.00   met",
    ]
    assert lines[-1] == "Next: assay improve skills/pdf"


def test_met_is_0_and_a_configuration_goes_before_the_run_s_own(place: Path, tmp_path: Path) -> None:
    config = write_json(tmp_path / "c.json", {"thresholds": {"min_pass_rate": 0.75}})
    code, out = gate(str(place), "--config", str(config))
    assert (code, out.splitlines()[0]) == (0, "PASS")


def test_partial_is_3_and_nothing_there_is_2(place: Path, tmp_path: Path) -> None:
    plan = made_plan(("dates",), 2, settings={"thresholds": {"min_pass_rate": 0.5}})
    trials = [made_trial(), made_trial(arm="without_skill")]
    code, out = gate(str(made_iteration(tmp_path / "part", plan, trials).path))
    assert code == 3
    assert "INCOMPLETE" in out and "2 planned trials are missing" in out
    with pytest.raises(NotFoundError) as caught:
        gate(str(tmp_path / "part" / "nowhere"))
    assert caught.value.exit_code == 2


def test_what_is_missing_is_run_by_a_command_that_finds_the_place_again(tmp_path: Path) -> None:
    skill = tmp_path / "pdf"
    skill.mkdir()
    plan = replace(made_plan(("dates",), 2, settings={"thresholds": {"min_pass_rate": 0.5}}), skill_path=str(skill))
    place = made_iteration(tmp_path / "part", plan, [made_trial(), made_trial(arm="without_skill")]).path
    _, out = gate(str(place))
    assert out.splitlines()[-1] == f"Next: assay run {skill} --workspace {place.parent} --resume"


def test_json_and_junit_agree_with_the_exit_code(place: Path, tmp_path: Path) -> None:
    code, out = gate(str(place), "--format", "json")
    record = json.loads(out)
    assert (code, record["status"], record["failed"]) == (1, "fail", ["min_pass_rate"])
    gate(str(place), "--format", "junit", "-o", str(tmp_path / "junit.xml"))
    xml = JUnitXml.fromfile(str(tmp_path / "junit.xml"))
    assert (xml.tests, xml.failures, xml.skipped) == (5, 2, 0)
    assert {case.name for suite in xml for case in suite if case.result} == {"min_pass_rate", "rows"}


def test_github_gets_annotations_and_a_step_summary(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, out = gate(str(place), "--format", "github")
    assert code == 1
    assert out.splitlines()[0] == (
        "::error title=pdf%3A min_pass_rate missed::limit 0.80, value 0.75; missed: rows 50 %25"
    )
    summary = (tmp_path / "summary.md").read_text("utf-8")
    assert summary.startswith("<!-- skill-assay pdf -->\n\n### pdf: ❌ Gate failed")
    assert "rows   ○·········●··········  +50" in summary
