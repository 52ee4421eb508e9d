"""The three expectations of the format's own example: a video, its manifest, its prompt in English."""

import json

import pytest

VIDEO = {"file_exists": "*.{mp4,mov,webm}"}
MANIFEST = {
    "json_path": [
        {"path": "$.task_id", "file": "manifest.json", "equals": "t-17"},
        {"path": "$.model", "file": "manifest.json", "equals": "movie-2"},
        {"path": "$.ratio", "file": "manifest.json", "equals": "9:16"},
        {"path": "$.duration", "file": "manifest.json", "equals": 5},
    ]
}
PROMPT = {"language": {"is": "en", "in": "prompt*.txt"}}
RIGHT = {"task_id": "t-17", "model": "movie-2", "ratio": "9:16", "duration": 5}
ENGLISH = "A slow tracking shot along the beach at sunset, warm light, a dog runs towards the camera."
DUTCH = "Een langzaam shot langs het strand bij zonsondergang, warm licht, een hond rent naar de camera toe."


@pytest.fixture(params=["", "out/", "2026-01-31/", "output/2026-01-31/take 2/"], ids=["top", "nested", "dated", "deep"])
def film(request, desk):
    """The right outcome, in all the folders agents choose (fault 28)."""
    folder = request.param
    desk.file(f"{folder}video.mp4", b"\0\0\0\x18ftypmp42")
    desk.file(f"{folder}manifest.json", json.dumps(RIGHT))
    desk.file(f"{folder}prompt.txt", ENGLISH)
    desk.place = folder
    return desk


def test_fault_28_all_three_hold_wherever_the_files_lie(film):
    assert [film.verdict(check) for check in (VIDEO, MANIFEST, PROMPT)] == ["passed"] * 3


def test_an_empty_video_fails(film):
    film.file(f"{film.place}video.mp4", b"")
    grade = film.grade(VIDEO)
    assert grade.passed is False
    assert f"{film.place}video.mp4 (0 bytes)" in grade.evidence


def test_no_video_fails_and_lists_what_was_seen(film):
    (film.outputs / film.place / "video.mp4").unlink()
    grade = film.grade(VIDEO)
    assert grade.passed is False
    assert f"{film.place}manifest.json" in grade.evidence


@pytest.mark.parametrize(
    ("field", "value"), [("task_id", "t-18"), ("model", "movie-1"), ("ratio", "16:9"), ("duration", "5")]
)
def test_one_wrong_field_fails_and_is_named(film, field, value):
    film.file(f"{film.place}manifest.json", json.dumps({**RIGHT, field: value}))
    grade = film.grade(MANIFEST)
    assert grade.passed is False
    assert f"$.{field} is {json.dumps(value)}, expected {json.dumps(RIGHT[field])}" in grade.evidence
    assert grade.places[0].file == f"outputs/{film.place}manifest.json"


def test_a_prompt_in_dutch_fails(film):
    film.file(f"{film.place}prompt.txt", DUTCH)
    grade = film.grade(PROMPT)
    assert grade.passed is False
    assert "reads as nl" in grade.evidence


def test_a_missing_prompt_fails(film):
    (film.outputs / film.place / "prompt.txt").unlink()
    assert film.verdict(PROMPT) == "failed"
