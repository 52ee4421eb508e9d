"""What a judge is shown besides text: pictures, documents, and files it reads itself."""

from __future__ import annotations

import io
import os
import signal
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.errors import Failure, FailureKind
from skill_assay.graders import documents, material
from skill_assay.graders.documents import document_text
from skill_assay.graders.material import Material, gather_material
from skill_assay.graders.outputs import Unreadable
from skill_assay.graders.pictures import MOST_BYTES, MOST_PICTURES
from skill_assay.llm.scripted_judge import asked, judge_reply
from skill_assay.model.evals import Expectation
from tests.graders.conftest import Desk
from tests.graders.test_judge import GOOD, Court, scripted

PNG = b"\x89PNG\r\n\x1a\n\0\0"


def gathered(desk: Desk, *names: str, **more: Any) -> Material:
    async def run() -> Material:
        return await gather_material("Done.", names, desk.outputs, **more)

    return anyio.run(run)


def docx(text: str) -> bytes:
    """The least that is a Word document."""
    names = "http://schemas.openxmlformats.org"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{names}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{names}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{names}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{names}/wordprocessingml/2006/main"><w:body><w:p><w:r>'
        f"<w:t>{text}</w:t></w:r></w:p></w:body></w:document>",
    }
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return into.getvalue()


def saved(document: Any) -> bytes:
    into = io.BytesIO()
    document.save(into)
    return into.getvalue()


def test_pictures_go_to_the_judge_as_pictures(desk: Desk) -> None:
    desk.file("plots/a.png", PNG).file("b.jpg", b"\xff\xd8\xff\xe0").says("Done.")
    court = Court(desk, scripted({GOOD: {"verdict": "pass", "source": "outputs/plots/a.png"}}), GOOD)
    [grade] = court.grades()
    attached = next(one for one in court.voice.attached if one.pictures)
    assert {(one.name, one.media_type, one.data) for one in attached.pictures} == {
        ("outputs/plots/a.png", "image/png", PNG),
        ("outputs/b.jpg", "image/jpeg", b"\xff\xd8\xff\xe0"),
    }
    names = [line for line in court.questions[0].splitlines() if line.startswith("outputs/")]
    assert names == [one.name for one in attached.pictures], "named in the order in which they are shown"
    assert grade.verified is None and [place.file for place in grade.places] == ["outputs/plots/a.png"]


def test_a_picture_that_was_not_shown_is_no_evidence(desk: Desk) -> None:
    desk.file("a.png", PNG).says("Done.")
    court = Court(desk, scripted({GOOD: {"verdict": "pass", "source": "a.png"}}), GOOD)
    court.voice.sees_pictures = False
    [grade] = court.grades()
    assert grade.decision == "ungraded" and not any(one.pictures for one in court.voice.attached)
    assert "a.png (is a picture, which this judge takes none of)" in court.questions[0]


def test_a_model_that_refuses_pictures_is_asked_without_them(desk: Desk) -> None:
    desk.file("a.png", PNG).file("report.md", "The total is 1,284 EUR.\n").says("Done.")
    said = {GOOD: {"verdict": "pass", "quote": "The total is 1,284 EUR.", "source": "report.md"}}

    def reply(prompt: str, _: Any) -> Any:
        if court.voice.attached[-1].pictures:
            return Failure(FailureKind.BAD_REQUEST, "this model takes no images")
        return judge_reply(prompt, said)

    court = Court(desk, reply, GOOD)
    [grade] = court.grades()
    assert grade.decision == "passed"
    assert [bool(one.pictures) for one in court.voice.attached if one is not court.voice.attached[0]] == [True, False]
    said_so = ["a.png (is a picture, which this judge takes none of)" in question for question in court.questions]
    assert said_so == [False, True]


def test_pictures_that_cannot_be_shown_are_listed_with_the_reason(desk: Desk) -> None:
    desk.file("false.png", b"<html>").file("huge.png", PNG + b"\0" * MOST_BYTES)
    many = [f"p{number:02}.png" for number in range(MOST_PICTURES + 1)]
    for name in many:
        desk.file(name, PNG)
    found = gathered(desk, "false.png", "huge.png", *many, pictures=True)
    assert len(found.pictures) == MOST_PICTURES
    assert found.hidden == (
        "false.png (is called a picture and is none that can be shown)",
        "huge.png (is a picture larger than 3.5 MB)",
        f"p08.png (is a picture beyond the first {MOST_PICTURES})",
    )


def test_what_was_too_large_to_keep_is_named_to_the_judge(desk: Desk) -> None:
    found = gathered(desk, omitted={"video.mp4": 9_000_000})
    assert found.hidden == ("video.mp4 (9,000,000 bytes, not kept)",)
    listed = found.piece("list of files")
    assert listed is not None and "video.mp4" in listed.text, "so that nobody can claim that it is not there"


@pytest.mark.slow
def test_a_quote_from_a_document_is_found_in_its_text(desk: Desk) -> None:
    pytest.importorskip("markitdown", reason="the extra `documents` is not installed")
    desk.file("report.docx", docx("The total is 1,284 EUR.")).says("Done.")
    said = {GOOD: {"verdict": "pass", "quote": "The total is 1,284 EUR.", "source": "report.docx"}}
    [grade] = Court(desk, scripted(said), GOOD).grades()
    assert (grade.decision, grade.verified) == ("passed", True)
    assert [(place.file, place.line) for place in grade.places] == [("outputs/report.docx", None)]


@pytest.mark.slow
def test_a_document_is_turned_into_text_once_a_trial(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("markitdown", reason="the extra `documents` is not installed")
    turned: list[str] = []

    async def counted(outputs: Path, name: str) -> str:
        turned.append(name)
        return await document_text(outputs, name)

    monkeypatch.setattr(material, "document_text", counted)
    desk.file("report.docx", docx("The total is 1,284 EUR.")).says("Done.")
    court = Court(desk, scripted({}), Expectation(GOOD, about="outcome"), Expectation("It looked.", about="process"))
    court.grades()
    told = [("1,284 EUR" in question, "## transcript" in question) for question in court.questions]
    assert told == [(True, False), (True, True)] and turned == ["report.docx"]


@pytest.mark.slow
def test_sheets_and_slides_are_text_too(desk: Desk) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="the extra `documents` is not installed")
    pptx = pytest.importorskip("pptx", reason="the extra `documents` is not installed")
    book, show = openpyxl.Workbook(), pptx.Presentation()
    book.active.append(["Lisbon", 1284])
    show.slides.add_slide(show.slide_layouts[0]).shapes.title.text = "Costs of Lisbon"
    desk.file("sums.xlsx", saved(book)).file("talk.pptx", saved(show))
    found = gathered(desk, "sums.xlsx", "talk.pptx")
    assert found.hidden == ()
    texts = {piece.name: piece.text for piece in found.pieces}
    assert "Lisbon | 1284" in texts["outputs/sums.xlsx"] and "Costs of Lisbon" in texts["outputs/talk.pptx"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.xlsx", "a.pptx"])
@pytest.mark.parametrize("content", [b"garbage", b"%PDF-1.4 garbage", b"PK\x03\x04 garbage", b""])
def test_a_document_that_cannot_be_opened_is_listed(desk: Desk, name: str, content: bytes) -> None:
    pytest.importorskip("markitdown", reason="the extra `documents` is not installed")
    desk.file(name, content)
    [hidden] = gathered(desk, name).hidden
    assert hidden.startswith(f"{name} (is a document ")


@pytest.mark.slow
def test_a_document_that_unpacks_to_too_much_is_not_opened(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the archive is unpacked: the sizes it declares are added up."""
    pytest.importorskip("markitdown", reason="the extra `documents` is not installed")
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"word/{number}.xml", b"\0" * 70_000_000)
    assert len(into.getvalue()) < 1_000_000
    desk.file("bomb.docx", into.getvalue())
    with pytest.raises(Unreadable, match="can't be opened"):
        anyio.run(document_text, desk.outputs, "bomb.docx")


def test_a_document_that_kills_its_converter_is_listed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("markitdown", reason="the extra `documents` is not installed")
    monkeypatch.setattr(documents, "_converted", killed)
    desk.file("greedy.docx", docx("x")).file("report.md", "Here.\n")
    found = gathered(desk, "greedy.docx", "report.md")
    assert found.hidden == (
        "greedy.docx (can't be turned into text: the process it ran in ended, perhaps for want of memory)",
    )
    assert found.piece("report.md") is not None


def killed(data: bytes, ending: str) -> str:
    """As the system ends a process that takes all memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def test_without_the_extra_a_document_says_how_to_have_it_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "find_spec", lambda _: None)
    desk.file("a.pdf", b"%PDF-1.4")
    [hidden] = gathered(desk, "a.pdf").hidden
    assert "pip install 'skill-assay[documents]'" in hidden


def test_a_judge_that_looks_for_itself_gets_files_and_no_arm(desk: Desk) -> None:
    desk.file("a/report.md", "The total is 1,284 EUR.\n").file("plot.png", PNG).says("I wrote the report with totals.")
    said = {GOOD: {"verdict": "pass", "quote": "The total is 1,284 EUR.", "source": "outputs/a/report.md"}}

    def reads(prompt: str, _: Any) -> Any:
        # It knows the answer and the files only by reading what is attached.
        files: Mapping[str, bytes] = court.voice.attached[-1].files
        data = "\n".join(content.decode("utf-8", "replace") for content in files.values())
        found = judge_reply(prompt, said)
        if "verdicts" in found:
            for row in found["verdicts"]:
                quoted = asked(prompt)[row["id"]].split('"')
                if len(quoted) > 1:
                    there = quoted[1] in data
                    row |= {"verdict": "pass" if there else "fail", "quote": quoted[1] if there else None}
        return found

    court = Court(desk, reads, GOOD)
    court.grader.mode = "agent"
    [grade] = court.grades()
    assert (grade.decision, grade.verified) == ("passed", True), grade.evidence
    files = next(one.files for one in court.voice.attached if one.files)
    assert set(files) == {"answer.md", "outputs/a/report.md", "outputs/plot.png"}
    assert "The total is" not in court.questions[0] and "outputs/a/report.md" in court.questions[0]
    assert not any("skill" in name for name in files)


def test_the_transcript_is_a_file_only_where_the_process_is_judged(desk: Desk) -> None:
    desk.says("Done as asked.")
    found = gathered(desk).with_transcript("Read: a.csv")
    assert found.files.files["transcript.md"] == b"Read: a.csv"
    assert "transcript.md" not in gathered(desk).files.files
