from __future__ import annotations

from skill_assay.reports.table import aligned, piped

ROWS = [("eval", "rate"), ("dates", "5%"), ("r", "100%")]


def test_columns_stand_below_each_other_and_no_line_ends_in_blanks() -> None:
    assert aligned(ROWS, indent="  ", right=(1,)) == ["  eval   rate", "  dates    5%", "  r      100%"]
    assert aligned([("a", "bb"), ("cc", "")]) == ["a   bb", "cc"]
    assert aligned([]) == []


def test_a_cell_is_text_and_never_markup() -> None:
    assert piped(ROWS)[:2] == ["| eval | rate |", "|---|---|"]
    assert piped([("eval",), ("a|b <i>\n# c",)])[2] == "| a\\|b \\<i\\> \\# c |"
    assert piped([]) == []
