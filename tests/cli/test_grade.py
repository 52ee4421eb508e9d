from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.grade import command
from skill_assay.errors import AssayError, FailureKind, IncompleteError, InputError, NotFoundError
from skill_assay.model.trial import Arm, TrialId
from skill_assay.workspace.journal import Lock
from skill_assay.workspace.store import Iteration, Workspace
from tests.made import foreign, grading, made_eval, made_plan, made_trial, write_json

ARMS = (Arm("with_skill", "primary", "command: true"), Arm("without_skill", "baseline", "command: true"))


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def expect(skill: Path, **checks: dict[str, Any] | None) -> None:
    """Write the evals: text → check, for the evals `dates` and `rows`."""
    items = [{"text": text, "check": check} if check else text for text, check in checks.items()]
    evals = [{"id": name, "prompt": f"Do {name}.", "expectations": items} for name in ("dates", "rows")]
    write_json(skill / "evals" / "evals.json", {"skill_name": "pdf", "evals": evals})


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "pdf"
    root.mkdir()
    (root / "SKILL.md").write_text("---\nname: pdf\ndescription: Reads PDFs.\n---\nRead it.\n")
    expect(root, one={"contains": "done"}, two={"contains": "nowhere"})
    return root


@pytest.fixture
def iteration(skill: Path) -> Iteration:
    """Every trial said "done" and was graded otherwise; one of them ended outside the agent's work."""
    made = Workspace.create(skill.parent / "pdf-workspace").next_iteration()
    made.write_plan(dataclasses.replace(made_plan(("dates", "rows"), 1, ARMS), skill_path=str(skill)))
    for name in ("dates", "rows"):
        for arm in ARMS:
            failure = FailureKind.OVERLOADED if (name, arm.name) == ("rows", "without_skill") else None
            made.record(made_trial(name, arm.name, marks="uf", failure=failure), made_eval(name))
    return made


def decisions(iteration: Iteration, name: str, arm: str) -> list[str]:
    return [grade.decision for grade in iteration.load_trial(TrialId(name, arm, 1)).grades]


def test_stored_work_is_graded_by_the_evals_as_they_are_now(skill: Path, iteration: Iteration) -> None:
    result = run(str(skill))
    assert "3 trials graded again, 3 decisions changed" in result.stderr
    assert "dates/with_skill/1: one: ungraded → passed" in result.stderr
    assert decisions(iteration, "dates", "with_skill") == ["passed", "failed"]
    assert decisions(iteration, "rows", "without_skill") == [], "its failure was not the agent's"
    record = json.loads((iteration.path / "benchmark.json").read_text("utf-8"))
    assert record["run_summary"]["with_skill"]["pass_rate"]["mean"] == 0.5


def test_a_judge_s_budget_that_is_reached_is_one_message_and_what_was_graded_counts(
    skill: Path, iteration: Iteration
) -> None:
    evals = [
        {"id": "dates", "prompt": "Do dates.", "expectations": [{"text": "one", "check": {"contains": "done"}}]},
        {"id": "rows", "prompt": "Do rows.", "expectations": [{"text": "it reads well", "about": "outcome"}]},
    ]
    write_json(skill / "evals" / "evals.json", {"skill_name": "pdf", "evals": evals})
    with pytest.raises(IncompleteError, match="budget"):
        run(str(skill), "--judge", "command: echo {}", "--budget", "0.001usd")
    assert {arm: decisions(iteration, "dates", arm) for arm in ("with_skill", "without_skill")} == {
        "with_skill": ["passed"],
        "without_skill": ["passed"],
    }
    record = json.loads((iteration.path / "benchmark.json").read_text("utf-8"))
    assert {one["eval_id"]: one["result"]["passed"] for one in record["runs"]}["dates"] == 1


def test_grading_twice_changes_nothing_but_how_long_it_took(skill: Path, iteration: Iteration) -> None:
    def graded() -> Any:
        read = json.loads((iteration.run_folder(TrialId("dates", "with_skill", 1)).path / "grading.json").read_text())
        for one in read["expectations"]:
            one.pop("seconds", None)
        return read

    run(str(iteration.path))
    first = graded()
    assert "0 decisions changed" in run(str(iteration.path)).stderr
    assert graded() == first


def test_new_expectations_take_the_place_of_the_old(skill: Path, iteration: Iteration) -> None:
    expect(skill, other={"contains": "done"}, undecidable=None)
    run(str(skill))
    assert decisions(iteration, "dates", "with_skill") == ["passed", "ungraded"]
    folder = iteration.run_folder(TrialId("dates", "with_skill", 1)).path
    for place in (folder, folder.parent.parent):
        assert json.loads((place / "eval_metadata.json").read_text())["assertions"] == ["other", "undecidable"]


def test_only_the_evals_asked_for(skill: Path, iteration: Iteration) -> None:
    assert "1 trial graded again" in run(str(skill), "--eval", "rows").stderr
    assert decisions(iteration, "dates", "with_skill") == ["ungraded", "failed"]


def test_evals_that_are_gone_are_left_as_they_were(skill: Path, iteration: Iteration) -> None:
    items = [{"id": "rows", "prompt": "Do rows.", "expectations": [{"text": "one", "check": {"contains": "done"}}]}]
    write_json(skill / "evals" / "evals.json", {"skill_name": "pdf", "evals": items})
    assert "the evals no longer have them: dates" in run(str(skill)).stderr
    assert decisions(iteration, "dates", "with_skill") == ["ungraded", "failed"]


def test_a_bad_check_is_an_input_error_and_nothing_is_changed(skill: Path, iteration: Iteration) -> None:
    expect(skill, one={"contains": {"nonsense": 1}})
    with pytest.raises(InputError, match=r"evals\.json"):
        run(str(skill))
    assert decisions(iteration, "dates", "with_skill") == ["ungraded", "failed"]


def test_a_running_assay_keeps_it_out(skill: Path, iteration: Iteration) -> None:
    with Lock(iteration.lock_path()), pytest.raises(InputError, match="another assay is at work"):
        run(str(skill))


def test_other_tools_runs_cannot_be_graded_again(tmp_path: Path) -> None:
    root = foreign(tmp_path / "iteration-1", {"eval-1/with_skill/grading.json": grading("p")})
    with pytest.raises(InputError, match="was not made by assay run"):
        run(str(root))


def test_fault_02_an_iteration_without_records_is_an_error(skill: Path) -> None:
    Workspace.create(skill.parent / "pdf-workspace").next_iteration().write_plan(made_plan(arms=ARMS))
    with pytest.raises(NotFoundError, match="no trial is recorded"):
        run(str(skill))
