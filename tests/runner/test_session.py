"""Beginning, going on, adding, refusing: what a run resolves to before anything is launched, and how it ends."""

from __future__ import annotations

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.benchmark.derive import derive
from skill_assay.cli.result import exit_code
from skill_assay.errors import AssayError, FailureKind, IncompleteError, InputError
from skill_assay.model.agent import SignIn
from skill_assay.model.grade import Decision
from skill_assay.model.trial import Limits, State
from skill_assay.runner import prepare
from skill_assay.runner.engine import Ending
from skill_assay.runner.estimate import estimate
from skill_assay.runner.execute import execute, price_book
from skill_assay.runner.install import place_fixtures
from skill_assay.runner.progress import Silent
from skill_assay.runner.session import Mode, _refuse_sandbox
from skill_assay.runner.settings import Budget, RunSettings
from skill_assay.workspace.journal import Lock
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.store import Workspace
from tests.runner.small import BODY, CHECK, open_small, run_small, settings, trials, write_skill


def fail(kind: str, **facts: object) -> dict[str, object]:
    """A simulated agent that always fails so."""
    return {"evals": {"*": {"*": {"fail": {"kind": kind, **facts}}}}}


def test_a_run_measures_both_arms(tmp_path: Path) -> None:
    result = run_small(write_skill(tmp_path), tmp_path / "ws")
    found = trials(result)
    assert len(found) == 8
    assert {t.score for n, t in found.items() if "/with_skill/" in n} == {1.0}
    assert {t.score for n, t in found.items() if "/without_skill/" in n} == {0.0}
    assert {t.skill_used for n, t in found.items() if "/with_skill/" in n} == {True}
    assert result.stopped.ending is Ending.DONE
    assert result.launched == 8


def test_adding_trials_and_evals_keeps_what_was_there(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    before = trials(run_small(skill, ws, settings(eval_ids=("1",))))
    result = run_small(skill, ws, settings(trials=3), mode="add")
    after = trials(result)
    assert len(before) == 4
    assert len(after) == 12
    assert result.launched == 8
    assert {name: after[name] for name in before} == before
    with pytest.raises(InputError, match="nothing to add"):
        run_small(skill, ws, settings(trials=2), mode="add")


def test_adding_to_some_evals_leaves_the_others_alone(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    run_small(skill, ws, settings(trials=1, eval_ids=("1",)))
    result = run_small(skill, ws, settings(trials=1, eval_ids=("2",)), mode="add")
    assert (len(trials(result)), result.launched) == (4, 2)
    result = run_small(skill, ws, settings(trials=3, eval_ids=("2",)), mode="add")
    assert (len(trials(result)), result.launched) == (8, 4)
    found = derive(result.iteration.path).benchmark
    assert [one.arms["with_skill"].requested for one in found.evals] == [1, 3]
    assert exit_code(result, derive(result.iteration.path)) == 0


def test_resume_of_some_evals_runs_only_those(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path, count=3), tmp_path / "ws"
    run_small(skill, ws, settings(trials=1, budget=Budget(trials=2)))
    left = next(str(number) for number in (1, 2, 3) if not list(ws.glob(f"iteration-1/eval-{number}/*/*/trial.json")))
    assert run_small(skill, ws, settings(trials=1, eval_ids=(left,)), mode="resume").launched == 2
    assert run_small(skill, ws, settings(trials=1), mode="resume").launched == 2


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (settings(invoke="auto"), "invoke of with_skill was told, now auto"),
        (settings(limits=Limits(seconds=5)), "the time limit was 600.0, now 5"),
        (settings(limits=Limits(turns=3)), "the limit of turns was .*, now 3"),
        (settings(allow=("WebSearch",)), "--allow was not given, now"),
        (settings(pass_env=("TOKEN",)), "--pass-env was not given, now"),
        (settings(sandbox="env"), "--sandbox was none, now env"),
    ],
)
@pytest.mark.parametrize("mode", ["resume", "add"])
def test_trials_under_other_conditions_are_refused(tmp_path: Path, other: RunSettings, said: str, mode: Mode) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    run_small(skill, ws, settings(budget=Budget(trials=2)))
    with pytest.raises(InputError, match=said):
        open_small(skill, ws, replace(other, trials=3), mode=mode)


def test_an_eval_that_is_gone_is_named(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    run_small(skill, ws, settings(budget=Budget(trials=2)))
    write_skill(tmp_path, count=1)
    with pytest.raises(InputError, match="the eval 2 is gone"):
        open_small(skill, ws, mode="resume")


def test_fault_8_an_unfinished_iteration_is_pointed_out_never_doubled(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    run_small(skill, ws, settings(budget=Budget(trials=4)))
    with pytest.raises(InputError, match="unfinished: 4 of 8") as error:
        open_small(skill, ws)
    assert "--resume" in str(error.value)
    open_small(skill, ws, fresh=True).close()
    assert len(trials(run_small(skill, ws, mode="resume"))) == 8


def test_fault_7_a_cap_keeps_the_arms_balanced(tmp_path: Path) -> None:
    result = run_small(write_skill(tmp_path), tmp_path / "ws", settings(budget=Budget(trials=5), workers=4))
    assert result.stopped.ending is Ending.BUDGET
    names = list(trials(result))
    assert len(names) == 4, "a fifth launch would have been one arm without the other"
    assert sum("/with_skill/" in name for name in names) == 2


PRICED = """#!/usr/bin/env python3
import json
def say(kind, **facts):
    print(json.dumps({"type": kind, **facts}), flush=True)
say("started", assay=1, model="m")
say("usage", tokens={"input": 100_000, "output": 0}, cost_usd=0.5)
say("finished", answer="done")
"""


def priced(folder: Path, **changes: Any) -> RunSettings:
    """A program that says only afterwards that each launch costs half a dollar."""
    program = folder / "priced.py"
    program.write_text(PRICED, encoding="utf-8")
    program.chmod(0o755)
    return settings(agent=f"command: {program}", workers=4, **changes)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [Budget(usd=2.9), Budget(tokens=600_000)])
def test_fault_7_workers_never_overshoot_with_a_program_that_has_a_price(tmp_path: Path, budget: Budget) -> None:
    result = run_small(write_skill(tmp_path, count=4), tmp_path / "ws", priced(tmp_path, budget=budget))
    assert result.stopped.ending is Ending.BUDGET
    assert result.launched > 0
    assert budget.usd is None or result.spent.usd <= budget.usd
    assert budget.tokens is None or result.spent.tokens <= budget.tokens


@pytest.mark.slow
def test_an_estimate_goes_by_past_trials_of_the_same_agent(tmp_path: Path) -> None:
    skill, ws, chosen = write_skill(tmp_path), tmp_path / "ws", priced(tmp_path)
    with open_small(skill, ws, chosen) as session:
        assert not estimate(["with_skill"], price_book(session), 1).measured
    run_small(skill, ws, chosen)
    with open_small(skill, ws, chosen) as session:
        expected = estimate(["with_skill", "without_skill"], price_book(session), 1)
    assert (expected.measured, expected.spend.usd) == (True, 1.0)
    with open_small(skill, ws, replace(chosen, model="another")) as session:
        assert not estimate(["with_skill"], price_book(session), 1).measured


@pytest.mark.parametrize("changed", ["skill", "eval", "grader", "agent"])
def test_resume_refuses_what_changed_and_says_what(tmp_path: Path, changed: str) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    run_small(skill, ws, settings(budget=Budget(trials=4)))
    words = {"skill": "the skill changed", "eval": "the eval 1 changed", "grader": "graders", "agent": "agent version"}
    if changed == "skill":
        (skill / "SKILL.md").write_text(BODY + "\nMore.\n", encoding="utf-8")
    elif changed == "eval":
        evals = [{"id": n, "prompt": f"Greet {n}, please.", "expectations": [CHECK]} for n in (1, 2)]
        write_skill(tmp_path, evals)
    elif changed == "grader":
        (skill / "evals" / "checks.py").write_text("CHECKS = {}\n", encoding="utf-8")
    else:
        write_skill(tmp_path, play={"evals": {"*": {"*": {"say": "other"}}}})
    with pytest.raises(InputError, match=words[changed]):
        open_small(skill, ws, mode="resume")


def test_resume_runs_excluded_trials_again_and_counts_their_attempts(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path, play=fail("server_error", attempts=5), count=1), tmp_path / "ws"
    first = trials(run_small(skill, ws, settings(trials=1)))
    assert {t.state for t in first.values()} == {State.EXCLUDED}
    assert {len(t.attempts) for t in first.values()} == {4}
    again = trials(run_small(skill, ws, settings(trials=1), mode="resume"))
    assert {t.state for t in again.values()} == {State.COMPLETED}
    assert {[a.number for a in t.attempts][-1] for t in again.values()} == {6}


def test_fault_7_a_degenerate_signal_stops_the_run(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, play=fail("bad_request"), count=10)
    result = run_small(skill, tmp_path / "ws", settings(workers=1))
    assert result.stopped.ending is Ending.DEGENERATE
    assert "first 10 trials all failed" in result.stopped.reason
    assert len(trials(result)) == 10


def test_not_signed_in_stops_after_one_launch(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, play=fail("not_signed_in"), count=5)
    result = run_small(skill, tmp_path / "ws", settings(workers=1))
    assert result.stopped.ending is Ending.FAILURE
    assert result.launched == 1
    assert result.stopped.failure is not None
    assert result.stopped.failure.kind is FailureKind.NOT_SIGNED_IN


def test_a_wait_beyond_all_that_is_waited_for_stops_the_run_and_is_not_sat_out(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, play=fail("rate_limited", retry_after=3 * 3600, message="usage limit"), count=5)
    result = run_small(skill, tmp_path / "ws", settings(workers=1))
    assert (result.stopped.ending, result.launched) == (Ending.FAILURE, 1)
    assert "180 minutes" in result.stopped.reason and "usage limit" in result.stopped.reason


@pytest.mark.slow
def test_a_fault_of_ours_in_one_trial_loses_nothing_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = prepare.place_fixtures, []

    def breaks(fixtures: object, work: Path) -> None:
        calls.append(work)
        if len(calls) == 2:
            raise RuntimeError("a fault")
        real(fixtures, work)  # type: ignore[arg-type]

    monkeypatch.setattr(prepare, "place_fixtures", breaks)
    skill, ws = write_skill(tmp_path, play={"evals": {"*": {"*": {"sleep": 0.5}}}}, count=1), tmp_path / "ws"
    with pytest.raises(RuntimeError, match="a fault"):
        run_small(skill, ws, settings(trials=1))
    assert len(list(ws.glob("**/trial.json"))) == 1
    assert len(trials(run_small(skill, ws, settings(trials=1), mode="resume"))) == 2


def test_fault_1_a_failed_setup_is_never_a_score(tmp_path: Path) -> None:
    evals = [{"id": 1, "prompt": "Greet.", "expectations": [CHECK], "setup": "echo no >&2; exit 3"}]
    result = run_small(write_skill(tmp_path, evals), tmp_path / "ws", settings(trials=1))
    found = trials(result)
    assert {t.failure.kind for t in found.values() if t.failure} == {FailureKind.SETUP}
    assert all("status 3" in t.failure.message for t in found.values() if t.failure)
    assert result.launched == 0
    assert result.spent.usd == 0


def test_setup_prepares_the_working_directory(tmp_path: Path) -> None:
    evals = [{"id": 1, "prompt": "Greet.", "expectations": [CHECK], "setup": "echo hello > hello.txt"}]
    play = {"evals": {"*": {"*": {"run": "cp hello.txt hello2.txt; printf ' hello' >> hello.txt"}}}}
    found = trials(run_small(write_skill(tmp_path, evals, play), tmp_path / "ws", settings(trials=1)))
    assert {t.outputs for t in found.values()} == {("hello.txt", "hello2.txt")}


@pytest.mark.slow
def test_a_time_limit_is_excluded_and_its_outputs_kept(tmp_path: Path) -> None:
    evals = [{"id": 1, "prompt": "Greet.", "expectations": [CHECK], "timeout_seconds": 1.5}]
    play = {"evals": {"*": {"*": {"write": {"hello.txt": "hello"}, "run": "sleep 60"}}}}
    found = trials(run_small(write_skill(tmp_path, evals, play), tmp_path / "ws", settings(trials=1)))
    for trial in found.values():
        assert trial.state is State.EXCLUDED
        assert trial.failure is not None and trial.failure.kind is FailureKind.TIME_LIMIT
        assert trial.score is None
        assert trial.grades == ()


def test_a_second_assay_is_told_who_is_at_work(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    result = run_small(skill, ws)
    with Lock(result.iteration.lock_path()), pytest.raises(InputError, match="another assay is at work here: process"):
        open_small(skill, ws)


def test_bwrap_asks_for_a_key_or_token() -> None:
    with pytest.raises(InputError, match=r"hides your home|can't be had"):
        _refuse_sandbox(RunSettings(sandbox="bwrap"), SignIn("home", "~/.claude"))
    _refuse_sandbox(RunSettings(sandbox="none"), SignIn("home", "~/.claude"))


def test_the_plan_says_what_was_measured_with_what(tmp_path: Path) -> None:
    result = run_small(write_skill(tmp_path), tmp_path / "ws")
    plan = json.loads((result.iteration.path / "plan.json").read_text(encoding="utf-8"))
    assert {"skill", "evals", "graders", "fixtures", "prompts", "eval:1", "arm:with_skill"} <= set(plan["digests"])
    assert plan["agents"]["with_skill"]["simulated"] is True
    assert plan["seed"] == 42
    assert plan["versions"]["skill_assay"]
    assert plan["platform"]


def test_editing_the_skill_during_a_run_changes_nothing(tmp_path: Path) -> None:
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    with open_small(skill, ws) as session:
        kit = session.kits["with_skill"]
        (skill / "SKILL.md").write_text("gone", encoding="utf-8")
        assert kit.skill_source is not None
        assert "Write hello.txt" in (kit.skill_source / "SKILL.md").read_text(encoding="utf-8")


def test_editing_a_fixture_during_a_run_changes_nothing(tmp_path: Path) -> None:
    one = {"id": 1, "prompt": "Greet.", "files": ["evals/files/in.txt", "evals/files/more"], "expectations": [CHECK]}
    skill = write_skill(tmp_path, [one])
    (skill / "evals" / "files" / "more").mkdir(parents=True)
    for name in ("in.txt", "more/deep.txt"):
        (skill / "evals" / "files" / name).write_text("before", encoding="utf-8")
    with open_small(skill, tmp_path / "ws") as session:
        for name in ("in.txt", "more/deep.txt"):
            (skill / "evals" / "files" / name).write_text("after", encoding="utf-8")
        work = tmp_path / "work"
        place_fixtures(session.specs[0].fixtures, work)
    assert (work / "in.txt").read_text(encoding="utf-8") == "before"
    assert (work / "more" / "deep.txt").read_text(encoding="utf-8") == "before"


@pytest.mark.parametrize("facts", [{"trials": 0}, {"workers": 0}])
def test_a_plan_of_nothing_is_refused(facts: dict[str, int]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        settings(**facts)


def test_no_name_an_agent_gives_a_file_ends_the_run(tmp_path: Path) -> None:
    longest = "n" * 255
    play = {
        "evals": {
            "*": {
                "*": {
                    "write": {longest: "hello", "-rf": "x", "two\nlines": "x", "hello.txt": "hello"},
                    "run": "printf odd > \"$(printf 'odd\\377.txt')\"",
                    "say": "Done.",
                }
            }
        }
    }
    checks = [CHECK, {"text": "odd", "check": {"contains": {"text": "odd", "in": "odd*.txt"}}}]
    skill = write_skill(tmp_path, [{"id": 1, "prompt": "Greet.", "expectations": checks}], play)
    result = run_small(skill, tmp_path / "ws", settings(trials=1))
    for trial in trials(result).values():
        assert {longest, "-rf", "two\nlines", "hello.txt"} < set(trial.outputs)
        assert [grade.passed for grade in trial.grades] == [True, True]
        outputs = result.iteration.run_folder(trial.id).outputs
        assert {path.name for path in outputs.iterdir()} == set(trial.outputs), "grading again finds the same files"


def test_a_secret_in_a_file_name_is_not_written(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 10
    play = {"evals": {"*": {"*": {"write": {f"{secret}.txt": "x"}, "say": "Done."}}}}
    skill = write_skill(tmp_path, play=play, count=1)
    with open_small(skill, tmp_path / "ws", settings(trials=1)) as session:
        session.workspace = Workspace.create(tmp_path / "ws", Redactor())
        result = anyio.run(execute, session, Silent())
    assert not any(secret in path.name for path in (tmp_path / "ws").rglob("*"))
    assert all(trial.outputs == ("[REDACTED:anthropic-key].txt",) for trial in trials(result).values())


@pytest.mark.parametrize(("number", "error"), [(errno.ENOSPC, IncompleteError), (errno.EACCES, InputError)])
def test_a_sandbox_that_can_not_be_laid_out_stops_the_run_with_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[AssayError]
) -> None:
    real, calls = prepare.place_fixtures, []

    def full(fixtures: object, work: Path) -> None:
        calls.append(work)
        if len(calls) > 2:
            raise OSError(number, os.strerror(number), str(work))
        real(fixtures, work)  # type: ignore[arg-type]

    monkeypatch.setattr(prepare, "place_fixtures", full)
    skill, ws = write_skill(tmp_path), tmp_path / "ws"
    with pytest.raises(error, match="assay-"):
        run_small(skill, ws)
    assert len(list(ws.glob("**/trial.json"))) == 2, "what was measured is kept"
    monkeypatch.setattr(prepare, "place_fixtures", real)
    assert len(trials(run_small(skill, ws, mode="resume"))) == 8


def test_an_output_over_the_cap_is_no_mark_against_the_agent(tmp_path: Path) -> None:
    checks = [{"text": "there", "check": {"file_exists": "hello.txt"}}, CHECK]
    skill = write_skill(tmp_path, [{"id": 1, "prompt": "Greet.", "expectations": checks}])
    result = run_small(skill, tmp_path / "ws", settings(trials=1, limits=Limits(output_bytes=4)))
    trial = trials(result)["1/with_skill/1"]
    assert trial.omitted == {"hello.txt": 5}
    assert [grade.decision for grade in trial.grades] == [Decision.PASSED, Decision.UNGRADED]


def test_a_run_may_be_had_in_a_thread_of_its_own(tmp_path: Path) -> None:
    """A notebook, or a program with a loop in its main thread: signals are not ours to listen for there."""
    skill = write_skill(tmp_path, count=1)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(run_small, skill, tmp_path / "ws", settings(trials=1)).result()
    assert len(trials(result)) == 2
