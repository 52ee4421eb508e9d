import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.graders.outputs import Unreadable, bad_glob, matching, read_bytes, read_text, safe_file, seen

FILES = ("a.md", "out/2026-01-31/report.md", "out/report.csv", "out/report.md", "outer/x/y/z.json", "video.mov")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("report.md", ["out/2026-01-31/report.md", "out/report.md"]),
        ("./report.md", []),
        ("./a.md", ["a.md"]),
        ("*.md", ["a.md", "out/2026-01-31/report.md", "out/report.md"]),
        ("./*.md", ["a.md"]),
        ("out/*.md", ["out/report.md"]),
        ("out/**/*.md", ["out/2026-01-31/report.md", "out/report.md"]),
        ("2026-*/report.md", ["out/2026-01-31/report.md"]),
        ("????-??-??/*", ["out/2026-01-31/report.md"]),
        ("*.{csv,mov}", ["out/report.csv", "video.mov"]),
        ("{out,outer}/*.{csv,json}", ["out/report.csv"]),
        ("[av]*.m[do][v]", ["video.mov"]),
        ("out/", ["out/2026-01-31/report.md", "out/report.csv", "out/report.md"]),
        ("./out/**", ["out/2026-01-31/report.md", "out/report.csv", "out/report.md"]),
        ("**", list(FILES)),
        ("*", list(FILES)),
        ("port.md", []),
        ("Report.md", []),
        ("out", []),
        ("x/y/z.json", ["outer/x/y/z.json"]),
        ("x/z.json", []),
    ],
)
def test_fault_28_patterns_match_at_any_depth(pattern, found):
    assert list(matching(FILES, pattern)) == found


NAME = st.text(st.characters(exclude_characters="/\\*?[]{}\0", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
PART = NAME.filter(lambda name: name not in (".", ".."))


@given(st.lists(PART, min_size=1, max_size=5))
def test_a_file_is_found_by_its_name_by_its_path_and_by_each_tail(parts):
    path = "/".join(parts)
    for start in range(len(parts)):
        tail = "/".join(parts[start:])
        if bad_glob(tail) is None:
            assert matching([path], tail) == (path,)
    if bad_glob(path) is None:
        assert matching([path], "./" + path) == (path,)


@given(st.text(max_size=20), st.lists(PART, min_size=1, max_size=4))
def test_any_pattern_is_refused_or_answers(pattern, parts):
    if bad_glob(pattern) is None:
        assert set(matching(["/".join(parts)], pattern)) <= {"/".join(parts)}
    elif not pattern.strip():
        assert bad_glob(pattern) == "an empty pattern"


def test_no_name_makes_a_pattern_slow():
    assert matching(["a" * 255] * 20, "*a*a*a*a*a*a*a*a*a*a*a*b") == ()
    assert matching(["/".join("a" * 200)], "/".join(["**", "a"] * 20 + ["b"])) == ()


def test_accents_written_two_ways_are_one():
    assert matching(["cafe\u0301.md"], "caf\u00e9.md") == ("cafe\u0301.md",)


@pytest.mark.parametrize("name", ["../secret", "link", "folder", "folder/inner.txt", "gone", "pipe", "a\0b", "x" * 300])
def test_only_regular_files_inside_are_opened(tmp_path, name):
    root = tmp_path / "outputs"
    root.mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "inner.txt").write_text("secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(root / "pipe")
    with pytest.raises(Unreadable):
        safe_file(root, name)


def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(Unreadable):
        safe_file(tmp_path, "a")


def test_outputs_themselves_may_lie_behind_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("x")
    (tmp_path / "alias").symlink_to("real")
    assert read_bytes(tmp_path / "alias", "a.txt") == b"x"


def test_reading_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("skill_assay.graders.outputs.READ_LIMIT", 3)
    (tmp_path / "a").write_text("abc")
    (tmp_path / "b").write_text("abcd")
    assert read_text(tmp_path, "a") == "abc"
    with pytest.raises(Unreadable, match="larger than"):
        read_text(tmp_path, "b")


def test_what_was_seen_is_listed_within_bounds():
    assert seen([]) == "The agent left no files."
    assert seen(["a", "b"]) == "Files seen: a, b."
    assert seen([f"f{n:02}" for n in range(12)]).endswith("f09 … and 2 more.")
