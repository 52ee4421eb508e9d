"""Workbooks as tables, and what a hostile or broken one comes to."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.viewer.outputs import Caps, read_outputs
from skill_assay.viewer.sheets import Unreadable, read_book
from tests.viewer.small import client_of, site_of, small_iteration, write

RUN = "eval-e1-with_skill-run-1"


def workbook(**sheets: Sequence[Sequence[Any]]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def with_part(data: bytes, name: str, content: bytes) -> bytes:
    """The archive with one part replaced."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return file.getvalue()


def sheet_xml(rows: str) -> bytes:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'.encode()


def test_each_sheet_is_a_table_of_its_values() -> None:
    day = datetime.datetime(2024, 5, 6)
    rows = [["day", "sum", "paid"], [day, 12.50, True], [day.replace(hour=7), 0.1 + 0.2, None]]
    first, second = read_book(workbook(Costs=rows, Empty=[])).sheets
    assert first.rows == [
        ["day", "sum", "paid"],
        ["2024-05-06", "12.5", "TRUE"],
        ["2024-05-06 07:00:00", "0.3", ""],
    ]
    assert (first.name, first.notes) == ("Costs", ())
    assert (second.name, second.rows) == ("Empty", [])


def test_a_formula_shows_what_it_last_came_to_else_itself() -> None:
    cells = '<c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>1+2</f></c>'
    data = with_part(workbook(S=[["x"]]), "xl/worksheets/sheet1.xml", sheet_xml(f'<row r="1">{cells}</row>'))
    (sheet,) = read_book(data).sheets
    assert sheet.rows == [["2", "=1+2"]]
    assert sheet.notes == (
        "1 cell with a formula: shown is the value it last came to",
        "1 cell with a formula that was never computed: shown is the formula",
    )


def test_rows_columns_sheets_and_text_are_cut_and_said() -> None:
    wide = [[f"{row}.{column}" for column in range(60)] for row in range(300)]
    book = read_book(workbook(Wide=wide, **{f"S{n}": [[n]] for n in range(15)}))
    assert (len(book.sheets[0].rows), len(book.sheets[0].rows[0])) == (201, 50)
    assert book.sheets[0].notes == ("cut after 200 rows", "cut after 50 columns")
    assert len(book.sheets) == 12 and book.left_out[0] == "S11: more than 12 sheets"
    (sheet,) = read_book(workbook(T=[["x" * 5000]] * 9), chars=3000).sheets
    assert (len(sheet.rows), len(sheet.rows[0][0])) == (3, 1001)
    assert sheet.notes == ("cut here, since it holds much text",)


def test_a_cell_at_the_far_end_makes_no_table_of_a_million_rows() -> None:
    cells = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    data = with_part(workbook(S=[["x"]]), "xl/worksheets/sheet1.xml", sheet_xml(cells))
    (sheet,) = read_book(data).sheets
    assert sheet.rows == [["1"]] and "cut after 200 rows" in sheet.notes


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/media/bomb.png"])
def test_a_bomb_is_refused_before_it_is_unpacked(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO(workbook(S=[["x"]]))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(part.replace("sheet1", "sheet9"), b" " * 30_000_000)
    assert len(file.getvalue()) < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("a part was unpacked"))
    with pytest.raises(Unreadable, match="would unpack to 30 MB"):
        read_book(file.getvalue())


def test_a_bomb_of_entities_is_refused() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>'.encode() + sheet_xml(
        '<row r="1"><c r="A1" t="str"><v>&e11;</v></c></row>'
    )
    with pytest.raises(Unreadable, match="can't be read as a workbook"):
        read_book(with_part(workbook(S=[["x"]]), "xl/worksheets/sheet1.xml", bomb))


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"<html>", b"\0" * 100])
def test_what_is_no_workbook_says_so(data: bytes) -> None:
    with pytest.raises(Unreadable, match="can't be read as a workbook"):
        read_book(data)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 255)), min_size=1, max_size=20))
def test_a_damaged_workbook_is_a_reason_and_nothing_worse(damage: list[tuple[int, int]]) -> None:
    data = bytearray(workbook(S=[["a", "b"], [1, "=A1"]]))
    for place, byte in damage:
        data[place % len(data)] = byte
    try:
        book = read_book(bytes(data))
    except Unreadable as reason:
        assert str(reason).startswith("it ")
    else:
        assert len(book.sheets) <= 12
        assert all(isinstance(cell, str) for sheet in book.sheets for row in sheet.rows for cell in row)


def test_the_page_shows_sheets_and_a_broken_one_is_a_download_with_a_note(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    files = {"good.xlsx": workbook(Costs=[["item", "<b>"], ["tea", 3]]), "bad.xlsx": b"PK\3\4nothing"}
    write(iteration.path / "eval-e1/with_skill/run-1/outputs", files)
    page = client_of(site_of(iteration)).get(f"/i/iteration-1/trial/{RUN}").text
    assert '<th scope="col">&lt;b&gt;</th>' in page and "<td>tea</td>" in page and "<h4>Costs</h4>" in page
    assert "Not shown: it can&#39;t be read as a workbook; download it" in page
    assert f"/file/{RUN}/outputs/bad.xlsx" in page


def test_a_run_full_of_workbooks_is_not_read_whole(tmp_path: Path) -> None:
    data = workbook(S=[["x"]])
    write(tmp_path / "outputs", {f"{n:02}.xlsx": data for n in range(10)})
    found = read_outputs(tmp_path, Caps()).files
    assert [one.kind for one in found] == ["workbook"] * 8 + ["binary"] * 2
    assert found[-1].note == "more than 8 workbooks here"
