import pytest

from skill_assay.errors import InputError
from skill_assay.graders import bounded
from skill_assay.model.transcript import Finished, Text, ToolCall, ToolResult


def test_contains_looks_at_the_answer_and_every_file(desk):
    desk.says("Done: 3 rows.").file("2026/out/report.md", "# Report\n\nTotal: 45\n")
    found = desk.grade({"contains": "Total: 45"})
    assert found.passed
    assert (found.places[0].file, found.places[0].line) == ("outputs/2026/out/report.md", 3)
    assert desk.verdict({"contains": "3 rows"}) == "passed"
    missing = desk.grade({"contains": "profit"})
    assert missing.passed is False
    assert "the answer" in missing.evidence and "2026/out/report.md" in missing.evidence


def test_contains_is_told_where_to_look(desk):
    desk.says("alpha", Text("thinking of gamma"), Text("alpha")).file("a.txt", "beta").file("sub/b.md", "delta")
    assert desk.verdict({"contains": {"text": "beta", "in": "answer"}}) == "failed"
    assert desk.verdict({"contains": {"text": "beta", "in": "files"}}) == "passed"
    assert desk.verdict({"contains": {"text": "alpha", "in": "files"}}) == "failed"
    assert desk.verdict({"contains": {"text": "gamma", "in": "transcript"}}) == "passed"
    assert desk.verdict({"contains": {"text": "delta", "in": "*.md"}}) == "passed"
    assert desk.verdict({"contains": {"text": "beta", "in": "*.md"}}) == "failed"
    assert desk.verdict({"contains": {"text": "beta", "in": ["answer", "a.txt"]}}) == "passed"


def test_contains_counts_over_all_places(desk):
    desk.says("one fish").file("a.txt", "two fish\nred fish")
    assert desk.verdict({"contains": {"text": "fish", "min_count": 3}}) == "passed"
    few = desk.grade({"contains": {"text": "fish", "min_count": 4}})
    assert few.passed is False and "3 times of 4 wanted" in few.evidence


def test_contains_is_literal_and_minds_case_unless_told(desk):
    desk.says("A.B")
    assert desk.verdict({"contains": "a.b"}) == "failed"
    assert desk.verdict({"contains": {"text": "a.b", "ignore_case": True}}) == "passed"
    assert desk.says("AxB").verdict({"contains": "A.B"}) == "failed"


def test_a_file_asked_for_and_missing_fails_inside_not_too(desk):
    desk.file("notes/other.md", "x")
    for check in ({"contains": {"text": "x", "in": "report.md"}}, {"matches": {"pattern": "x", "in": "report.md"}}):
        for one in (check, {"not": check}):
            grade = desk.grade(one)
            assert grade.passed is False
            assert "notes/other.md" in grade.evidence


def test_nothing_to_look_into_fails_inside_not_too(desk):
    assert desk.verdict({"contains": "x"}) == "failed"
    assert desk.verdict({"not": {"contains": "x"}}) == "failed"
    assert desk.verdict({"not": {"contains": {"text": "x", "in": "answer"}}}) == "failed"
    assert desk.verdict({"not": {"matches": {"pattern": "x", "in": "files"}}}) == "failed"


def test_not_turns_a_real_answer_round(desk):
    desk.says("all good")
    assert desk.verdict({"not": {"contains": "error"}}) == "passed"
    assert desk.verdict({"not": {"contains": "good"}}) == "failed"
    assert desk.verdict({"not": {"not": {"contains": "good"}}}) == "passed"


def test_binary_files_are_passed_over_with_a_note(desk):
    desk.file("video.mp4", b"\0\1needle").file("a.txt", "hay")
    grade = desk.grade({"contains": "needle"})
    assert grade.passed is False
    assert "video.mp4 (is not text)" in grade.evidence
    assert desk.verdict({"not": {"contains": {"text": "needle", "in": "*.mp4"}}}) == "failed"


def test_a_file_too_large_to_read_leaves_it_undecided(desk, monkeypatch):
    monkeypatch.setattr("skill_assay.graders.outputs.READ_LIMIT", 10)
    desk.file("big.txt", "x" * 11).file("small.txt", "needle")
    assert desk.verdict({"contains": "needle"}) == "passed"
    assert desk.verdict({"contains": "thread"}) == "ungraded"
    assert desk.verdict({"not": {"contains": "thread"}}) == "ungraded"


def test_encodings_and_line_ends(desk):
    desk.file("bom.txt", b"\xef\xbb\xbfcaf\xc3\xa9\r\nzwei\r\n").file("wide.txt", "drei".encode("utf-16"))
    desk.file("latin.txt", "vier é".encode("latin-1"))
    assert desk.verdict({"matches": {"pattern": "^café$", "flags": "m", "in": "bom.txt"}}) == "passed"
    assert desk.verdict({"contains": {"text": "drei", "in": "wide.txt"}}) == "passed"
    assert desk.verdict({"contains": {"text": "vier", "in": "latin.txt"}}) == "passed"


def test_matches_with_flags(desk):
    desk.says("first\nTotal: 12.50\n")
    assert desk.verdict({"matches": r"Total: \d+\.\d\d"}) == "passed"
    assert desk.verdict({"matches": {"pattern": "^total", "flags": "m"}}) == "failed"
    assert desk.verdict({"matches": {"pattern": "^total", "flags": "im"}}) == "passed"
    assert desk.verdict({"matches": {"pattern": "^total", "flags": "m", "ignore_case": True}}) == "passed"
    assert desk.verdict({"matches": {"pattern": r"\d", "min_count": 5}}) == "failed"
    assert desk.verdict({"not": {"matches": "Subtotal"}}) == "passed"


def test_the_transcript_holds_calls_and_results_once(desk):
    events = (Text("go"), ToolCall("1", "Bash", {"command": 'echo "hi"'}), ToolResult("1", "hi there"), Text("end"))
    desk.says("end", *events, Finished("end"))
    assert desk.verdict({"contains": {"text": 'echo "hi"', "in": "transcript"}}) == "passed"
    assert desk.verdict({"contains": {"text": "hi there", "in": "transcript"}}) == "passed"
    assert desk.verdict({"contains": {"text": "end", "in": "transcript", "min_count": 2}}) == "failed"


def test_an_empty_transcript_is_ungraded(desk):
    desk.facts["events"] = ()
    check = {"contains": {"text": "x", "in": "transcript"}}
    assert desk.verdict(check) == "ungraded"
    assert desk.verdict({"not": check}) == "ungraded"


@pytest.mark.slow
def test_a_pattern_that_never_ends_is_an_error_of_the_check(desk, monkeypatch):
    desk.says("a" * 60 + "!")
    with monkeypatch.context() as patch:
        patch.setattr(bounded, "SECONDS", 1.0)
        grade = desk.grade({"matches": "(a+)+$"})
    assert grade.decision == "error"
    assert "more than 1 seconds" in grade.evidence
    assert desk.verdict({"matches": "a+"}) == "passed"


def test_a_link_out_of_the_outputs_is_not_followed(desk):
    secret = desk.folder / "secret.txt"
    secret.write_text("needle")
    desk.file("a.txt", "hay")
    (desk.outputs / "link.txt").symlink_to(secret)
    (desk.outputs / "folder").symlink_to(desk.folder)
    grade = desk.grade({"contains": "needle"})
    assert grade.passed is False
    assert "link.txt (is, or lies behind, a symbolic link)" in grade.evidence


@pytest.mark.parametrize(
    ("check", "place", "words"),
    [
        ({"contains": ""}, ".contains", "a text, not empty"),
        ({"contains": {"text": "x", "where": "answer"}}, ".contains", "no argument is called 'where'"),
        ({"contains": {"text": "x", "ignorecase": True}}, ".contains", 'Did you mean "ignore_case"?'),
        ({"contains": {"text": "x", "min_count": 0}}, ".contains.min_count", "from 1"),
        ({"contains": {"text": "x", "min_count": True}}, ".contains.min_count", "whole number"),
        ({"contains": {"text": "x", "in": "../secret"}}, ".contains.in", "leaves the outputs"),
        ({"contains": {"text": "x", "in": "/etc/passwd"}}, ".contains.in", "absolute"),
        ({"contains": {"in": "answer"}}, ".contains", "'text' is missing"),
        ({"not": {"contains": {"text": 3, "in": "answer"}}}, ".not.contains.text", "found 3"),
        ({"matches": "(unclosed"}, ".matches", "not a regular expression"),
        ({"matches": {"pattern": "x", "flags": "q"}}, ".matches.flags", "imsxa"),
    ],
)
def test_bad_arguments(desk, check, place, words):
    with pytest.raises(InputError) as raised:
        desk.compile(check)
    assert raised.value.json_path == f"$.evals[0].expectations[0].check{place}"
    assert words in str(raised.value)
