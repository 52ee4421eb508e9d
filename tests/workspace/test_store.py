from __future__ import annotations

import json
from pathlib import Path

import pytest

from skill_assay.errors import FailureKind, InputError, NotFoundError
from skill_assay.model.transcript import Finished, Text
from skill_assay.model.trial import State, Trial, TrialId
from skill_assay.workspace.store import Iteration, Workspace
from tests.made import made_eval, made_iteration, made_plan, made_trial


def test_fault_30_a_workspace_hides_itself_from_git_before_anything_else(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "ws")
    assert [path.name for path in (tmp_path / "ws").iterdir()] == [".gitignore"]
    assert (tmp_path / "ws" / ".gitignore").read_text() == "*\n"


def test_a_gitignore_that_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine")
    Workspace.create(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "mine"


def test_opening_no_workspace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Workspace.open(tmp_path / "none")


def test_an_unwritable_workspace_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be written"):
        Workspace.create(tmp_path / "file" / "ws")


def test_iterations_are_numbered_on_and_ordered_by_number(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "ws")
    workspace.iteration(10).write_plan(made_plan())
    (workspace.path / "iteration-9").mkdir()
    (workspace.path / "iteration-x").mkdir()
    assert workspace.next_iteration().number == 11
    assert [iteration.number for iteration in workspace.iterations()] == [9, 10, 11]


def test_two_who_ask_at_once_get_two_iterations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace.create(tmp_path / "ws")
    monkeypatch.setattr(Workspace, "iterations", lambda self: ())
    assert [workspace.next_iteration().number for _ in range(2)] == [1, 2]


def test_a_plan_comes_back_the_same(tmp_path: Path) -> None:
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    plan = made_plan(("a", "b"), 2, digests={"skill": "x"}, settings={"thresholds": {"min_pass_rate": 0.8}})
    iteration.write_plan(plan)
    assert iteration.read_plan() == plan


def test_a_record_is_a_whole_folder_and_comes_back(tmp_path: Path) -> None:
    one, trial = made_eval(), made_trial()
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    folder = iteration.record(trial, one, [Text("working"), Finished("done")])
    assert sorted(path.relative_to(folder.path).as_posix() for path in folder.path.rglob("*")) == [
        "answer.md",
        "eval_metadata.json",
        "grading.json",
        "outputs",
        "outputs/answer.md",
        "timing.json",
        "transcript.md",
        "trial.json",
    ]
    assert folder.path == iteration.path / "eval-dates" / "with_skill" / "run-1"
    assert iteration.load_trial(trial.id) == trial
    assert list(iteration.trials()) == [trial]
    assert json.loads((iteration.path / "eval-dates" / "eval_metadata.json").read_text())["prompt"] == "Do dates."


def test_trial_json_is_written_last_so_a_full_disk_leaves_no_false_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    written: list[str] = []
    write = type(iteration.writer).write_verbatim
    monkeypatch.setattr(
        type(iteration.writer),
        "write_verbatim",
        lambda self, path, data, **how: (written.append(path.name), write(self, path, data, **how)),
    )
    iteration.record(made_trial(), made_eval(), [])
    assert written[-1] == "trial.json"
    assert "grading.json" in written


def test_nothing_graded_leaves_no_grading_json(tmp_path: Path) -> None:
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    run = iteration.record(made_trial(marks="uu"), made_eval())
    assert run.is_done
    assert not (run.path / "grading.json").exists()
    run = iteration.record(made_trial(repeat=2, failure=FailureKind.OVERLOADED), made_eval())
    assert not (run.path / "grading.json").exists()


def test_outputs_of_the_agent_are_kept_with_their_folders_and_nothing_leads_out(tmp_path: Path) -> None:
    run = Workspace.create(tmp_path / "ws").next_iteration().run_folder(TrialId("dates", "with_skill", 1))
    (tmp_path / "made.bin").write_bytes(b"\0\1")
    run.add_output("deep/er/made.bin", tmp_path / "made.bin")
    assert (run.outputs / "deep" / "er" / "made.bin").read_bytes() == b"\0\1"
    (tmp_path / "link").symlink_to("/etc/passwd")
    for name, source in (("../../x", tmp_path / "made.bin"), ("x", tmp_path / "link")):
        with pytest.raises(InputError, match="leads out"):
            run.add_output(name, source)


def test_an_output_that_can_not_be_kept_says_why_and_stops_nothing(tmp_path: Path) -> None:
    run = Workspace.create(tmp_path / "ws").next_iteration().run_folder(TrialId("dates", "with_skill", 1))
    (tmp_path / "made").write_bytes(b"x")
    assert run.add_output("n" * 255, tmp_path / "made") is None
    assert "too long" in str(run.add_output("n" * 300, tmp_path / "made"))
    assert "can't be read" in str(run.add_output("x", tmp_path / "gone"))


def test_notes_that_can_not_be_kept_say_why_and_stop_nothing(tmp_path: Path) -> None:
    run = Workspace.create(tmp_path / "ws").next_iteration().run_folder(TrialId("dates", "with_skill", 1))
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "binary").write_bytes(b"\x89PNG\0\0")
    for name, why in (("gone", "can't be read"), ("folder", "can't be read"), ("link", "link"), ("binary", "no text")):
        assert why in str(run.write_notes(tmp_path / name))
        assert run.notes() == "" and not (run.path / "user_notes.md").exists()
    (tmp_path / "huge").write_text("x" * 200_000)
    assert run.write_notes(tmp_path / "huge") is None
    assert run.notes() == "x" * 65_536


def test_the_answer_is_an_output_only_when_there_is_no_other(tmp_path: Path) -> None:
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    run = iteration.record(made_trial(outputs=("report.md",)), made_eval())
    assert not (run.outputs / "answer.md").exists()
    assert (run.path / "answer.md").read_text() == "done"


def test_a_run_without_any_output_is_still_a_run_to_a_viewer(tmp_path: Path) -> None:
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    run = iteration.record(Trial(TrialId("dates", "with_skill", 1), State.COMPLETED), made_eval())
    assert run.outputs.is_dir()
    assert not any(run.outputs.iterdir())


def test_attempts_are_read_back_line_by_line(tmp_path: Path) -> None:
    run = Workspace.create(tmp_path / "ws").next_iteration().run_folder(TrialId("dates", "with_skill", 1))
    for number in (1, 2):
        with run.attempt_sink(number) as sink:
            sink.line(b"{}", 0.1)
            sink.line(b'{"a": "\xc3\xa9"}', 0.2)
    assert run.attempt_numbers() == (1, 2)
    assert list(run.attempt_lines(2)) == [b"{}", b'{"a": "\xc3\xa9"}']
    assert list(run.attempt_lines(3)) == []


@pytest.mark.parametrize("arm", ["../x", "a/b", "", ".hidden", "x" * 100, "nul\0"])
def test_an_arm_that_is_no_folder_name_is_refused(tmp_path: Path, arm: str) -> None:
    with pytest.raises(InputError, match="folder's name"):
        Iteration(tmp_path).run_folder(TrialId("dates", arm, 1))


def test_two_evals_never_share_a_folder(tmp_path: Path) -> None:
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    iteration.describe(made_eval("a b"))
    with pytest.raises(InputError, match="would share"):
        iteration.describe(made_eval("a-b"))
    assert made_eval("日本").folder != made_eval("中国").folder
    assert made_eval("x" * 60 + "1").folder != made_eval("x" * 60 + "2").folder
    assert made_eval("../../etc").folder == "eval-etc"


def test_shards_have_journals_of_their_own(tmp_path: Path) -> None:
    iteration = Iteration(tmp_path)
    assert iteration.journal_path().name == "journal.jsonl"
    assert iteration.journal_path((2, 3)).name == "journal-2-of-3.jsonl"
    assert iteration.lock_path((2, 3)).name == "journal-2-of-3.lock"


def test_a_snapshot_is_kept_as_an_archive(tmp_path: Path) -> None:
    skill = tmp_path / "pdf"
    skill.mkdir()
    (skill / "SKILL.md").write_text("x")
    iteration = Workspace.create(tmp_path / "ws").next_iteration()
    iteration.write_snapshot(skill, ["SKILL.md"])
    assert not list(iteration.path.rglob("SKILL.md")), "no agent finds a skill in a workspace"
    assert (iteration.extract_snapshot(tmp_path / "out") / "SKILL.md").read_text() == "x"


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    iteration = made_iteration(tmp_path, made_plan(), [made_trial()])
    path = iteration.run_folder(TrialId("dates", "with_skill", 1)).trial_path
    path.write_text('{"schema_version": 1, "id": 3}')
    with pytest.raises(InputError, match=r"trial\.json"):
        iteration.load_trial(TrialId("dates", "with_skill", 1))
