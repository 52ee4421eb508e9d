"""The canary's comparison: each kind of misreading is told apart; the cases themselves meet a real CLI elsewhere."""

from __future__ import annotations

import pytest

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import Finished, SkillUse
from skill_assay.modelserver import Received
from skill_assay.modelserver.canary import ANSWER, OTHER, SKILL, cases, key_probe, key_seen, misread

CASES = {case.name: case for case in cases("claude-code")}
OWN = SkillUse(SKILL, "tool", confirmed=True)
RIGHT = Finished(ANSWER)


def request(text: str, **body: object) -> Received:
    return Received("/v1/messages", {}, body, text=text)


def test_the_cases_are_those_the_doctor_names() -> None:
    assert list(CASES) == ["fires", "fires-later", "another-skill", "reads", "silent", "api-error", "namesake"]
    assert cases("nobody") == () and key_probe("nobody") is None


@pytest.mark.parametrize(
    ("case", "uses", "finished", "sent", "wrong"),
    [
        ("fires", [OWN], RIGHT, "MARK-OWN", None),
        ("fires", [], RIGHT, "MARK-OWN", "skill uses read as none"),
        ("fires", [SkillUse(SKILL, "tool", confirmed=False)], RIGHT, "MARK-OWN", "refused"),
        ("fires", [OWN], RIGHT, "", "did not reach the model"),
        ("another-skill", [OWN], RIGHT, "", f"where there were {OTHER}"),
        ("silent", [], RIGHT, "", None),
        ("silent", [OWN], RIGHT, "", f"read as {SKILL} (tool)"),
        ("api-error", [], RIGHT, "", "the end read as an answer"),
        ("api-error", [], Finished(None, failure=Failure(FailureKind.BAD_REQUEST, "x")), "", None),
        ("api-error", [], Finished(ANSWER, failure=Failure(FailureKind.BAD_REQUEST, "x")), "", "the answer read as"),
        ("namesake", [OWN], RIGHT, "MARK-OWN THE-USERS-NAMESAKE", "of the user's own home"),
    ],
)
def test_what_is_read_wrongly_is_said(
    case: str, uses: list[SkillUse], finished: Finished, sent: str, wrong: str | None
) -> None:
    said = misread(CASES[case], uses, finished, [request(sent)])
    assert said == wrong if wrong is None else wrong in str(said)


def test_the_key_is_looked_for_in_results_not_in_calls() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "input": {"command": "own:sk-ant- parent:sk-ant-"}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "content": "parent:sk-ant-"}]}
    assert key_seen([request("", messages=[call])]) == (False, False)
    assert key_seen([request("", messages=[call, result])]) == (False, True)
