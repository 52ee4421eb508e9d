"""Feedback is merged by run and confirmed only when it is on the disk. Fault 24."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.formats.feedback import Feedback, feedback_from_dict, feedback_to_dict
from skill_assay.viewer.compare import pairs_of
from skill_assay.viewer.feedback import read_feedback
from skill_assay.viewer.site import run_id_of
from skill_assay.workspace.store import Iteration
from tests.viewer.small import ORIGIN, client_of, site_of, small_iteration

RUN, OTHER = "eval-e1-with_skill-run-1", "eval-e1-without_skill-run-1"
URL = "/i/iteration-1/feedback"


def stored(iteration: Iteration) -> Any:
    return json.loads(iteration.feedback_path.read_text(encoding="utf-8"))


def test_a_review_is_written_in_skill_creators_shape(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    said = client_of(site_of(iteration)).post(URL, json={"review": {"run_id": RUN, "feedback": "Süß"}}, headers=ORIGIN)
    assert said.status_code == 200
    assert stored(iteration) == {
        "schema_version": 1,
        "reviews": [{"run_id": RUN, "feedback": "Süß", "timestamp": said.json()["saved"]}],
        "status": "in_progress",
    }


def test_changes_merge_by_run_and_leave_the_rest(tmp_path: Path) -> None:
    """Fault 24: what others wrote, before and meanwhile, stays."""
    iteration = small_iteration(tmp_path)
    client = client_of(site_of(iteration))
    client.post(URL, json={"review": {"run_id": RUN, "feedback": "one"}}, headers=ORIGIN)
    theirs = {"run_id": "another", "feedback": "theirs", "timestamp": "t", "mood": 3}
    data = stored(iteration)
    data["reviews"].append(theirs)
    data["tool"] = "other"
    iteration.feedback_path.write_text(json.dumps(data), encoding="utf-8")
    client.post(URL, json={"review": {"run_id": RUN, "verdict": "bad"}}, headers=ORIGIN)
    marks = [{"index": 1, "passed": False}]
    client.post(URL, json={"review": {"run_id": RUN, "expectations": marks}}, headers=ORIGIN)
    client.post(URL, json={"status": "complete"}, headers=ORIGIN)
    found = stored(iteration)
    assert found["tool"] == "other" and found["status"] == "complete"
    mine, other = found["reviews"]
    assert other == theirs
    assert (mine["feedback"], mine["verdict"], mine["expectations"]) == ("one", "bad", marks)


def test_an_empty_text_says_looked_at_and_fine(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    client_of(site_of(iteration)).post(URL, json={"review": {"run_id": RUN, "feedback": ""}}, headers=ORIGIN)
    assert stored(iteration)["reviews"][0]["feedback"] == ""


def test_a_preference_is_kept(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    site = site_of(iteration)
    pair = next(pair for pair in pairs_of(site.open("iteration-1")) if pair.id == RUN)
    for side, chosen in (("left", run_id_of(pair.sides[0])), ("right", run_id_of(pair.sides[1])), (None, None)):
        asked = {"preference": {"pair": RUN, "side": side}}
        assert client_of(site).post(URL, json=asked, headers=ORIGIN).status_code == 200
        found = read_feedback(iteration).preferred(RUN)
        assert found is not None and (found.other, found.winner) == (OTHER, chosen)


@pytest.mark.parametrize(
    "body",
    [
        b"{broken",
        b"[]",
        b"{}",
        b'{"review": {"run_id": "nobody", "feedback": ""}}',
        b'{"review": {"feedback": ""}}',
        b'{"status": "finished"}',
        b'{"preference": {"pair": "x", "side": null}}',
        json.dumps({"preference": {"pair": RUN, "side": "third"}}).encode(),
        json.dumps({"review": {"run_id": RUN, "feedback": "x" * 100_001}}).encode(),
        b" " * 1_000_001,
    ],
)
def test_what_is_malformed_is_refused_and_writes_nothing(tmp_path: Path, body: bytes) -> None:
    iteration = small_iteration(tmp_path)
    headers = {**ORIGIN, "content-type": "application/json"}
    answer = client_of(site_of(iteration)).post(URL, content=body, headers=headers)
    assert answer.status_code in (400, 409) and answer.json()["error"]
    assert not iteration.feedback_path.exists()


def test_fault_24_a_failed_write_is_never_called_saved(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    iteration.feedback_path.mkdir()
    answer = client_of(site_of(iteration)).post(
        URL, json={"review": {"run_id": RUN, "feedback": "words"}}, headers=ORIGIN
    )
    assert answer.status_code == 409 and "saved" not in answer.json()


def test_fault_24_a_damaged_file_is_not_written_over(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    iteration.feedback_path.write_text('{"reviews": [{"run_id": "a", "feedback": "long wor', encoding="utf-8")
    client = client_of(site_of(iteration))
    answer = client.post(URL, json={"review": {"run_id": RUN, "feedback": "new"}}, headers=ORIGIN)
    assert answer.status_code == 409 and "JSON" in answer.json()["error"]
    assert iteration.feedback_path.read_text(encoding="utf-8").endswith("long wor")
    assert client.get(f"/i/iteration-1/trial/{RUN}").status_code == 200


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    target = tmp_path / "elsewhere.json"
    target.write_text('{"reviews": []}', encoding="utf-8")
    iteration.feedback_path.symlink_to(target)
    answer = client_of(site_of(iteration)).post(
        URL, json={"review": {"run_id": RUN, "feedback": "new"}}, headers=ORIGIN
    )
    assert answer.status_code == 409
    assert target.read_text(encoding="utf-8") == '{"reviews": []}'


def test_the_page_loads_what_was_said(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    site = site_of(iteration)
    review = {
        "run_id": RUN,
        "feedback": "</textarea><script>alert(1)</script>",
        "verdict": "good",
        "expectations": [{"index": 0, "passed": False}],
    }
    client_of(site).post(URL, json={"review": review}, headers=ORIGIN)
    page = client_of(site_of(iteration)).get(f"/i/iteration-1/trial/{RUN}").text
    assert "&lt;/textarea&gt;&lt;script&gt;alert(1)" in page and "<script>alert" not in page
    assert 'data-verdict="good" aria-pressed="true"' in page
    assert 'aria-pressed="true" data-says="disagree"' in page


def test_the_flat_map_is_read_and_written_anew(tmp_path: Path) -> None:
    found = feedback_from_dict({"eval-1": "text", "status": "complete"})
    review = found.of("eval-1")
    assert review is not None and review.feedback == "text" and found.status == "complete"
    assert feedback_from_dict(feedback_to_dict(found)).reviews == found.reviews
    assert feedback_to_dict(Feedback()) == {"schema_version": 1, "reviews": [], "status": "in_progress"}
