"""`assay compare` as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.compare import command
from skill_assay.errors import AssayError, IncompleteError, InputError, NotFoundError
from tests.runner.small import run_small, settings, write_skill
from tests.runner.test_comparing import reply


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def judge(folder: Path, script: Any) -> str:
    (folder / "judge.json").write_text(json.dumps(script), encoding="utf-8")
    return f"scripted: {folder / 'judge.json'}"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    run_small(write_skill(tmp_path), tmp_path / "w", settings(trials=1))
    return tmp_path / "w"


def test_a_position_biased_judge_is_reported(workspace: Path, tmp_path: Path) -> None:
    result = run(str(workspace), "--judge", judge(tmp_path, [{"reply": reply("A")}]))
    assert (
        "0 evals won, 2 tied, 0 lost" in result.output and "In 2 of 2 pairs (100%) the order decided" in result.output
    )
    folder = workspace / "iteration-1"
    assert len(list(folder.glob("comparison-*.json"))) == 2
    assert json.loads((folder / "comparisons.json").read_text())["flip_rate"] == 1.0
    assert len((folder / "judge-1.jsonl").read_text().splitlines()) == 4
    journal = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert (
        sum(str(line.get("reservation", "")).startswith("judge-") for line in journal if line["what"] == "settled") == 4
    )


def test_a_budget_that_is_reached_is_one_message(workspace: Path) -> None:
    with pytest.raises(IncompleteError, match="budget"):
        run(str(workspace), "--judge", "command: echo {}", "--budget", "0.001usd", "--yes")


def test_one_pair_that_could_not_be_compared_is_one(workspace: Path, tmp_path: Path) -> None:
    rules = [{"when": "Greet 1.", "fail": "bad_request"}, {"reply": reply("TIE")}]
    result = run(str(workspace), "--judge", judge(tmp_path, rules))
    assert "\n1 pair could not be compared\n" in result.output and result.return_value == 3


def test_a_second_time_nothing_is_asked_again(workspace: Path, tmp_path: Path) -> None:
    spec = judge(tmp_path, [{"reply": reply("TIE")}])
    first = run(str(workspace), "--judge", spec, "--format", "json")
    judge(tmp_path, [{"fail": "bad_request"}])
    assert json.loads(run(str(workspace), "--judge", spec, "--format", "json").stdout) == json.loads(first.stdout)


def test_another_tool_s_comparison_is_left_alone(workspace: Path, tmp_path: Path) -> None:
    folder = workspace / "iteration-1"
    theirs = b'{"winner": "A", "reasoning": "by hand"}'
    (folder / "comparison-1.json").write_bytes(theirs)
    for _ in range(2):
        run(str(workspace), "--judge", judge(tmp_path, [{"reply": reply("TIE")}]))
    assert sorted(path.name for path in folder.glob("comparison-*.json")) == [f"comparison-{n}.json" for n in (1, 2, 3)]
    assert (folder / "comparison-1.json").read_bytes() == theirs


def test_an_outage_is_incomplete_and_a_missing_arm_is_said(workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match="No pair"):
        run(str(workspace), "--judge", judge(tmp_path, [{"fail": "bad_request"}]))
    with pytest.raises(InputError, match="needs a model"):
        run(str(workspace), "--judge", "none")
    with pytest.raises(NotFoundError):
        run(str(tmp_path / "nowhere"))
