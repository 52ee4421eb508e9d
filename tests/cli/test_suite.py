"""`assay run SKILL` with several agents or models."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_assay.cli.main import main
from skill_assay.errors import InputError
from skill_assay.formats.suite_record import suites_from_dict
from skill_assay.model.plan import Plan
from skill_assay.workspace.store import Workspace
from tests.runner.small import write_skill

Assay = Callable[..., tuple[int, str, str]]


def play(good: float, usd: float, without: float = 0.0) -> dict[str, Any]:
    """Passes a share of trials with and without the skill, at a price."""

    def behaviours(share: float, used: bool) -> list[dict[str, Any]]:
        facts = {"use_skill": used, "say": "Done.", "tokens": 1000, "cost_usd": usd}
        passes = [{**facts, "weight": share, "write": {"hello.txt": "hello"}}] if share else []
        fails = [{**facts, "weight": 1 - share, "write": {"note.txt": "bye"}}] if share < 1 else []
        return [*passes, *fails]

    return {"evals": {"*": {"with_skill": behaviours(good, True), "*": behaviours(without, False)}}}


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Assay:
    """A skill with eight evals and two simulated agents, and the command line in its folder."""
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_DATA"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path)
    write_skill(tmp_path, count=8)
    (tmp_path / "cheap.json").write_text(json.dumps(play(1.0, 0.01)))
    (tmp_path / "dear.json").write_text(json.dumps(play(1.0, 0.10, without=0.5)))

    def run(command: str, *arguments: str) -> tuple[int, str, str]:
        quiet = ["--no-progress"] if command == "run" else []
        monkeypatch.setattr(sys, "argv", ["assay", command, *arguments, *quiet])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


TWO = ("hello-note", "--agent", "simulated: cheap.json", "--agent", "simulated: dear.json", "--trials", "2", "--yes")


def workspace() -> Workspace:
    return Workspace(Path("hello-note-workspace"))


def plans() -> list[Plan]:
    return [iteration.read_plan() for iteration in workspace().iterations()]


@pytest.mark.slow
def test_one_iteration_each_one_table_and_the_cheaper_against_the_dearer(assay: Assay) -> None:
    code, out, err = assay("run", *TWO, "--format", "json")
    assert code == 0, err
    found = json.loads(out)
    assert [plan.arms[0].agent for plan in plans()] == ["simulated: cheap.json", "simulated: dear.json"]
    first, second = found["members"]
    assert (first["iteration"], second["iteration"]) == (1, 2)
    assert first["verdict"] == "better" and first["effect"] == 1.0
    assert first["with_skill"]["used"] == first["with_skill"]["use_known"] == 16
    (rival,) = found["cheaper_with_against_dearer_without"]
    assert (rival["cheaper"], rival["dearer"]) == ("simulated: cheap.json", "simulated: dear.json")
    assert (rival["cheaper_cost_usd"], rival["dearer_cost_usd"]) == (0.01, 0.1)
    without = second["baseline"]["pass_rate"]
    assert rival["effect"] == pytest.approx(1.0 - without), "paired over the evals, one arm of each"
    assert rival["verdict"] == "better" and rival["decided_by"] == "measured cost"
    assert rival["interval"][0] > 0
    (suite,) = workspace().suites()
    assert suite.iterations == (1, 2) and suite.seed == 42
    assert all(member.version and not member.reason for member in suite.members)
    assert set(suite.digests) == {"skill", "evals"}
    page = Path("hello-note-workspace/suite.html").read_text()
    assert page.count("<svg") == 2 and "Content-Security-Policy" in page
    assert Path("hello-note-workspace/suite.svg").read_text().startswith("<svg")
    assert "32 launches" in err and "64 launches in all" in err
    assert err.index("64 launches in all") < err.index("iteration-1"), "said before anything is launched"


def test_a_dry_run_lists_every_member_and_writes_nothing(assay: Assay) -> None:
    code, out, _ = assay("run", *TWO, "--dry-run")
    assert code == 0 and out.count("/without_skill/") == 32
    assert "64 launches in all" in out and not Path("hello-note-workspace").exists()
    code, out, _ = assay("run", *TWO, "--dry-run", "--format", "json")
    found = json.loads(out)
    assert found["launches"] == 64 and [one["launches"] for one in found["members"]] == [32, 32]


def test_one_consent_over_the_sum(assay: Assay) -> None:
    """Neither member alone is above the limit of 60 launches."""
    code, _, err = assay("run", *[word for word in TWO if word != "--yes"])
    assert code == 2 and "above 60 launches" in err and not Path("hello-note-workspace").exists()


@pytest.mark.slow
def test_the_budget_is_one_and_the_rest_is_not_run(assay: Assay) -> None:
    code, out, _ = assay("run", *TWO, "--budget", "40trials", "--format", "json")
    assert code == 3
    first, second = json.loads(out)["members"]
    assert first["missing"] == 0 and second["missing"] == 24
    assert "budget" in second["reason"]
    done = sum(1 for iteration in workspace().iterations() for _ in iteration.trials())
    assert done == 40, "shared, not 40 each"
    code, out, _ = assay("run", "hello-note", "--resume", "--budget", "64trials", "--yes", "--format", "json")
    assert code == 0
    assert [one["missing"] for one in json.loads(out)["members"]] == [0, 0]


@pytest.mark.slow
def test_a_member_beyond_a_spent_budget_is_not_begun(assay: Assay) -> None:
    code, out, _ = assay("run", *TWO, "--budget", "32trials", "--format", "json")
    second = json.loads(out)["members"][1]
    assert code == 3 and not second["measured"] and second["iteration"] is None
    assert second["reason"] == "not run: the budget of the suite is reached"
    code, _, err = assay("run", *TWO)
    assert code == 2 and "is unfinished: simulated: dear.json" in err


@pytest.mark.slow
def test_money_is_capped_over_all(assay: Assay) -> None:
    code, out, _ = assay("run", *TWO, "--budget", "2.3usd", "--workers", "1", "--format", "json")
    assert code == 3
    members = [one for one in json.loads(out)["members"] if one["measured"]]
    trials = [trial for iteration in workspace().iterations() for trial in iteration.trials()]
    spent = sum(attempt.usage.cost_usd or 0 for trial in trials for attempt in trial.attempts)
    assert 1.5 < spent <= 2.3, "each under a cap of its own would have spent above 2.3"
    assert members[0]["missing"] == 0


@pytest.mark.slow
def test_an_agent_that_is_not_here_is_said_and_the_others_go_on(assay: Assay) -> None:
    both = ("--agent", "codex/gpt-5.5,simulated: cheap.json")
    code, out, err = assay("run", "hello-note", *both, "--trials", "1", "--format", "json")
    assert code == 3
    first, second = json.loads(out)["members"]
    assert not first["measured"] and "codex was not found" in first["reason"]
    assert second["measured"] and second["iteration"] == 1
    assert "codex/gpt-5.5: can't be measured" in err
    code, text, _ = assay("benchmark", "hello-note")
    assert code == 0 and "codex was not found" in text, "and it is still said later"


@pytest.mark.slow
def test_a_member_that_never_began_has_no_iteration(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its self-test fails before there is a plan: the number goes to the next one, and to no two."""
    program = Path("claude").absolute()
    program.write_text("#!/bin/sh\necho 'Error: half of it is missing.' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("ASSAY_CLAUDE_CODE", str(program))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-none")
    both = ("--agent", "claude-code/m,simulated: cheap.json")
    code, out, err = assay("run", "hello-note", *both, "--trials", "1", "--yes", "--format", "json")
    assert code == 3, err
    first, second = json.loads(out)["members"]
    assert first["iteration"] is None and "half of it is missing" in first["reason"]
    assert second["iteration"] == 1 and second["measured"]


def test_a_name_that_no_agent_has_is_refused_before_anything(assay: Assay) -> None:
    code, _, err = assay("run", "hello-note", "--agent", "claud-code,simulated: cheap.json")
    assert code == 2 and "No such agent" in err and not Path("hello-note-workspace").exists()


@pytest.mark.slow
def test_a_member_that_is_not_signed_in_is_not_measured_and_the_next_one_is(assay: Assay) -> None:
    refused = {"evals": {"*": {"*": {"fail": {"kind": "not_signed_in"}}}}}
    Path("refused.json").write_text(json.dumps(refused))
    agents = ("--agent", "simulated: refused.json", "--agent", "simulated: cheap.json")
    code, out, _ = assay("run", "hello-note", *agents, "--trials", "1", "--format", "json")
    assert code == 3
    first, second = json.loads(out)["members"]
    assert not first["measured"] and first["reason"].startswith("Not signed in")
    assert second["measured"] and second["missing"] == 0


@pytest.mark.slow
def test_a_killed_suite_goes_on_with_what_is_missing(assay: Assay) -> None:
    """As if killed in the second member: half its records are gone, and a third was never begun."""
    Path("third.json").write_text(json.dumps(play(0.5, 0.02)))
    three = (*TWO, "--agent", "simulated: third.json")
    assay("run", *three, "--budget", "50trials")
    (suite,) = workspace().suites()
    assert suite.iterations == (1, 2)
    before = {str(trial.id): trial.attempts[0].wall_seconds for trial in workspace().iteration(1).trials()}
    code, out, err = assay("run", "hello-note", "--resume", "--yes", "--budget", "200trials", "--format", "json")
    assert code == 0, err
    assert [one["iteration"] for one in json.loads(out)["members"]] == [1, 2, 3]
    assert [len(list(iteration.trials())) for iteration in workspace().iterations()] == [32, 32, 32]
    after = {str(trial.id): trial.attempts[0].wall_seconds for trial in workspace().iteration(1).trials()}
    assert after == before, "what was done is not done again"
    assert "iteration-1, nothing left to run" in err
    assert len({plan.trials for plan in plans()}) == 1, "a missing member has the trials of the others"


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_end_in_the_second_member_loses_nothing(assay: Assay, how: signal.Signals, code: int) -> None:
    slow = {"evals": {"*": {"*": {"sleep": 0.4, "write": {"hello.txt": "hello"}, "say": "Done."}}}}
    Path("dear.json").write_text(json.dumps(slow))
    ended = subprocess.Popen(
        [sys.executable, "-m", "skill_assay", "run", *TWO, "--workers", "2", "--no-progress"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not list(Path("hello-note-workspace").glob("iteration-2/*/*/run-*/trial.json")):
        assert time.monotonic() < deadline and ended.poll() is None
        time.sleep(0.05)
    ended.send_signal(how)
    assert ended.wait(30) == code
    (suite,) = workspace().suites()
    assert suite.iterations == (1, 2) and suite.members[1].reason
    kept = {
        path: path.stat().st_mtime_ns for path in Path("hello-note-workspace").glob("iteration-*/*/*/run-*/trial.json")
    }
    assert 32 < len(kept) < 64
    again, out, _ = assay("run", "hello-note", "--resume", "--yes", "--workers", "10", "--format", "json")
    assert again == 0 and [one["missing"] for one in json.loads(out)["members"]] == [0, 0]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "nothing recorded was run again"
    assert not any(member.reason for member in workspace().suites()[0].members)


@pytest.mark.slow
def test_a_suite_does_not_go_on_with_a_changed_skill(assay: Assay) -> None:
    assay("run", *TWO, "--budget", "32trials")
    skill = Path("hello-note/SKILL.md")
    skill.write_text(skill.read_text() + "\nMore.\n")
    code, _, err = assay("run", "hello-note", "--resume")
    assert code == 2 and "The skill changed since the suite began" in err
    code, _, err = assay("run", "hello-note", "--add", "--trials", "3")
    assert code == 2 and "Nothing can be added to a suite" in err


@pytest.mark.slow
def test_every_hint_to_go_on_names_the_workspace(assay: Assay) -> None:
    code, _, err = assay("run", *TWO, "--budget", "2trials", "--workspace", "else where")
    assert code == 3
    again = "Go on with  assay run hello-note --workspace 'else where' --resume"
    hints = [line for line in err.splitlines() if "Go on with" in line or "go on with" in line]
    assert len(hints) == 2 and all(again.lower() in line.lower() for line in hints), "of the member, and of the suite"


@pytest.mark.slow
def test_resume_of_a_stranger_to_the_suite_is_refused(assay: Assay) -> None:
    assay("run", *TWO, "--budget", "32trials")
    code, _, err = assay("run", "hello-note", "--resume", "--agent", "simulated")
    assert code == 2 and "is not in the suite" in err


def test_what_is_about_one_iteration_is_refused(assay: Assay) -> None:
    for option in ("--aa", "--confirm", "--reuse-baseline"):
        code, _, err = assay("run", *TWO, option)
        assert code == 2 and "one agent and model at a time" in err, option
    code, _, err = assay("run", ".", *TWO[1:])
    assert code == 2 and "one skill at a time" in err
    code, _, err = assay("trigger", "hello-note", "--agent", "simulated: cheap.json", "--agent", "simulated")
    assert code == 2 and "Several agents or models are for `assay run`" in err


@pytest.mark.slow
def test_reading_commands_take_the_whole_suite(assay: Assay) -> None:
    assay("run", *TWO)
    code, out, _ = assay("benchmark", "hello-note-workspace", "--format", "markdown")
    assert code == 0 and "| agent/model |" in out and "simulated: dear.json" in out
    code, out, _ = assay("benchmark", "hello-note-workspace/iteration-1")
    assert code == 0 and "With Skill" in out and "dear.json" not in out
    code, out, _ = assay("gate", "hello-note")
    assert code == 0 and out.count("PASS") == 2
    Path("gate.json").write_text(json.dumps({"thresholds": {"min_delta": 0.8}}))
    code, out, _ = assay("gate", "hello-note", "--config", "gate.json")
    assert code == 1 and re.search(r"dear\.json: FAIL", out) and re.search(r"cheap\.json: PASS", out)
    code, out, _ = assay("gate", "hello-note", "--format", "junit")
    assert "hello-note · simulated: cheap.json" in out


@pytest.mark.slow
def test_a_trend_does_not_mix_agents(assay: Assay) -> None:
    assay("run", *TWO)
    skill = Path("hello-note/SKILL.md")
    skill.write_text(skill.read_text() + "\nMore.\n")
    assay("run", *TWO)
    code, out, _ = assay("history", "hello-note", "--format", "json")
    rows = json.loads(out)["iterations"]
    assert code == 0 and [row["parent"] for row in rows] == [None, None, "iteration-1", "iteration-2"]
    assert [row.get("change") for row in rows] == [None, None, 0, 0]
    code, out, _ = assay("history", "hello-note")
    assert "simulated: cheap.json" in out
    compared = json.loads(Path("hello-note-workspace/iteration-3/benchmark.json").read_text())["comparison"]
    assert compared["previous"] == "iteration-1" and not compared["refused"]


@pytest.mark.slow
def test_nothing_is_claimed_where_evals_differ(assay: Assay) -> None:
    assay("run", *TWO)
    plan = Path("hello-note-workspace/iteration-2/plan.json")
    record = json.loads(plan.read_text())
    record["digests"]["eval:1"] = "another"
    plan.write_text(json.dumps(record))
    _, out, _ = assay("benchmark", "hello-note", "--format", "json")
    (rival,) = json.loads(out)["cheaper_with_against_dearer_without"]
    assert rival["verdict"] is None and rival["refused"] == ["the evals differ"]


@pytest.mark.slow
def test_which_is_cheaper_is_measured_else_by_list_prices_else_not_known(assay: Assay) -> None:
    free = {"evals": {"*": {"*": {"write": {"hello.txt": "hello"}, "say": "Done.", "tokens": 1000}}}}
    Path("hello-note/evals/simulated.json").write_text(json.dumps(free))
    common = ("run", "hello-note", "--trials", "1", "--format", "json", "--yes", "--agent", "simulated", "--model")
    _, out, _ = assay(*common, "claude-opus-4-1,claude-haiku-4-5")
    (rival,) = json.loads(out)["cheaper_with_against_dearer_without"]
    assert (rival["cheaper"], rival["dearer"]) == ("simulated/claude-haiku-4-5", "simulated/claude-opus-4-1")
    assert rival["decided_by"] == "list prices" and rival["cheaper_cost_usd"] is None
    assert rival["verdict"] == "inconclusive" and rival["effect"] == 0, "all evals the same: no difference seen"
    _, out, _ = assay(*common, "no-such-model,another")
    found = json.loads(out)
    assert found["cheaper_with_against_dearer_without"] == []
    (note,) = found["notes"]
    assert note == "Whether simulated/another is cheaper than simulated/no-such-model is not known"
    _, out, _ = assay(*common, "claude-opus-4-1,claude-haiku-4-5,claude-sonnet-4-5,another")
    prices = "claude-haiku-4-5, simulated/claude-opus-4-1 or simulated/claude-sonnet-4-5"
    assert json.loads(out)["notes"] == [f"Whether simulated/another is cheaper than simulated/{prices} is not known"]


@pytest.mark.slow
def test_a_damaged_record_says_what_to_do(assay: Assay) -> None:
    with pytest.raises(InputError, match="another version"):
        suites_from_dict({"schema_version": 2})
    with pytest.raises(InputError, match="is damaged"):
        suites_from_dict({"schema_version": 1, "suites": [{"members": [{"agent": 3}]}]})
    assay("run", *TWO, "--budget", "32trials")
    Path("hello-note-workspace/suite.json").write_text("{")
    code, _, err = assay("run", "hello-note", "--resume")
    assert code == 2 and "suite.json" in err and "Traceback" not in err
