"""A file the agent left that was too large to be kept is never said to be missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.graders.conftest import Desk

VIDEO = {"video.mp4": 60_000_000, "data.json": 70_000_000}


@pytest.mark.parametrize(
    ("check", "decision"),
    [
        ({"file_exists": "*.mp4"}, "passed"),
        ({"file_exists": {"path": "video.mp4", "max_bytes": 1_000}}, "failed"),
        ({"file_absent": "*.mp4"}, "failed"),
        ({"file_exists": "other.mp4"}, "failed"),
        ({"contains": {"text": "x", "in": "data.json"}}, "ungraded"),
        ({"matches": {"pattern": "x", "in": "files"}}, "ungraded"),
        ({"not": {"contains": {"text": "x", "in": "data.json"}}}, "ungraded"),
        ({"contains": {"text": "done", "in": "answer"}}, "passed"),
        ({"equals": {"file": "data.json", "value": "x"}}, "ungraded"),
        ({"json_path": {"path": "$.a", "file": "data.json", "exists": True}}, "ungraded"),
        ({"json_schema": {"schema": {"type": "object"}}}, "ungraded"),
        ({"csv": {"file": "data.json", "columns": ["a"]}}, "ungraded"),
        ({"csv": {"file": "other.csv", "columns": ["a"]}}, "failed"),
        ({"language": {"is": "en", "in": "data.json"}}, "ungraded"),
    ],
)
def test_a_check_of_what_was_not_kept(desk: Desk, check: dict[str, Any], decision: str) -> None:
    desk.says("done", omitted=VIDEO)
    assert desk.verdict(check) == decision


def test_its_size_is_said_and_no_place_is_claimed(desk: Desk) -> None:
    grade = desk.says("", omitted=VIDEO).grade({"file_exists": "video.mp4"})
    assert "video.mp4 (60,000,000 bytes)" in grade.evidence
    assert grade.places == ()
