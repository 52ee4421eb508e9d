"""trial.json, grading.json and timing.json."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.errors import Failure, FailureKind, InputError
from skill_assay.formats.grading import grading_from_dict, grading_to_dict, summary_of
from skill_assay.formats.timing import timing_to_dict
from skill_assay.formats.trial_record import trial_from_dict, trial_to_dict
from skill_assay.model.grade import Decision, Evidence, Grade
from skill_assay.model.transcript import SkillUse, Started, Tokens, Usage
from skill_assay.model.trial import Attempt, State, Trial, TrialId

FAILURE = Failure(FailureKind.RATE_LIMITED, "slow down", status=429, retry_after=2.5, detail="raw")
ATTEMPT = Attempt(
    number=2, failure=FAILURE, answer="Done — ✓", usage=Usage(Tokens(1, 2, 3, 4), 0.25, 5, 6.5, 7.5),
    started=Started("m", "1.0", ("Bash",), ("s",), ("mcp",), "plan", False),
    skill_uses=(SkillUse("s", "read", True, "c1", "/x/SKILL.md", "p1"),), models=("m",),
    launched_at="2026-01-01T00:00:00Z", ended_at="2026-01-01T00:01:00Z", wall_seconds=60.0, waited_seconds=4.5,
    first_event_seconds=0.5, exit_code=1, decided_seconds=3.5, ended_early="decided", reserved_usd=0.1,
    unknown_events=3, stderr_tail="oops", structured={"a": [1, None, "x"]}, tools_called={"Bash": 2, "Read": 1},
    tool_errors=1, pid=42, pid_started=1.5, pgid=43,
)  # fmt: skip
GRADES = (
    Grade(
        "It holds", Decision.PASSED, "seen", "check", places=(Evidence("outputs/a.md", 3), Evidence("b")), seconds=0.5
    ),
    Grade("It fails", Decision.FAILED, "not seen", "judge", verified=True),
    Grade("Nice to have", Decision.FAILED, "no", "script", severity="info", counted=False),
    Grade("Open", Decision.UNGRADED, "nothing decides it", "none", counted=False),
    Grade("Broken", Decision.ERROR, "the grader failed", "judge", counted=False, verified=False),
)
TRIAL = Trial(
    TrialId("two words", "with_skill", 3), State.COMPLETED, (Attempt(1), ATTEMPT), GRADES, ("a.md", "d/b.md"),
    ("a note",),
    True, "claude-code", "m", "abc", {"claude-code": "2.1"},
)  # fmt: skip


def differs_from_defaults(value: Any) -> list[str]:
    """Fields that stand at their default, so that a record which dropped them would go unnoticed."""
    return [
        field.name
        for field in dataclasses.fields(value)
        if field.default is not dataclasses.MISSING and getattr(value, field.name) == field.default
    ]


def through_json(record: Any) -> Any:
    return json.loads(json.dumps(record, allow_nan=False))


def test_a_trial_comes_back_whole() -> None:
    parts = (TRIAL, ATTEMPT, FAILURE, ATTEMPT.usage, ATTEMPT.started, ATTEMPT.skill_uses[0])
    assert [differs_from_defaults(part) for part in parts] == [[]] * len(parts)
    assert trial_from_dict(through_json(trial_to_dict(TRIAL))) == TRIAL
    bare = Trial(TrialId("1", "a", 1), State.PENDING)
    assert trial_from_dict(through_json(trial_to_dict(bare))) == bare


def test_unknown_keys_of_a_record_are_left_alone() -> None:
    record = trial_to_dict(TRIAL)
    record["attempts"][0]["later"] = 1
    assert trial_from_dict({**record, "more": True}) == TRIAL


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        (lambda record: record.pop("schema_version"), "$.schema_version", "not written by Skill Assay"),
        (lambda record: record.update(schema_version=2), "$.schema_version", "later version"),
        (lambda record: record.pop("id"), "$.id", "damaged"),
        (lambda record: record["id"].update(repeat="1"), "$.id.repeat", "a whole number"),
        (lambda record: record["id"].update(repeat=True), "$.id.repeat", "a whole number"),
        (lambda record: record.update(state="done"), "$.state", "completed"),
        (lambda record: record["attempts"][1].update(wall_seconds=math.nan), "$.attempts[1].wall_seconds", "a number"),
        (
            lambda record: record["attempts"][1]["failure"].update(kind="odd"),
            "$.attempts[1].failure.kind",
            "rate_limited",
        ),
        (
            lambda record: record["attempts"][1]["tools_called"].update(Bash="2"),
            "$.attempts[1].tools_called.Bash",
            "a whole",
        ),
        (lambda record: record["grades"][0].update(decision="ok"), "$.grades[0].decision", "passed or failed"),
        (lambda record: record["grades"][0].update(grader="me"), "$.grades[0].grader", "check or script"),
        (lambda record: record.update(outputs="a"), "$.outputs", "a list"),
    ],
)
def test_a_damaged_record_is_refused_with_its_place(change: Any, path: str, words: str) -> None:
    record = through_json(trial_to_dict(TRIAL))
    change(record)
    with pytest.raises(InputError, match=words) as caught:
        trial_from_dict(record, file="x/trial.json")
    assert (caught.value.file, caught.value.json_path) == ("x/trial.json", path)


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_crashes_the_readers(raw: Any) -> None:
    for read in (trial_from_dict, grading_from_dict):
        for value in (raw, {"schema_version": 1, "id": raw, "state": "completed", "expectations": raw}):
            try:
                read(value)
            except InputError as error:
                assert str(error)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_fault_14_no_number_that_is_not_finite_is_written(number: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        trial_to_dict(dataclasses.replace(TRIAL, attempts=(Attempt(1, wall_seconds=number),)))
    with pytest.raises(ValueError, match="not finite"):
        grading_to_dict(dataclasses.replace(TRIAL, grades=(dataclasses.replace(GRADES[0], seconds=number),)))


def test_grading_is_written_under_the_names_every_viewer_reads() -> None:
    record = grading_to_dict(TRIAL)
    assert list(record) == ["schema_version", "expectations", "summary", "execution_metrics"]
    assert record["expectations"][0] == {
        "text": "It holds", "passed": True, "evidence": "seen", "grader": "check", "state": "graded",
        "evidence_verified": None, "severity": "required", "counted": True,
        "evidence_at": [{"file": "outputs/a.md", "line": 3}, {"file": "b"}], "seconds": 0.5,
    }  # fmt: skip
    assert [each["passed"] for each in record["expectations"]] == [True, False, False, None, None]
    assert [each["state"] for each in record["expectations"]] == ["graded", "graded", "graded", "ungraded", "error"]
    assert [each["counted"] for each in record["expectations"]] == [True, True, False, False, False]
    assert record["expectations"][3]["evidence"] == "Ungraded: nothing decides it"
    assert record["summary"] == {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5, "ungraded": 2}
    assert record["execution_metrics"] == {
        "tool_calls": {"Bash": 2, "Read": 1},
        "total_tool_calls": 3,
        "errors_encountered": 1,
    }


def test_fault_16_without_a_total_there_is_no_rate() -> None:
    assert summary_of(GRADES[2:]) == {"passed": 0, "failed": 0, "total": 0, "ungraded": 2}


def test_our_own_grading_comes_back() -> None:
    grades = grading_from_dict(through_json(grading_to_dict(TRIAL)))
    expected = (*GRADES[:3], dataclasses.replace(GRADES[3], evidence="Ungraded: nothing decides it"), GRADES[4])
    assert grades.grades == expected and not grades.findings


@pytest.mark.parametrize("key", ["expectations", "assertions", "assertion_results"])
@pytest.mark.parametrize("evidence", ["evidence", "reason", "details"])
def test_fault_13_other_tools_gradings_are_read(key: str, evidence: str) -> None:
    found = grading_from_dict({key: [{"text": "t", "passed": True, evidence: "e"}, {"name": "u", "passed": None}]})
    assert [(grade.text, grade.decision, grade.evidence) for grade in found.grades] == [
        ("t", Decision.PASSED, "e"),
        ("u", Decision.UNGRADED, "Ungraded: the file gives no reason"),
    ]
    assert [grade.counted for grade in found.grades] == [True, False]


@pytest.mark.parametrize("passed", ["true", 1, "pass", 0])
def test_what_is_neither_true_nor_false_is_ungraded(passed: Any) -> None:
    found = grading_from_dict({"expectations": [{"text": "t", "passed": passed, "evidence": "e"}]})
    assert found.grades[0].passed is None
    assert [finding.rule for finding in found.findings] == ["not-boolean"]


def test_fault_14_a_summary_that_disagrees_is_reported_and_not_believed() -> None:
    items = [{"text": "t", "passed": True, "evidence": "e"}, {"text": "u", "passed": False, "evidence": "e"}]
    summary = {"passed": 44, "failed": 0, "total": 44, "pass_rate": 5000}
    found = grading_from_dict({"expectations": items, "summary": summary})
    assert [(finding.json_path, finding.found, finding.expected) for finding in found.findings] == [
        ("$.summary.passed", "44", "1"),
        ("$.summary.failed", "0", "1"),
        ("$.summary.total", "44", "2"),
        ("$.summary.pass_rate", "5000", "0.5"),
    ]
    assert summary_of(found.grades)["pass_rate"] == 0.5


@pytest.mark.parametrize(
    ("rate", "agrees"), [("1/2", True), ("2/2", False), (0.5, True), ("3/0", True), ("half", True)]
)
def test_rates_written_as_shares(rate: Any, agrees: bool) -> None:
    items = [{"text": "t", "passed": True, "evidence": "e"}, {"text": "u", "passed": False, "evidence": "e"}]
    found = grading_from_dict({"expectations": items, "summary": {"pass_rate": rate}})
    assert (not found.findings) == agrees


@pytest.mark.parametrize("raw", [None, [], {}, {"expectations": {}}])
def test_no_list_is_an_error(raw: Any) -> None:
    with pytest.raises(InputError, match="no list of expectations"):
        grading_from_dict(raw)


def test_timing_says_what_is_known_and_leaves_out_the_rest() -> None:
    assert timing_to_dict(TRIAL) == {
        "schema_version": 1, "total_tokens": 10, "duration_ms": 7500, "total_duration_seconds": 7.5,
        "executor_duration_seconds": 60.0, "executor_start": "2026-01-01T00:00:00Z",
        "executor_end": "2026-01-01T00:01:00Z", "grader_duration_seconds": 0.5,
    }  # fmt: skip
    waited = timing_to_dict(
        Trial(TrialId("1", "a", 1), State.COMPLETED, (Attempt(1, wall_seconds=9, waited_seconds=4),))
    )
    assert waited["total_duration_seconds"] == 5 and "total_tokens" not in waited
    assert timing_to_dict(Trial(TrialId("1", "a", 1), State.COMPLETED, (Attempt(1),))) == {"schema_version": 1}
    assert timing_to_dict(Trial(TrialId("1", "a", 1), State.PENDING)) == {"schema_version": 1}


def test_real_gradings_recompute(shared_data: Path) -> None:
    read = 0
    for path in sorted((shared_data / "oracle" / "aggregate").rglob("grading.json")):
        raw = json.loads(path.read_text("utf-8"))
        found = grading_from_dict(raw, file=str(path))
        assert not found.findings
        assert summary_of(found.grades)["passed"] == raw["summary"]["passed"]
        read += 1
    assert read > 30
