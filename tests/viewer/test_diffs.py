"""How files differ between arms and between iterations."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skill_assay.viewer.diffs import difference, line_diff
from skill_assay.viewer.outputs import Caps, read_outputs
from skill_assay.viewer.site import Site
from skill_assay.viewer.static import Budget, static_page
from skill_assay.workspace.resolve import resolve_place
from tests.viewer.small import client_of, site_of, small_iteration, write

RUN = "eval-e1-with_skill-run-1"
SHORT = st.lists(st.sampled_from(["a b", "a c", "", "x y z", "w"]), max_size=12)


def test_lines_and_the_words_in_them_are_marked() -> None:
    found = line_diff("f", "top\nthe total is 12 EUR\nend\n", "top\nthe total is 15 EUR\nend\n")
    assert [(line.kind, line.before, line.after) for line in found.lines] == [
        ("same", 1, 1),
        ("del", 2, None),
        ("add", None, 2),
        ("same", 3, 3),
    ]
    assert [[part.text for part in line.parts if part.changed] for line in found.lines] == [[], ["12"], ["15"], []]
    assert (found.added, found.removed, found.note) == (1, 1, "")


def test_lines_that_have_nothing_in_common_are_marked_whole() -> None:
    found = line_diff("f", "alpha beta", "one,two,three")
    assert [len(line.parts) for line in found.lines] == [1, 1]
    assert not any(part.changed for line in found.lines for part in line.parts)


def test_what_lies_between_changes_is_skipped_and_its_place_told() -> None:
    middle = [f"line {n}" for n in range(40)]
    found = line_diff("f", "\n".join(["a", *middle, "b"]), "\n".join(["A", *middle, "B"]))
    assert [line.parts[0].text for line in found.lines if line.kind == "place"] == ["line 39 before, 39 after"]
    assert len(found.lines) == 11


@given(SHORT, SHORT)
def test_both_sides_can_be_read_back_from_the_lines(one: list[str], two: list[str]) -> None:
    """With nothing skipped, the lines of a diff hold each text whole, at the numbers they claim."""
    found = line_diff("f", "\n".join(one), "\n".join(two))
    for side, text in (("before", one), ("after", two)):
        for line in found.lines:
            number = getattr(line, side)
            if number is not None:
                assert "".join(part.text for part in line.parts) == "\n".join(text).splitlines()[number - 1]
    assert bool(found.lines) == ("\n".join(one).splitlines() != "\n".join(two).splitlines())


def test_long_files_are_cut_and_the_note_says_so() -> None:
    many = "\n".join(f"line {n}" for n in range(3000))
    assert line_diff("f", many, many).note == "only the beginning of the files is compared"
    found = line_diff("f", many, many.replace("line", "row"))
    assert len(found.lines) == 800 and "more lines are not shown" in found.note
    long = "word " * 4000
    assert all(len(line.parts[0].text) == 2000 for line in line_diff("f", long, long + "x").lines)


def test_files_are_told_by_what_became_of_them(tmp_path: Path) -> None:
    write(tmp_path / "a/outputs", {"x.txt": b"1\n", "same.md": b"s\n", "old.txt": b"o\n", "p.png": b"\x89PNG1"})
    write(tmp_path / "b/outputs", {"x.txt": b"2\n", "same.md": b"s\n", "new.txt": b"n\n", "p.png": b"\x89PNG2"})
    old, new = (read_outputs(tmp_path / name, Caps()) for name in "ab")
    found = difference("Without", old, "With Skill", new)
    assert [one.name for one in found.files] == ["x.txt"]
    assert (found.same, found.only_before, found.only_after) == (("same.md",), ("old.txt",), ("new.txt",))


def test_the_page_compares_arms_and_iterations(tmp_path: Path) -> None:
    first = small_iteration(tmp_path)
    theirs = {"deep/report.md": b"# Report\n\nTotal: <b>11</b>\n"}
    write(first.path / "eval-e1/without_skill/run-1/outputs", theirs)
    shutil.copytree(first.path, first.path.with_name("iteration-2"))
    write(first.path / "eval-e1/with_skill/run-1/outputs", {"deep/report.md": b"# Report\n\nTotal: 10\n"})
    site = Site.of(resolve_place(first.path.parent))
    page = client_of(site).get(f"/i/iteration-2/trial/{RUN}").text
    heads = re.findall(r'<h3 id="d\d">(.*?)</h3>', page)
    assert heads == [
        "With Skill <small>against Without</small>",
        "With Skill here <small>against With Skill in iteration-1</small>",
    ]
    assert "<del>10</del>" in page and "<ins>12</ins>" in page
    assert "<del>&lt;b&gt;11&lt;/b&gt;</del>" in page
    text, _ = static_page(site, site.open("iteration-2"), Budget())
    assert "<del>&lt;b&gt;11&lt;/b&gt;</del>" in text


def test_a_trial_whose_other_arm_made_nothing_says_who_made_what(tmp_path: Path) -> None:
    page = client_of(site_of(small_iteration(tmp_path))).get(f"/i/iteration-1/trial/{RUN}").text
    assert 'Only With Skill: <span class="file">data.json</span>' in page
