"""What the agent is told, and the notes it leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skill_assay.benchmark.derive import derive
from skill_assay.formats.user_notes import NOTES_REQUEST
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.trial import Arm, Limits, TrialId, TrialSpec
from skill_assay.runner.plan import differences
from skill_assay.runner.prompt import build_prompt
from tests.runner.small import open_small, run_small, settings, trials, write_skill

NOTED = {"hello.txt": "hello", "user_notes.md": "# Uncertainties\n- the greeting may be rude\n"}
PLAY = {
    "evals": {
        "*": {
            "with_skill": {"use_skill": True, "write": NOTED, "say": "Done."},
            "*": {"write": {"note.txt": "bye"}, "say": "Done."},
        }
    }
}


def _spec(arm: Arm, *, notes: bool) -> TrialSpec:
    one = Eval("1", "Greet.", expectations=(Expectation("It greets.", place="$"),))
    return TrialSpec(TrialId("1", arm.name, 1), one, arm, Limits(), 42, notes=notes)


@pytest.mark.parametrize("invoke", ["told", "auto", "slash"])
def test_the_request_for_notes_is_the_same_in_every_arm(invoke: str) -> None:
    arms = [
        Arm("with_skill", "primary", "simulated", skill=Path("s"), invoke=invoke),  # type: ignore[arg-type]
        Arm("without_skill", "baseline", "simulated"),
        Arm("bare", "baseline", "simulated", environment_note=False),
    ]
    for arm in arms:
        plain, asked = (build_prompt(_spec(arm, notes=notes), "s") for notes in (False, True))
        assert asked == f"{plain}\n\n{NOTES_REQUEST}"


def test_notes_lie_beside_the_outputs_and_are_summarised(tmp_path: Path) -> None:
    absent = {"text": "nothing else", "check": {"file_absent": "user_notes.md"}}
    evals = [{"id": 1, "prompt": "Greet.", "expectations": [absent]}]
    skill = write_skill(tmp_path, evals, PLAY)
    result = run_small(skill, tmp_path / "ws", settings(notes=True, trials=1))
    found = trials(result)["1/with_skill/1"]
    run = result.iteration.run_folder(found.id)
    assert found.outputs == ("hello.txt",)
    assert not (run.outputs / "user_notes.md").exists()
    assert (run.path / "user_notes.md").read_text(encoding="utf-8") == NOTED["user_notes.md"]
    grading = json.loads((run.path / "grading.json").read_text(encoding="utf-8"))
    assert grading["user_notes_summary"] == {
        "uncertainties": ["the greeting may be rude"],
        "needs_review": [],
        "workarounds": [],
    }
    assert grading["summary"]["passed"] == 1
    without = result.iteration.run_folder(trials(result)["1/without_skill/1"].id)
    assert "user_notes_summary" not in json.loads((without.path / "grading.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("cap", "why"), [(1_000_000, "it is no text in UTF-8"), (100, "over the cap")])
def test_notes_that_can_not_be_taken_are_noted_and_are_no_missing_output(tmp_path: Path, cap: int, why: str) -> None:
    noted = {"hello.txt": "hello", "user_notes.md": "\0" * 500}
    play = {"evals": {"*": {"*": {"write": noted, "say": "Done."}}}}
    skill = write_skill(tmp_path, count=1, play=play)
    result = run_small(skill, tmp_path / "ws", settings(notes=True, trials=1, limits=Limits(output_bytes=cap)))
    found = trials(result)["1/with_skill/1"]
    assert found.outputs == ("hello.txt",) and not found.omitted
    assert [why in note and "user_notes.md" in note for note in found.notes] == [True]


def test_unasked_for_notes_are_an_output_like_any_other(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, count=1, play=PLAY)
    result = run_small(skill, tmp_path / "ws", settings(trials=1))
    assert trials(result)["1/with_skill/1"].outputs == ("hello.txt", "user_notes.md")


def test_going_on_with_another_wish_for_notes_is_named(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, count=1, play=PLAY)
    with open_small(skill, tmp_path / "ws") as session:
        plan = session.plan
    asked = replace(plan, settings={**plan.settings, "notes": True})
    before_there_was_the_option = replace(plan, settings={k: v for k, v in plan.settings.items() if k != "notes"})
    assert differences(plan, asked) == ["--notes was not given, now given"]
    assert differences(before_there_was_the_option, plan) == []


def test_the_benchmark_says_where_doubts_were_left(tmp_path: Path) -> None:
    result = run_small(write_skill(tmp_path, count=2, play=PLAY), tmp_path / "ws", settings(notes=True))
    wanted = (
        "the agent left doubts about its work in 4 of 4 trials of with_skill; "
        "most in eval-1/with_skill/run-1/user_notes.md"
    )
    assert [note for note in derive(result.iteration.path).benchmark.notes if "doubts" in note] == [wanted]
