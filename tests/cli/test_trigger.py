"""`assay trigger` at the command line: what it says, writes and returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.trigger import choice_of, command, resolve_triggers
from skill_assay.errors import AssayError
from tests.triggering.asking import NO, YES, query, write_neighbour, write_skill

SKILL = Path(__file__).parents[2] / "examples" / "expense-report"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSAY_AGENT", "ASSAY_RUNS", "ASSAY_BUDGET", "ASSAY_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_RETRY_BASE_SECONDS", "0.01")


def trigger(*arguments: object) -> Result:
    """Run it; the exit code is the command's own return value, as `main` uses it."""
    words = [str(argument) for argument in ("--agent", "simulated", "--no-progress", *arguments)]
    return CliRunner().invoke(command, words, standalone_mode=False)


def folder(workspace: Path) -> Path:
    (found,) = (workspace / "triggers").iterdir()
    return found


@pytest.mark.slow
def test_the_bundled_example_shows_a_miss_and_a_false_alarm(tmp_path: Path) -> None:
    result = trigger(SKILL, "--workspace", tmp_path)
    assert result.return_value == 0, result.output
    assert "Fires when it should   5 of 6 queries" in result.stdout
    assert "Silent when it should  5 of 6 queries" in result.stdout
    assert 'Missed        "sum up what I spent in Lisbon' in result.stdout
    assert 'False alarm   "Convert this list of 40 prices' in result.stdout
    record = json.loads((folder(tmp_path) / "results.json").read_text("utf-8"))
    asked = json.loads((SKILL / "evals" / "triggers.json").read_text("utf-8"))
    assert [one["query"] for one in record["results"]] == [one["query"] for one in asked]
    assert record["summary"]["total"] == 12 and record["simulated"] is True
    assert "<svg" in (folder(tmp_path) / "report.html").read_text("utf-8")
    assert (tmp_path / ".gitignore").read_text("utf-8") == "*\n"


@pytest.mark.slow
@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("html", "<!doctype html>"), ("text", "Fires")])
def test_each_format_goes_to_standard_output_or_a_file(tmp_path: Path, form: str, begins: str) -> None:
    skill = write_skill(tmp_path)
    result = trigger(skill, "--format", form, "--runs", 1)
    assert result.return_value == 0 and result.stdout.startswith(begins)
    again = trigger(skill, "--format", form, "--runs", 1, "-o", tmp_path / "out")
    assert again.stdout == "" and (tmp_path / "out").read_text("utf-8").startswith(begins)


@pytest.mark.slow
def test_fault_1_errors_over_a_fifth_end_with_3(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, play={YES: 1, NO: {"fail": {"kind": "crashed"}}})
    result = trigger(skill)
    assert result.return_value == 3
    assert "3 runs of 6 left out (crashed)" in result.stdout and "1 query has no decided run" in result.stdout
    assert "Silent when it should" not in result.stdout


def test_a_failure_that_awaits_every_run_stops_at_once_and_says_what_to_do(tmp_path: Path) -> None:
    """Faults 2 and 7: nothing is launched on in vain, and no score is printed."""
    skill = write_skill(tmp_path, play={"*": {"fail": {"kind": "not_signed_in"}}})
    result = trigger(skill, "--workers", 1)
    assert result.return_value == 3 and result.stdout == ""
    assert "Not signed in" in result.stderr and f"assay trigger {skill} --resume" in result.stderr


def test_fault_7_many_launches_need_a_word(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [query(f"greet {n}", n % 2 == 0) for n in range(30)], {"*": 0})
    result = trigger(skill)
    assert isinstance(result.exception, AssayError) and result.exception.exit_code == 2
    assert "--runs" in str(result.exception) and not (tmp_path / "hello-note-workspace").exists()


@pytest.mark.slow
def test_a_budget_ends_it_with_3_and_resume_completes_it(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    half = trigger(skill, "--budget", "4trials")
    assert half.return_value == 3 and "this evaluation is partial" in half.stderr
    whole = trigger(skill, "--resume")
    assert whole.return_value == 0, whole.output
    assert "Fires when it should   1 of 1 queries" in whole.stdout


@pytest.mark.slow
def test_nothing_fired_is_explained(tmp_path: Path) -> None:
    result = trigger(write_skill(tmp_path, play={"*": 0}))
    assert result.return_value == 0
    assert "The skill was never picked up" in result.stdout and "answered by itself" in result.stdout


def test_a_dry_run_launches_nothing_and_names_the_queries(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    write_neighbour(tmp_path / "more", "bills", "x" * 1600)
    result = trigger(skill, "--dry-run", "--catalog", tmp_path / "more")
    assert "2 queries × 3 runs = 6 launches" in result.stdout and f"should fire   1: {YES}" in result.stdout
    assert "longer than the 1536 characters that the agent shows: bills" in result.stdout
    assert not (tmp_path / "hello-note-workspace").exists()
    facts = json.loads(trigger(skill, "--dry-run", "--format", "json").stdout)
    assert facts["launches"] == 6 and len(facts["trials"]) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--query", "nine"), "no query has the id nine"),
        (("--tag", "none"), "no query has the tag none"),
        (("--catalog", "nowhere"), "--catalog nowhere holds no skill"),
        (("--threshold", "0"), "--threshold must lie above 0"),
        (("--description", "  "), "a description can't be blank"),
        (("--resume", "--new"), "exclude each other"),
        (("--queries", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_can_be_mended_is_one_message(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    result = trigger(write_skill(tmp_path), *arguments)
    assert isinstance(result.exception, AssayError) and result.exception.exit_code == 2
    assert words in str(result.exception)


def test_a_set_without_queries_is_no_success(tmp_path: Path) -> None:
    """Fault 2."""
    skill = write_skill(tmp_path)
    (skill / "evals" / "triggers.json").write_text("[]", encoding="utf-8")
    result = trigger(skill)
    assert isinstance(result.exception, AssayError) and "no queries" in str(result.exception)


def options(**given: Any) -> dict[str, Any]:
    return {"subagents": None, "eval_ids": (), "tags": (), **given}


def test_settings_come_from_options_variables_and_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = write_skill(tmp_path)
    defaults = choice_of(resolve_triggers(skill, options()))
    assert (defaults.threshold, defaults.decide_after, defaults.subagents, defaults.curtail) == (0.5, 4, True, False)
    assert resolve_triggers(skill, options()).settings.limits.seconds == 120
    config = {"kind": "preference", "runs": 5, "decide_after": "end", "subagents": False, "catalog": ["../neighbours"]}
    (skill / "evals" / "benchmark.config.json").write_text(json.dumps(config), encoding="utf-8")
    (skill / "neighbours").mkdir()
    monkeypatch.setenv("ASSAY_THRESHOLD", "0.8")
    found = resolve_triggers(skill, options(runs=2))
    choice = choice_of(found)
    assert found.settings.trials == 2
    assert (choice.threshold, choice.decide_after, choice.subagents, choice.kind) == (0.8, None, False, "preference")
    assert Path(choice.catalog[0]).resolve() == (skill / "neighbours").resolve()
    assert choice_of(resolve_triggers(skill, options(subagents="yes"))).subagents is True


def test_show_config_names_what_means_something_here(tmp_path: Path) -> None:
    result = trigger(write_skill(tmp_path), "--show-config", "--runs", 7)
    assert "runs" in result.stdout and "option --runs" in result.stdout and "margin" not in result.stdout
