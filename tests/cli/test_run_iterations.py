"""`assay run` over several iterations: previous, confirm, reuse; the skill against itself; stopping early."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from skill_assay.cli.main import main
from tests.runner.small import BODY, NAME, PLAY, write_skill

GOOD = {"write": {"hello.txt": "hello"}, "say": "Done.", "tokens": 1000}
BAD = {"write": {"note.txt": "bye"}, "say": "Done.", "tokens": 900}


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_DATA"]:
        monkeypatch.delenv(name)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err

    return call


def run(skill: Path, *more: str) -> list[str]:
    return ["run", str(skill), "--agent", "simulated", "--no-progress", "--yes", *more]


def play(skill: Path, **arms: Any) -> None:
    (skill / "evals" / "simulated.json").write_text(json.dumps({"evals": {"*": arms}}), encoding="utf-8")


def change_skill(skill: Path) -> None:
    (skill / "SKILL.md").write_text(BODY + "\nAnother way.\n", encoding="utf-8")


def record(skill: Path, number: int) -> dict[str, Any]:
    path = skill.parent / f"{NAME}-workspace" / f"iteration-{number}" / "benchmark.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@pytest.mark.slow
def test_a_listed_regression_is_confirmed_by_fresh_trials(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path, count=1)
    (skill / "evals" / "benchmark.config.json").write_text('{"thresholds": {"no_regressions": "confirmed"}}')
    code, _, err = assay(*run(skill, "--confirm"))
    assert code == 2 and "no iteration" in err
    assert assay(*run(skill, "--trials", "2"))[0] == 3, "the only threshold was skipped: no earlier iteration"
    change_skill(skill)
    play(skill, with_skill=BAD, old_skill=GOOD, without_skill=BAD)
    code, out, _ = assay(*run(skill, "--trials", "2"))
    assert code == 1
    assert "cannot tell: 1 2/2 before, 0/2 now; `assay run --confirm` (12 launches" in out
    code, out, _ = assay(*run(skill, "--confirm"))
    assert code == 1
    assert "fresh trials 6/6 and 0/6 (p 0.001)" in out
    [regression] = record(skill, 2)["comparison"]["regressions"]
    assert regression["confirmed"] is True
    code, _, err = assay(*run(skill, "--confirm"))
    assert "Nothing listed since iteration-1 waits for fresh trials" in err, "trying again until it pleases is not had"


@pytest.mark.slow
def test_the_skill_against_itself_gives_the_noise_floor(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path, count=2)
    code, out, _ = assay(*run(skill, "--aa", "--trials", "2"))
    assert code == 0
    assert out.startswith("Noise floor: the skill against itself came out 0 points (2 evals); 0 of 2 evals differ")
    assert [arm["name"] for arm in record(skill, 1)["arms"]] == ["with_skill", "with_skill_again"]


@pytest.mark.slow
def test_a_baseline_is_reused_unchanged_and_marked(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path, count=2)
    code, _, err = assay(*run(skill, "--reuse-baseline"))
    assert code == 2 and "names no iteration" in err
    assert assay(*run(skill, "--trials", "2"))[0] == 0
    change_skill(skill)
    code, out, _ = assay(*run(skill, "--trials", "2", "--reuse-baseline", "--dry-run"))
    assert "8 launches, 4 of them still to be run" in out
    code, out, _ = assay(*run(skill, "--trials", "2", "--reuse-baseline"))
    assert code == 0
    assert "not concurrent: 4 baseline trials were taken from iteration-1" in out
    assert record(skill, 2)["provenance"]["reused_baseline"] == {"from": "iteration-1", "trials": 4}
    place = Path("eval-1") / "without_skill" / "run-1" / "trial.json"
    first, second = (tmp_path / f"{NAME}-workspace" / f"iteration-{n}" / place for n in (1, 2))
    assert first.read_bytes() == second.read_bytes(), "copied, not run"
    code, _, err = assay(*run(skill, "--trials", "2", "--timeout", "99", "--reuse-baseline"))
    assert code == 2 and "can't be reused: the limits differ" in err
    play(skill, with_skill=GOOD, without_skill=GOOD)
    code, _, err = assay(*run(skill, "--trials", "2", "--reuse-baseline"))
    assert code == 2 and "agent version was" in err


@pytest.mark.slow
def test_an_early_stop_says_at_which_look_and_what_may_not_be_concluded(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    skill = write_skill(tmp_path, count=8, play=PLAY)
    code, out, _ = assay(*run(skill, "--trials", "3", "--stop", "early"))
    assert code == 0
    assert out.splitlines()[0].endswith("stopped at look 1 of 3)"), out.splitlines()[0]
    found = record(skill, 1)
    assert found["inference"]["early"]["stopped"] is True
    assert found["inference"]["scope"] == "these_evals"
    assert found["partial"] is False
    assert {run["run_number"] for run in found["runs"]} == {1}
    text = (tmp_path / f"{NAME}-workspace" / "iteration-1" / "benchmark.md").read_text("utf-8")
    assert "exploratory" in text
    code, _, err = assay(*run(skill, "--trials", "4", "--add"))
    assert code == 2 and "nothing can be added" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stop", "early", "--trials", "1"), "at least 2 trials"),
        (("--spending", "pocock"), "Add --stop early"),
        (("--stop", "early", "--add"), "fixes the rounds"),
        (("--aa", "--reuse-baseline"), "an iteration of its own"),
        (("--aa", "--confirm"), "exclude each other"),
    ],
)
def test_what_contradicts_itself_is_refused(assay, tmp_path: Path, options: tuple[str, ...], words: str) -> None:  # type: ignore[no-untyped-def]
    code, _, err = assay(*run(write_skill(tmp_path), *options))
    assert code == 2 and words in err


@pytest.mark.slow
def test_evals_of_another_file_are_found_again(assay, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Going on and grading again need not be told the file; a file that changed is refused."""
    skill = write_skill(tmp_path, count=1)
    other = tmp_path / "others" / "other.json"
    other.parent.mkdir()
    script = {"evals": {"*": {"with_skill": GOOD, "without_skill": BAD}}}
    (other.parent / "simulated.json").write_text(json.dumps(script), encoding="utf-8")
    check = {"text": "greets", "check": {"file_exists": "hello.txt"}}
    asked = [{"id": name, "prompt": "Greet.", "expectations": [check]} for name in ("a", "b")]
    other.write_text(json.dumps({"skill_name": NAME, "evals": asked}), encoding="utf-8")
    code, _, err = assay(*run(skill, "--evals", str(other), "--trials", "1"))
    assert code == 0, err
    lost = next((skill.parent / f"{NAME}-workspace" / "iteration-1").glob("*/with_skill/run-1/trial.json"))
    lost.unlink()
    assert assay("grade", str(skill))[0] in (0, 3)
    _, out, _ = assay("benchmark", str(skill))
    command = f"assay run {skill} --resume"
    assert command in " ".join(out.replace("·", " ").split())

    changed = [{**one, "prompt": "Greet again."} for one in asked]
    other.write_text(json.dumps({"skill_name": NAME, "evals": changed}), encoding="utf-8")
    code, _, err = assay(*run(skill, "--resume"))
    assert code == 2 and "the eval a changed" in err
    other.rename(tmp_path / "elsewhere.json")
    code, _, err = assay(*run(skill, "--resume"))
    assert code == 2 and "other.json" in err and "--evals" in err
    other.write_text(json.dumps({"skill_name": NAME, "evals": asked}), encoding="utf-8")
    code, _, err = assay(*command.split()[1:], "--no-progress", "--yes")
    assert code == 0 and lost.is_file(), err
    assert {one["eval_id"] for one in record(skill, 1)["per_eval"]} == {"a", "b"}
