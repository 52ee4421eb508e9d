"""The agent's own doubts, read without a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skill_assay.formats.user_notes import summary_of_notes

NOTES = """\
# Uncertainties
- the rate of 3 May is a guess
  from another table
2. two receipts look alike

## Needs Review:
totals of sheet 2
**Workarounds**
* read the PDF with a regular expression
# Anything else
no heading of ours
"""


def test_points_lie_under_their_headings_and_unknown_ones_need_review() -> None:
    assert summary_of_notes(NOTES) == {
        "uncertainties": ["the rate of 3 May is a guess from another table", "two receipts look alike"],
        "needs_review": ["totals of sheet 2", "no heading of ours"],
        "workarounds": ["read the PDF with a regular expression"],
    }


def test_text_without_headings_needs_review() -> None:
    assert summary_of_notes("I am not sure at all.\n")["needs_review"] == ["I am not sure at all."]


def test_what_is_left_out_is_said() -> None:
    points = summary_of_notes("# Uncertainties\n" + "".join(f"- point {n} {'x' * 900}\n" for n in range(50)))
    assert len(points["uncertainties"]) == 21
    assert points["uncertainties"][-1] == "and 30 more in user_notes.md"
    assert max(map(len, points["uncertainties"])) == 400


@given(st.text())
def test_any_text_gives_bounded_points(text: str) -> None:
    found = summary_of_notes(text)
    assert set(found) == {"uncertainties", "needs_review", "workarounds"}
    assert all(len(points) <= 21 and all(0 < len(one) <= 400 for one in points) for points in found.values())
    assert bool(text.strip()) or not any(found.values())
