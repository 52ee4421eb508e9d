"""`assay run` as its user meets it: options, bad input, interruption, exit codes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skill_assay.cli.main import main
from tests.runner.small import BODY, CHECK, NAME, write_skill

Said = tuple[int, str, str]


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs the command here, and gives exit code, standard output and standard error."""
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_DATA"]:
        monkeypatch.delenv(name)

    def call(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return code, captured.out, captured.err

    return call


def run(skill: Path, *more: str) -> list[str]:
    return ["run", str(skill), "--agent", "simulated", "--no-progress", *more]


def test_a_run_answers_first(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path)
    code, out, _ = assay(*run(skill, "--trials", "2"))
    assert code == 0
    assert out.splitlines()[0].startswith(("Better on these 2 evals", "Better with the skill", "Cannot tell", "No "))
    assert "With Skill:" in out
    assert "simulated" in out
    assert (tmp_path / f"{NAME}-workspace" / "iteration-1" / "benchmark.json").is_file()


def test_json_is_data_on_stdout_and_talk_on_stderr(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = assay("run", str(write_skill(tmp_path)), "--agent", "simulated", "--format", "json")
    assert code == 0
    record = json.loads(out)
    assert record["summary"]["with_skill"]["pass_rate"] == 1.0
    assert record["provenance"]["agents"]["with_skill"]["simulated"] is True


def test_a_dry_run_lists_and_launches_nothing(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path)
    code, out, _ = assay(*run(skill, "--dry-run"))
    assert code == 0
    assert "1/with_skill/1" in out
    assert "12 launches" in out
    assert "Nothing was launched." in out
    assert not (tmp_path / f"{NAME}-workspace").exists()
    _, out, _ = assay(*run(skill, "--dry-run", "--format", "json"))
    assert json.loads(out)["launches"] == 12


def test_settings_show_their_origin(assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path)
    config = {"trials_per_eval": 7, "seed": 5, "workers": 3, "thresholds": {"min_pass_rate": 0.5}}
    (skill / "evals" / "benchmark.config.json").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("ASSAY_SEED", "9")
    monkeypatch.setenv("ASSAY_WORKERS", "4")
    code, out, _ = assay(*run(skill, "--workers", "2", "--show-config", "--format", "json"))
    assert code == 0
    shown = json.loads(out)
    assert (shown["workers"]["value"], shown["workers"]["origin"]) == (2, "option --workers")
    assert (shown["seed"]["value"], shown["seed"]["origin"]) == (9, "ASSAY_SEED")
    assert shown["trials"]["value"] == 7
    assert shown["trials"]["origin"].endswith("benchmark.config.json")
    assert shown["timeout"]["origin"] == "default"


def test_a_missed_threshold_is_exit_1(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path)
    config = {"thresholds": {"max_avg_tokens": 10}}
    (skill / "evals" / "benchmark.config.json").write_text(json.dumps(config), encoding="utf-8")
    assert assay(*run(skill, "--trials", "1"))[0] == 1


def broken(tmp_path: Path, kind: str) -> tuple[Path, tuple[str, ...], str]:
    """A skill broken in one way, further options, and what must be said."""
    skill = write_skill(tmp_path)
    evals = skill / "evals" / "evals.json"
    more: tuple[str, ...] = ()
    said = ""
    if kind == "no SKILL.md":
        (skill / "SKILL.md").unlink()
        said = "SKILL.md"
    elif kind == "no folder":
        skill, said = tmp_path / "nowhere", "nowhere"
    elif kind == "no evals":
        evals.unlink()
        said = "assay init"
    elif kind == "empty evals":
        evals.write_text("[]", encoding="utf-8")
        said = "no evals"
    elif kind == "duplicate ids":
        evals.write_text(json.dumps([{"id": 1, "prompt": "a", "expectations": [CHECK]}] * 2), encoding="utf-8")
        said = "$[1].id"
    elif kind == "fixture outside":
        one = {"id": 1, "prompt": "a", "files": ["../../secret.txt"], "expectations": [CHECK]}
        evals.write_text(json.dumps([one]), encoding="utf-8")
        said = "--allow-outside-files"
    elif kind == "bad check":
        one = {"id": 1, "prompt": "a", "expectations": [{"text": "t", "check": {"matches": "["}}]}
        evals.write_text(json.dumps([one]), encoding="utf-8")
        said = "$[0].expectations[0].check"
    elif kind == "nothing decidable":
        evals.write_text(json.dumps([{"id": 1, "prompt": "a", "expectations": ["It is nice"]}]), encoding="utf-8")
        said = "--ungraded"
    elif kind == "workspace among skills":
        more, said = ("--workspace", str(tmp_path / ".claude" / "skills" / "ws")), "agents look for skills"
    elif kind == "workspace is a file":
        (tmp_path / "file").write_text("x", encoding="utf-8")
        more, said = ("--workspace", str(tmp_path / "file")), "it is a file"
    elif kind == "unknown eval":
        more, said = ("--eval", "nope"), "nope"
    elif kind == "unknown tag":
        more, said = ("--tag", "nope"), "nope"
    elif kind == "bad budget":
        more, said = ("--budget", "much"), "5usd,2Mtok,60trials"
    elif kind == "resume nothing":
        more, said = ("--resume",), "no iteration"
    elif kind == "resume and new":
        more, said = ("--resume", "--new"), "exclude each other"
    elif kind == "bad baseline":
        more, said = ("--baseline", "nowhere"), "git:REV"
    elif kind == "no command":
        more, said = ("--agent", "command: no-such-program-anywhere"), "no-such-program-anywhere"
    elif kind == "unknown agent":
        more, said = ("--agent", "nobody"), "nobody"
    elif kind == "old skill without any":
        (skill / "evals" / "benchmark.config.json").write_text('{"baseline_type": "old_skill"}', encoding="utf-8")
        said = "no older version"
    return skill, more, said


@pytest.mark.parametrize(
    "kind",
    [
        "no SKILL.md",
        "no folder",
        "no evals",
        "empty evals",
        "duplicate ids",
        "fixture outside",
        "bad check",
        "nothing decidable",
        "workspace among skills",
        "workspace is a file",
        "unknown eval",
        "unknown tag",
        "bad budget",
        "resume nothing",
        "resume and new",
        "bad baseline",
        "no command",
        "unknown agent",
        "old skill without any",
    ],
)
def test_fault_2_bad_input_is_one_message_exit_2_and_nothing_launched(assay, tmp_path: Path, kind: str) -> None:  # type: ignore[no-untyped-def]
    skill, more, said = broken(tmp_path, kind)
    code, out, err = assay(*run(skill, *more))
    assert code == 2, (out, err)
    assert said in err
    assert "Traceback" not in err
    assert out == ""
    assert list(tmp_path.glob("**/iteration-*")) == []


def test_a_costly_run_needs_a_word(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path, count=8)
    code, _, err = assay(*run(skill, "--trials", "5"))
    assert code == 2
    assert "--yes" in err
    assert list(tmp_path.glob("**/iteration-*")) == []


@pytest.mark.slow
def test_fault_7_the_budget_makes_a_partial_benchmark(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path)
    code, out, err = assay(*run(skill, "--budget", "4trials"))
    assert code == 3
    assert "With Skill:" in out
    assert "--resume" in err
    code, out, _ = assay(*run(skill, "--resume", "--budget", "100trials"))
    assert code == 0


@pytest.mark.slow
def test_what_no_bill_told_is_shown_as_a_bound_and_not_as_spent(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "silent.py"
    program.write_text(f"#!{sys.executable}\nprint('done')\n", encoding="utf-8")
    program.chmod(0o755)
    skill = write_skill(tmp_path)
    command = ["run", str(skill), "--agent", f"command: {program}", "--trials", "1", "--yes"]
    code, out, err = assay(*command, "--budget", "1.5usd", "--workers", "1")
    assert code == 3, err
    assert "up to $1.30 (set aside where no price came)" in err
    assert "$1.30" not in out, "what is measured knows no price"
    code, _, err = assay(*command, "--resume", "--budget", "1.6usd")
    assert code == 3 and "up to $1.30" in err, "in a later session too"


@pytest.mark.slow
def test_going_on_needs_no_option_said_again(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill, ws = write_skill(tmp_path), tmp_path / "else where"
    first = ["--baseline", "bare", "--invoke", "auto", "--timeout", "50", "--trials", "2", "--seed", "7"]
    code, _, err = assay(*run(skill, *first, "--workspace", str(ws), "--budget", "4trials"))
    assert code == 3
    hint = err.rpartition("go on with  ")[2].strip()
    assert hint == f"assay run {skill} --workspace '{ws}' --resume"
    resumed = shlex.split(hint)[1:]
    code, _, err = assay(*resumed, "--no-progress")
    assert (code, len(list(ws.glob("**/trial.json")))) == (3, 4), "the cap there was still holds"
    code, _, err = assay(*resumed, "--no-progress", "--invoke", "told")
    assert code == 2
    assert "invoke of with_skill was auto, now told" in err
    code, _, err = assay(*resumed, "--no-progress", "--budget", "100trials")
    assert (code, len(list(ws.glob("**/trial.json")))) == (0, 8)
    assert len(list(ws.glob("iteration-*"))) == 1


@pytest.mark.slow
def test_going_on_against_the_previous_version(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path)
    configuration = json.dumps({"skill_name": NAME, "baseline_type": "old_skill"})
    assert assay(*run(skill, "--trials", "1"))[0] == 0
    (skill / "SKILL.md").write_text(BODY + "\nMore.\n", encoding="utf-8")
    (skill / "evals" / "benchmark.config.json").write_text(configuration, encoding="utf-8")
    assert assay(*run(skill, "--trials", "1", "--budget", "2trials"))[0] == 3
    code, _, err = assay(*run(skill, "--resume", "--budget", "10trials"))
    assert code == 0, err
    assert len(list(tmp_path.glob("*/iteration-2/*/old_skill/run-1/trial.json"))) == 2


@pytest.mark.parametrize("place", ["absent/x.json", ".", "file/x.json"])
def test_an_output_that_can_not_be_written_is_said_before_the_launch(assay, tmp_path: Path, place: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, err = assay(*run(write_skill(tmp_path), "-o", str(tmp_path / place)))
    assert code == 2
    assert str(tmp_path) in err
    assert not list(tmp_path.glob("**/iteration-*"))


@pytest.mark.slow
def test_disk_full_is_said_and_what_was_measured_is_kept(
    assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    import errno

    from skill_assay.workspace.writing import Writer

    real = Writer.write_verbatim

    def full(self: Writer, path: Path, data: bytes, **how: bool) -> None:
        if path.name == "trial.json" and len(list(tmp_path.glob("**/trial.json"))) >= 2:
            from skill_assay.workspace.writing import disk_errors

            with disk_errors(path):
                raise OSError(errno.ENOSPC, "No space left on device")
        real(self, path, data, **how)

    monkeypatch.setattr(Writer, "write_verbatim", full)
    skill = write_skill(tmp_path)
    code, _, err = assay(*run(skill, "--workers", "1"))
    assert code == 3
    assert "disk is full" in err
    monkeypatch.setattr(Writer, "write_verbatim", real)
    assert len(list(tmp_path.glob("**/trial.json"))) == 2
    assert assay(*run(skill, "--resume"))[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_agents_and_keeps_what_is_done(tmp_path: Path, number: signal.Signals) -> None:
    slow = {"evals": {"1": {"*": {"write": {"hello.txt": "hello"}}}, "2": {"*": {"run": "sleep 300"}}}}
    skill = write_skill(tmp_path, play=slow)
    command = [sys.executable, "-m", "skill_assay", *run(skill, "--trials", "1")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(1200):
        if len(list(tmp_path.glob("**/trial.json"))) == 2:
            break
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "partial" in err
    assert "--resume" in err
    assert "With Skill:" in out
    assert len(list(tmp_path.glob("**/trial.json"))) == 2
    assert subprocess.run(["pgrep", "-f", "sleep 300"], capture_output=True, check=False).stdout == b""
