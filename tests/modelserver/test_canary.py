"""The canary's comparison: each kind of misreading is told apart; the cases themselves meet a real CLI elsewhere."""

from __future__ import annotations

import json

import pytest

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import Finished, SkillUse
from skill_assay.modelserver import Received, ToolUse
from skill_assay.modelserver.canary import ANSWER, DIALECTS, OTHER, SKILL, cases, key_probe, key_seen, misread

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
    """The commands that look for it hold the words apart, whatever the protocol wraps them in."""
    for agent in DIALECTS:
        probe = key_probe(agent)
        assert probe is not None
        calls = json.dumps(
            [
                dict(item.input)
                for turn in probe.script.rules[0].turns
                for item in turn.items[:1]
                if isinstance(item, ToolUse)
            ]
        )
        assert key_seen([request(calls)]) == (None, None), "who did not look knows nothing"
        assert key_seen([request(calls), request(calls + "own:none"), request("parent:sk-ant-")]) == (False, True)
        assert key_seen([request("own:sk-ant-"), request("parent:none")]) == (True, False)


@pytest.mark.parametrize("agent", DIALECTS)
def test_every_dialect_has_its_cases(agent: str) -> None:
    names = {case.name: case for case in cases(agent)}
    assert {"fires", "fires-later", "another-skill", "reads", "silent", "api-error"} <= set(names)
    assert ("namesake" in names) == (DIALECTS[agent].user_skills is not None)
    assert names["fires"].expected.uses == ((SKILL, "tool" if DIALECTS[agent].skill_tool else "read", True),)
