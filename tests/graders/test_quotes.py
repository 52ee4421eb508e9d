"""Quotes are looked up: what is really there is found, what was mended or made up is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.graders.material import Material, Piece, fence_for
from skill_assay.graders.quotes import absence_fault, locate

REPORT = "# Report\n\nThe total for the third quarter is 1,284 EUR,\nwhich was not paid by the client until March.\n"


def material(**texts: str) -> Material:
    named = {"report": REPORT, **texts}
    return Material(
        tuple(Piece(f"outputs/{name}.md", text, text, f"outputs/{name}.md") for name, text in named.items())
    )


@pytest.mark.parametrize(
    "quote",
    [
        "The total for the third quarter is 1,284 EUR",
        "The total for   the third\nquarter is 1,284 EUR, which was not paid",
        "# Report",
    ],
)
def test_a_quote_is_found_whatever_its_white_space(quote: str) -> None:
    found = locate(quote, material())
    assert found is not None and found.exact
    assert found.line == (1 if quote.startswith("#") else 3)


def test_a_quote_nearly_word_for_word_is_found_and_said_to_be_so() -> None:
    found = locate(
        "The total for the third quarter is 1,284 EUR which was not paid by the client until March", material()
    )
    assert found is not None and not found.exact


@pytest.mark.parametrize(
    "quote",
    [
        "The total for the third quarter is 1,384 EUR, which was not paid by the client until March.",
        "The total for the third quarter is 1,284 EUR, which was paid by the client until March.",
        "All invoices were checked against the ledger and found correct.",
        "The total for the fourth month comes to a sum of EUR that nobody paid",
        "",
        "  \n ",
        "is",
    ],
)
def test_fault_27_a_false_quote_is_found_nowhere(quote: str) -> None:
    assert locate(quote, material()) is None


def test_a_short_quote_counts_as_a_whole_line_only() -> None:
    assert locate("42", material(sum="x\n 42 \n")) is not None
    assert locate("42", material(sum="it is 142")) is None


def test_the_named_place_comes_first_and_another_is_found_too() -> None:
    both = material(a="same words here", b="same words here")
    assert locate("same words here", both, "b.md").piece.name == "outputs/b.md"  # type: ignore[union-attr]
    assert locate("same words here", both, "nowhere.md").piece.name == "outputs/a.md"  # type: ignore[union-attr]


@given(st.text(alphabet="ab \n", min_size=4, max_size=300), st.data())
def test_every_part_of_a_text_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : data.draw(st.integers(start + 1, len(text)))]
    if sum(not letter.isspace() for letter in quote) >= 4:
        assert locate(quote, material(report=text)) is not None


def test_absence_is_searched_again() -> None:
    assert absence_fault(["invoice"], ["outputs/report.md"], material()) is None
    assert "line 4" in (absence_fault(["not   PAID"], ["report.md"], material()) or "")
    assert "was not shown" in (absence_fault(["x"], ["secret.md"], material()) or "")
    assert absence_fault([], ["report.md"], material()) and absence_fault(["x"], [], material())


def test_the_fence_is_in_no_text() -> None:
    first = fence_for("a", "b")
    assert first == fence_for("a", "b") != fence_for("a", "c")
    assert fence_for("a", first) not in first
