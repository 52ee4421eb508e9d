import pytest

from skill_assay.errors import InputError


def test_fault_28_a_plain_name_is_found_in_any_folder(desk):
    desk.file("2026-01-31/draft/report.md", "hello")
    grade = desk.grade({"file_exists": "report.md"})
    assert grade.passed
    assert grade.places[0].file == "outputs/2026-01-31/draft/report.md"
    assert "2026-01-31/draft/report.md (5 bytes)" in grade.evidence


def test_an_empty_file_does_not_count_unless_told(desk):
    desk.file("report.md", "")
    assert desk.verdict({"file_exists": "report.md"}) == "failed"
    assert desk.verdict({"file_exists": {"path": "report.md", "min_bytes": 0}}) == "passed"


def test_sizes(desk):
    desk.file("a.bin", "12345")
    assert desk.verdict({"file_exists": {"path": "a.bin", "min_bytes": 5, "max_bytes": 5}}) == "passed"
    assert desk.verdict({"file_exists": {"path": "a.bin", "min_bytes": 6}}) == "failed"
    assert desk.verdict({"file_exists": {"path": "a.bin", "max_bytes": 4}}) == "failed"
    assert desk.verdict({"not": {"file_exists": {"path": "a.bin", "max_bytes": 4}}}) == "passed"


def test_a_missing_file_lists_the_first_files_seen(desk):
    for number in range(14):
        desk.file(f"part-{number:02}.txt")
    grade = desk.grade({"file_exists": "report.md"})
    assert grade.passed is False
    assert "part-00.txt" in grade.evidence and "… and 4 more" in grade.evidence
    assert "part-13.txt" not in grade.evidence


def test_no_files_at_all(desk):
    assert "no files" in desk.grade({"file_exists": "*"}).evidence
    assert desk.verdict({"file_absent": "*"}) == "passed"


def test_file_absent(desk):
    desk.file("tmp/cache.db", "")
    assert desk.verdict({"file_absent": "*.tmp"}) == "passed"
    assert desk.verdict({"file_absent": "cache.db"}) == "failed"
    assert desk.verdict({"file_absent": {"path": "cache.db", "min_bytes": 1}}) == "passed"
    assert desk.verdict({"not": {"file_absent": "cache.db"}}) == "passed"
    assert desk.verdict({"not": {"file_exists": "*.tmp"}}) == "passed"


def test_a_link_is_no_file(desk):
    desk.file("real.txt", "x")
    (desk.outputs / "link.md").symlink_to(desk.outputs / "real.txt")
    grade = desk.grade({"file_exists": "link.md"})
    assert grade.passed is False and "no regular file" in grade.evidence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "not empty"),
        ("../x", "leaves the outputs"),
        ("C:/x", "absolute"),
        ("a\\b", "backslash"),
        ({"path": "x", "min_bytes": -1}, "whole number"),
        ({"path": "x", "min_bytes": "1"}, "whole number"),
        ({"path": "x", "min_bytes": 5, "max_bytes": 4}, "at least 5 and at most 4"),
        ({"path": "x", "minbytes": 1}, "min_bytes"),
        ({}, "'path' is missing"),
    ],
)
@pytest.mark.parametrize("kind", ["file_exists", "file_absent"])
def test_bad_arguments(desk, kind, arguments, words):
    with pytest.raises(InputError, match=words):
        desk.compile({kind: arguments})
