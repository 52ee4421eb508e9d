"""The main job with the real Claude Code: what is launched, what reaches the model, what is graded, what survives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from skill_assay.errors import FailureKind
from skill_assay.model.trial import State, Trial
from skill_assay.modelserver import Error, Hang, Rule, Script, Text, ToolUse, serve
from skill_assay.runner.engine import Ending
from skill_assay.runner.execute import Result
from skill_assay.runner.settings import Retrying
from tests.integration.claude_run import SECRET_ANSWER, SKILL, run, say, settings, write_file, write_skill

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.xdist_group("client")]

USE = ToolUse("Skill", {"skill": SKILL})
STAMP = (say(USE), say(write_file("note.md", "STAMPED apples")), say(Text("The note is written.")))
PLAIN = (say(write_file("note.md", "apples")), say(Text("The note is written.")))
BOTH = Script((Rule(STAMP, skill=SKILL), Rule(PLAIN)))


@pytest.fixture(autouse=True)
def _real_claude(claude_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CLAUDE_CODE", str(claude_binary))


def trials(result: Result) -> dict[str, Trial]:
    return {str(trial.id): trial for trial in result.iteration.trials()}


def test_both_arms_are_run_graded_and_recorded(tmp_path: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    with serve(BOTH) as server:
        result = run(skill, workspace, server)
        sent = "\n".join(request.text for request in server.requests)
    found = trials(result)
    assert {name: trial.score for name, trial in found.items()} == {
        "1/with_skill/1": 1.0,
        "1/without_skill/1": 0.0,
        "2/with_skill/1": 1.0,
        "2/without_skill/1": 0.0,
    }
    assert {trial.skill_used for name, trial in found.items() if "with_skill" in name and "without" not in name} == {
        True
    }
    assert {trial.skill_used for name, trial in found.items() if "without_skill" in name} == {False}
    assert all(trial.outputs == ("note.md",) for trial in found.values())
    assert SECRET_ANSWER not in sent, "an expectation reached the model"
    assert "apples and pears" not in sent
    assert "evals.json" not in sent
    first = found["1/with_skill/1"].last
    assert first is not None
    assert first.usage.tokens is not None and first.usage.tokens.total > 0
    assert first.pid is not None and first.pid_started is not None


def test_fault_31_the_agent_finds_no_answer_in_its_whole_reach(tmp_path: Path) -> None:
    """It greps its working directory, its home, its TMPDIR and the parents of each."""
    skill, workspace = write_skill(tmp_path / "elsewhere"), tmp_path / "ws"
    hunt = (
        f'grep -rIl \'{SECRET_ANSWER}\' "$PWD" "$HOME" "$TMPDIR" "$(dirname "$PWD")" 2>/dev/null '
        "| grep -v '/projects/' > found.txt; env | grep -c ZEBRA >> found.txt; true"
    )
    # The name the command itself holds would be found in nothing but the agent's own record of this conversation.
    script = Script((Rule((say(ToolUse("Bash", {"command": hunt, "description": "Look"})), say(Text("Done.")))),))
    with serve(script) as server:
        result = run(skill, workspace, server)
    for trial in trials(result).values():
        text = (result.iteration.run_folder(trial.id).outputs / "found.txt").read_text(encoding="utf-8")
        assert [line for line in text.splitlines() if line != "0"] == []


def test_fault_4_eight_trials_at_once_never_see_each_other(tmp_path: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    look = 'echo mine > mine-$$.txt; ls -d mine-*.txt | wc -l > seen.txt; ls "$HOME" > home.txt'
    script = Script((Rule((say(ToolUse("Bash", {"command": look, "description": "Look"})), say(Text("Done.")))),))
    with serve(script) as server:
        result = run(skill, workspace, server, settings(trials=2, workers=8))
    found = trials(result)
    assert len(found) == 8
    for trial in found.values():
        assert (result.iteration.run_folder(trial.id).outputs / "seen.txt").read_text(encoding="utf-8").strip() == "1"


@pytest.mark.parametrize(
    ("status", "kind", "ending", "attempts"),
    [
        (401, FailureKind.NOT_SIGNED_IN, Ending.FAILURE, 1),
        (403, FailureKind.NOT_SIGNED_IN, Ending.FAILURE, 1),
        (404, FailureKind.UNKNOWN_MODEL, Ending.FAILURE, 1),
        (400, FailureKind.BAD_REQUEST, Ending.DONE, 1),
        (529, FailureKind.OVERLOADED, Ending.DONE, 3),
        (500, FailureKind.SERVER_ERROR, Ending.DONE, 3),
    ],
)
def test_fault_1_an_api_error_is_never_graded(
    tmp_path: Path, status: int, kind: FailureKind, ending: Ending, attempts: int
) -> None:
    one = [{"id": 1, "prompt": "Write a note.", "expectations": [{"text": "t", "check": {"contains": "note"}}]}]
    skill, workspace = write_skill(tmp_path, one), tmp_path / "ws"
    script = Script((Rule((say(Text("x")).__class__(error=Error(status, "a note about the failure")),)),))
    with serve(script) as server:
        result = run(skill, workspace, server, settings(workers=1))
    assert result.stopped.ending is ending
    found = list(trials(result).values())
    assert {trial.failure.kind for trial in found if trial.failure} == {kind}
    assert all(trial.state is State.EXCLUDED and trial.grades == () for trial in found)
    assert {len(trial.attempts) for trial in found} == {attempts}


def test_a_dead_server_is_a_lost_connection_never_a_score(tmp_path: Path) -> None:
    one = [{"id": 1, "prompt": "Write a note.", "expectations": [{"text": "t", "check": {"contains": "connection"}}]}]
    skill, workspace = write_skill(tmp_path, one), tmp_path / "ws"
    with serve(BOTH) as server:
        pass
    result = run(skill, workspace, server, settings(workers=1, retrying=Retrying(attempts=1, base_seconds=0.05)))
    found = list(trials(result).values())
    assert {trial.failure.kind for trial in found if trial.failure} == {FailureKind.CONNECTION}
    assert all(trial.state is State.EXCLUDED and trial.grades == () for trial in found)
    assert {len(trial.attempts) for trial in found} == {2}


def test_529_then_success_is_one_completed_trial(tmp_path: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    turn = say(Text("Nothing to do."))
    flaky = turn.__class__(items=turn.items, error=Error(529, "overloaded", count=3))
    with serve(Script((Rule((flaky,)),))) as server:
        result = run(skill, workspace, server, settings(workers=1))
    assert {trial.state for trial in trials(result).values()} == {State.COMPLETED}


def test_fault_9_a_time_limit_leaves_nothing_running(tmp_path: Path) -> None:
    """A daemonised grandchild that ignores TERM does not survive the trial."""
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    mark = f"assay-stray-{os.getpid()}"
    stray = (
        f"setsid nohup sh -c \"trap '' TERM INT HUP; while :; do sleep 0.2; : {mark}; done\" >/dev/null 2>&1 & "
        "echo started"
    )
    script = Script((Rule((say(ToolUse("Bash", {"command": stray, "description": "Start"})), say(Hang()))),))
    with serve(script) as server:
        result = run(skill, workspace, server, settings(limits=settings().limits.__class__(seconds=6.0, turns=8)))
    found = list(trials(result).values())
    assert {trial.failure.kind for trial in found if trial.failure} == {FailureKind.TIME_LIMIT}
    assert all(trial.state is State.EXCLUDED for trial in found)
    assert _running(mark) == []


def test_faults_8_and_9_a_killed_harness_leaves_nothing_and_resumes(tmp_path: Path, claude_binary: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    code = (
        "import sys; from pathlib import Path; from tests.integration.claude_run import *\n"
        "class S: url = sys.argv[3]\n"
        "if __name__ == '__main__': run(Path(sys.argv[1]), Path(sys.argv[2]), S)\n"
    )
    slow = Script((Rule((say(USE), say(Hang())), skill=SKILL), Rule(PLAIN)))
    with serve(slow) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(skill), str(workspace), server.url], cwd=Path(__file__).parents[2]
        )
        _wait_for(lambda: any(r.rounds == 1 and SKILL in r.catalogue for r in server.requests), process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        _wait_for(lambda: _running(str(claude_binary)) == [] or _running(server.url) == [])
        assert _children_of_trials() == []
    with serve(BOTH) as server:
        result = run(skill, workspace, server, mode="resume")
    scores = {name: trial.score for name, trial in trials(result).items()}
    assert len(scores) == 4
    assert all(score == (0.0 if "without" in name else 1.0) for name, score in scores.items())
    assert len([path for path in workspace.iterdir() if path.name.startswith("iteration")]) == 1


def _wait_for(true: object, process: subprocess.Popen[bytes] | None = None, tries: int = 600) -> None:
    for _ in range(tries):
        if true():  # type: ignore[operator]
            return
        assert process is None or process.poll() is None, "it ended too early"
        time.sleep(0.1)
    raise AssertionError("it never happened")


def _running(mark: str) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if mark in " ".join(process.info["cmdline"] or [])
        and process.info["status"] != psutil.STATUS_ZOMBIE
        and process.pid != os.getpid()
    ]


def _children_of_trials() -> list[str]:
    """Programs whose working directory is a trial's."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        try:
            folder = process.cwd()
        except psutil.Error:
            continue
        if "/assay-" in folder and folder.endswith("/work") and not Path(folder).exists():
            found.append(" ".join(process.info["cmdline"] or []))
    return found


def test_the_record_reads_as_one_would_expect(tmp_path: Path) -> None:
    skill, workspace = write_skill(tmp_path), tmp_path / "ws"
    with serve(BOTH) as server:
        result = run(skill, workspace, server)
    folder = result.iteration.path / "eval-1" / "with_skill" / "run-1"
    names = {path.name for path in folder.iterdir()}
    assert {"trial.json", "attempt-1.jsonl", "attempt-1.times", "transcript.md", "timing.json", "grading.json"} <= names
    assert {"answer.md", "eval_metadata.json", "outputs"} <= names
    grading = json.loads((folder / "grading.json").read_text(encoding="utf-8"))
    assert grading["summary"] == {"passed": 1, "failed": 0, "total": 1, "pass_rate": 1.0, "ungraded": 0}
    assert (workspace / ".gitignore").read_text(encoding="utf-8") == "*\n"
    plan = json.loads((result.iteration.path / "plan.json").read_text(encoding="utf-8"))
    assert plan["agents"]["with_skill"]["agent_version"] == "2.1.332"
