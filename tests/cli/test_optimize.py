"""`assay optimize` at the command line, with the simulated agent, whose choice follows from the description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.optimize import command
from skill_assay.errors import AssayError, ConfirmationError, InputError

HEAD = "---\n# kept\nname: expense-report\ndescription: {}   # why\nlicense: MIT\n---\n\n# Expenses\n\nMake a table.\n"
GOOD = "Use when receipts are to be added up."
BROAD = "Use when anything is asked about money."


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSAY_AGENT", "ASSAY_RUNS", "ASSAY_BUDGET", "ASSAY_WORKSPACE", "ASSAY_ROUNDS", "ASSAY_PROPOSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_RETRY_BASE_SECONDS", "0.01")


def write_skill(root: Path, each: int = 5, description: str = "Does expenses.") -> Path:
    """It fires for receipts where its description speaks of them, and for all where it speaks of anything."""
    skill = root / "expense-report"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text(HEAD.format(description), encoding="utf-8")
    wanted = [f"add up the receipts of trip {n}" for n in range(each)]
    others = [f"what is tax number {n}" for n in range(each)]
    queries = [{"query": text, "should_trigger": text in wanted} for text in (*wanted, *others)]
    (skill / "evals" / "triggers.json").write_text(json.dumps(queries), encoding="utf-8")
    rules: dict[str, Any] = {
        text: [{"when": "receipts", "fires": 1}, {"when": "anything", "fires": 1}, {"fires": 0}] for text in wanted
    }
    rules |= {text: [{"when": "anything", "fires": 1}, {"fires": 0}] for text in others}
    (skill / "evals" / "simulated.json").write_text(json.dumps({"queries": rules}), encoding="utf-8")
    return skill


def proposer(root: Path, *replies: Any) -> str:
    """Says the first reply, and the next once the one before was tried."""
    rules = [{"when": replies[at - 1]["description"] if at else "", "reply": reply} for at, reply in enumerate(replies)]
    path = root / "replies.json"
    path.write_text(json.dumps(rules[::-1]), encoding="utf-8")
    return f"scripted: {path}"


def optimize(*arguments: object) -> Result:
    words = [str(argument) for argument in ("--agent", "simulated", "--no-progress", "--yes", *arguments)]
    return CliRunner().invoke(command, words, standalone_mode=False)


def folder(skill: Path) -> Path:
    return sorted((skill.parent / "expense-report-workspace" / "optimisations").iterdir())[-1]


def record(skill: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder(skill) / "results.json").read_text("utf-8"))
    return found


@pytest.mark.slow
def test_the_better_description_is_found_and_the_overfit_one_is_not(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    voice = proposer(tmp_path, {"description": BROAD}, {"description": GOOD})
    result = optimize(skill, "--proposer", voice)
    assert result.return_value == 0, result.output or result.exception
    found = record(skill)
    assert found["best_description"] == GOOD and found["exit_reason"] == "all_passed (iteration 3)"
    assert [one["description"] for one in found["history"]] == ["Does expenses.", BROAD, GOOD]
    assert result.stdout.startswith("Chosen: round 3, weak evidence on 4 test queries")
    assert (skill / "SKILL.md").read_text("utf-8") == HEAD.format("Does expenses."), "nothing is written unasked"
    page = (folder(skill) / "report.html").read_text("utf-8")
    assert GOOD in page and 'http-equiv="refresh"' not in page
    assert found["launches"] < found["full_grid"] == 90


@pytest.mark.slow
def test_the_record_is_a_superset_of_run_loop(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    optimize(skill, "--proposer", proposer(tmp_path, {"description": GOOD}))
    found = record(skill)
    run_loop = {
        *("exit_reason", "original_description", "best_description", "best_score", "best_train_score"),
        *("best_test_score", "final_description", "iterations_run", "holdout", "train_size", "test_size", "history"),
    }
    assert run_loop <= set(found)
    entry = {f"{side}_{what}" for side in ("train", "test") for what in ("passed", "failed", "total", "results")}
    entry |= {"iteration", "description", "passed", "failed", "total", "results"}
    assert all(entry <= set(one) for one in found["history"])
    assert {"query", "should_trigger", "trigger_rate", "triggers", "runs", "pass"} <= set(
        found["history"][0]["train_results"][0]
    )
    assert (found["best_score"], found["train_size"], found["test_size"], found["iterations_run"]) == ("4/4", 6, 4, 2)


@pytest.mark.slow
def test_apply_writes_the_description_and_nothing_else(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    (skill / "SKILL.md").chmod(0o640)
    result = optimize(skill, "--proposer", proposer(tmp_path, {"description": GOOD}), "--apply")
    assert (skill / "SKILL.md").read_text("utf-8") == HEAD.format(GOOD)
    assert (skill / "SKILL.md").stat().st_mode & 0o777 == 0o640
    backup = folder(skill) / "SKILL.md.before"
    assert backup.read_text("utf-8") == HEAD.format("Does expenses.") and str(backup) in result.stdout
    assert sorted(path.name for path in skill.iterdir()) == ["SKILL.md", "evals"]


@pytest.mark.slow
def test_a_finished_search_can_be_applied_later_without_a_launch(tmp_path: Path) -> None:
    skill, voice = write_skill(tmp_path), proposer(tmp_path, {"description": GOOD})
    optimize(skill, "--proposer", voice)
    before = {path: path.stat().st_mtime_ns for path in folder(skill).glob("rounds/*/streams/*/*/*/trial.json")}
    result = optimize(skill, "--proposer", voice, "--resume", "--apply")
    assert result.return_value == 0, result.exception
    assert (skill / "SKILL.md").read_text("utf-8") == HEAD.format(GOOD)
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert len(before) == len(list(folder(skill).glob("rounds/*/streams/*/*/*/trial.json")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        {"text": "The new description is: use it always."},
        {"description": ""},
        {"description": "<new_description>Use when</new_description>"},
        {"description": "x" * 1025},
        {"description": "Does expenses."},
        {"description": "Use when\u0000now"},
    ],
)
def test_fault_18_garbage_never_lands_in_the_skill(tmp_path: Path, reply: dict[str, str]) -> None:
    skill = write_skill(tmp_path, each=3)
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"reply": reply}]), encoding="utf-8")
    result = optimize(skill, "--proposer", f"scripted: {path}", "--apply")
    assert result.return_value == 3
    assert (skill / "SKILL.md").read_text("utf-8") == HEAD.format("Does expenses.")
    found = record(skill)
    assert found["exit_reason"] == "no_proposal" and found["best_description"] == "Does expenses."
    assert [one["iteration"] for one in found["skipped"]] == [2, 3]


@pytest.mark.slow
def test_fault_7_and_8_a_budget_stops_it_and_it_goes_on(tmp_path: Path) -> None:
    """The caps hold over all rounds and questions together; what was measured is not measured again."""
    skill, voice = write_skill(tmp_path), proposer(tmp_path, {"description": BROAD}, {"description": GOOD})
    first = optimize(skill, "--proposer", voice, "--budget", "30trials", "--apply")
    assert first.return_value == 3 and "--resume" in first.stdout
    cut = record(skill)
    assert cut["exit_reason"] == "budget" and cut["launches"] <= 30
    assert (skill / "SKILL.md").read_text("utf-8") == HEAD.format("Does expenses.")
    with pytest.raises(InputError, match="unfinished"):
        raise optimize(skill, "--proposer", voice).exception or AssertionError
    rest = optimize(skill, "--proposer", voice, "--resume")
    assert rest.return_value == 0, rest.exception
    whole_skill = write_skill(tmp_path / "whole")
    optimize(whole_skill, "--proposer", voice)
    again, whole = record(skill), record(whole_skill)
    for name in ("history", "best_description", "exit_reason", "launches", "evidence"):
        assert again[name] == whole[name], name


@pytest.mark.slow
def test_a_search_fixed_otherwise_is_not_gone_on_with(tmp_path: Path) -> None:
    skill, voice = write_skill(tmp_path), proposer(tmp_path, {"description": GOOD})
    optimize(skill, "--proposer", voice, "--budget", "10trials")
    for changed in (("--runs", 5), ("--holdout", 0.5), ("--seed", 7), ("--effort", "full"), ("--fresh", 0.2)):
        result = optimize(skill, "--proposer", voice, "--resume", *changed)
        assert isinstance(result.exception, InputError) and "would not belong together" in str(result.exception)
    (skill / "SKILL.md").write_text(HEAD.format("Other."), encoding="utf-8")
    result = optimize(skill, "--proposer", voice, "--resume")
    assert "skill was" in str(result.exception) and "--new" in str(result.exception)


def test_fault_7_it_asks_before_it_launches(tmp_path: Path) -> None:
    skill, voice = write_skill(tmp_path), proposer(tmp_path, {"description": GOOD})
    words = ["--agent", "simulated", "--progress", "plain", "--proposer", voice, str(skill)]
    result = CliRunner().invoke(command, words, standalone_mode=False)
    assert isinstance(result.exception, ConfirmationError)
    assert "at most 150 launches" in result.stderr and "At most: no cost expected" in result.stderr
    assert not (tmp_path / "expense-report-workspace").exists()


def test_a_dry_run_says_the_shape_and_launches_nothing(tmp_path: Path) -> None:
    skill, voice = write_skill(tmp_path), proposer(tmp_path, {"description": GOOD})
    words = ["--agent", "simulated", "--progress", "plain", "--proposer", voice, "--dry-run", str(skill)]
    result = CliRunner().invoke(command, words, standalone_mode=False)
    assert "(6 train + 4 test queries) × 3 runs × up to 5 rounds: at most 150 launches" in result.stderr
    assert "Nothing was launched" in result.stdout and not (tmp_path / "expense-report-workspace").exists()


@pytest.mark.parametrize(
    ("each", "options", "said"),
    [
        (1, (), "Add at least 1 with should_trigger true"),
        (4, ("--accept", "significant"), "could never accept"),
        (4, ("--holdout", "1.5"), "--holdout"),
        (4, ("--resume",), "no search to go on with"),
        (4, ("--resume", "--new"), "exclude each other"),
    ],
)
def test_fault_2_what_can_never_work_is_refused_before_anything(
    tmp_path: Path, each: int, options: tuple[str, ...], said: str
) -> None:
    skill = write_skill(tmp_path, each=each)
    result = optimize(skill, "--proposer", proposer(tmp_path, {"description": GOOD}), *options)
    assert isinstance(result.exception, AssayError) and said in str(result.exception)
    assert not (tmp_path / "expense-report-workspace").exists()


def test_a_simulated_agent_proposes_nothing(tmp_path: Path) -> None:
    result = optimize(write_skill(tmp_path))
    assert "can't propose" in str(result.exception) and "--proposer" in str(result.exception)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "begins"), [("json", "{"), ("html", "<!doctype html>"), ("text", "Chosen")])
def test_each_format(tmp_path: Path, form: str, begins: str) -> None:
    skill = write_skill(tmp_path)
    result = optimize(skill, "--proposer", proposer(tmp_path, {"description": GOOD}), "--format", form)
    assert result.stdout.startswith(begins)


@pytest.mark.slow
def test_hostile_texts_are_shown_as_texts(tmp_path: Path) -> None:
    """Queries and descriptions come from others; neither a page nor a terminal obeys them."""
    skill = write_skill(tmp_path)
    path = skill / "evals" / "triggers.json"
    queries = json.loads(path.read_text("utf-8"))
    queries[0]["query"] += " <script>alert(1)</script> [bold]x[/bold] \u001b[2J"
    path.write_text(json.dumps(queries), encoding="utf-8")
    script = json.loads((skill / "evals" / "simulated.json").read_text("utf-8"))
    script["queries"]["*"] = 0
    (skill / "evals" / "simulated.json").write_text(json.dumps(script), encoding="utf-8")
    result = optimize(skill, "--proposer", proposer(tmp_path, {"description": GOOD}), "--rounds", 2)
    assert result.return_value == 0, result.exception
    page = (folder(skill) / "report.html").read_text("utf-8")
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "\u001b[2J" not in result.stdout


@pytest.mark.slow
def test_fresh_queries_give_a_number_to_publish(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, each=8)
    result = optimize(skill, "--proposer", proposer(tmp_path, {"description": GOOD}), "--fresh", 0.2)
    found = record(skill)
    assert found["fresh_size"] == 2 and [one["fresh_passed"] for one in found["fresh"]] == [1, 2]
    assert "fresh" in result.stdout and "flattered" not in result.stdout
