"""The built-in agent's tools stay in the working directory, hand on no credential, and give back a bounded text."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.api_skills import LISTING, Installed, catalogue, find_skills, opened
from skill_assay.agents.api_tools import TOOLS, Toolbox


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def box(work: Path, *skills: Installed) -> Toolbox:
    return Toolbox(work, skills, {"PATH": os.environ["PATH"]})


def ok(work: Path, tool: str, **given: Any) -> str:
    text, failed = box(work).call(tool, given)
    assert not failed, text
    return text


def refused(work: Path, tool: str, **given: Any) -> str:
    text, failed = box(work).call(tool, given)
    assert failed, text
    return text


def test_a_file_is_written_read_edited_and_listed(work: Path) -> None:
    ok(work, "write", path="notes/a.md", content="one\r\ntwo\r\nthree")
    assert (work / "notes" / "a.md").read_bytes() == b"one\r\ntwo\r\nthree"
    assert ok(work, "read", path="notes/a.md") == "one\ntwo\nthree"
    assert ok(work, "read", path="notes/a.md", offset=2, limit=1) == "two\n[1 more lines; read on with offset=3]"
    ok(work, "edit", path="notes/a.md", old="two", new="2")
    assert (work / "notes" / "a.md").read_bytes() == b"one\r\n2\r\nthree"
    assert ok(work, "list") == "notes/"
    assert ok(work, "list", path="notes") == "a.md"
    assert ok(work, "read", path=str(work / "notes" / "a.md")).startswith("one")


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "folder/secret", "a/../../secret", "~/../x\0y"])
@pytest.mark.parametrize("tool", ["read", "write", "edit", "list"])
def test_nothing_outside_is_reached(work: Path, tool: str, path: str) -> None:
    (work.parent / "secret").write_text("SECRET", encoding="utf-8")
    (work / "link").symlink_to(work.parent / "secret")
    (work / "folder").symlink_to(work.parent)
    said = refused(work, tool, path=path, content="x", old="SECRET", new="x")
    assert "SECRET" not in said
    assert (work.parent / "secret").read_text(encoding="utf-8") == "SECRET"


def test_a_link_within_is_followed(work: Path) -> None:
    (work / "a").write_text("A", encoding="utf-8")
    (work / "b").symlink_to("a")
    assert ok(work, "read", path="b") == "A"


def test_what_is_no_text_file_is_named(work: Path) -> None:
    (work / "picture").write_bytes(b"\x89PNG\0\0")
    os.mkfifo(work / "pipe")
    assert "no text" in refused(work, "read", path="picture")
    assert "no file" in refused(work, "read", path="pipe")
    assert "no file" in refused(work, "write", path="pipe", content="x")
    assert "folder" in refused(work, "read", path=".")
    assert "There is no file" in refused(work, "read", path="nothing")


def test_an_edit_must_name_one_place(work: Path) -> None:
    (work / "a").write_text("x x", encoding="utf-8")
    assert "2 times" in refused(work, "edit", path="a", old="x", new="y")
    assert "not in" in refused(work, "edit", path="a", old="z", new="y")
    assert "not in" in refused(work, "edit", path="a", old="", new="y")
    assert ok(work, "edit", path="a", old="x", new="y", all=True) == "Replaced 2 pieces in a"
    assert (work / "a").read_text(encoding="utf-8") == "y y"


def test_a_file_of_crlf_lines_is_edited_as_it_is_read_and_stays_so(work: Path) -> None:
    (work / "a").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    ok(work, "edit", path="a", old="one\ntwo", new="1\n2")
    assert (work / "a").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_bytes_that_are_no_utf_8_survive_an_edit(work: Path) -> None:
    (work / "a").write_bytes(b"caf\xe9 au lait")
    assert ok(work, "read", path="a") == "caf\ufffd au lait"
    ok(work, "edit", path="a", old="au lait", new="noir")
    assert (work / "a").read_bytes() == b"caf\xe9 noir"


def test_whatever_is_given_back_can_be_sent(work: Path) -> None:
    (work / os.fsdecode(b"caf\xe9")).touch()
    assert ok(work, "list") == "caf?"
    assert "\ud800" not in refused(work, "read", path="\ud800")


def test_results_are_bounded(work: Path) -> None:
    (work / "long").write_text("word " * 100_000, encoding="utf-8")
    (work / "many").write_text("line\n" * 100_000, encoding="utf-8")
    for number in range(1200):
        (work / f"file{number}").touch()
    assert "more characters]" in ok(work, "read", path="long")
    assert "98000 more lines" in ok(work, "read", path="many", limit=10**9)
    assert "[202 more]" in ok(work, "list")
    printed = ok(work, "bash", command="echo BEGIN; yes | head -c 3000000; echo END")
    assert len(printed) < 50_000 and printed.startswith("BEGIN") and printed.endswith("END") and "left out" in printed


def test_a_command_tells_its_exit_code_and_both_streams(work: Path) -> None:
    said = refused(work, "bash", command="echo out; echo err >&2; exit 3")
    assert said == "out\nerr\n[exit code 3]"
    assert ok(work, "bash", command="pwd") == str(work)
    assert ok(work, "bash", command="true") == "[no output]"
    assert ok(work, "bash", command="cat") == "[no output]"


@pytest.mark.slow
def test_a_command_that_goes_on_is_ended(work: Path) -> None:
    said = refused(work, "bash", command="echo begun; sleep 60", timeout=1)
    assert said == "begun\n[ended after 1 seconds]"
    assert "left out" in refused(work, "bash", command="yes", timeout=1)


@pytest.mark.parametrize("background", ["sleep 60", "yes", "setsid sleep 60", "sh -c 'trap : TERM HUP; sleep 60'"])
def test_what_holds_the_output_open_in_the_background_is_not_waited_for(work: Path, background: str) -> None:
    began = time.monotonic()
    said = ok(work, "bash", command=f"echo begun; {background} & echo $! > pid; exit 0", timeout=50)
    waited = time.monotonic() - began
    os.kill(int((work / "pid").read_text(encoding="utf-8")), signal.SIGKILL)
    assert "begun" in said
    assert waited < 30


def test_what_goes_on_in_the_background_can_print_on(work: Path) -> None:
    command = "(sleep 0.2; for i in $(seq 40000); do echo a line of it; done; touch done) & true"
    tools = box(work)
    assert tools.call("bash", {"command": command}) == ("[no output]", False)
    assert tools.call("bash", {"command": "until [ -e done ]; do sleep 0.05; done", "timeout": 30})[1] is False


def test_all_a_command_printed_is_there_when_it_has_ended(work: Path) -> None:
    said = ok(work, "bash", command="sleep 60 & seq 6000; kill $!")
    assert said.splitlines() == [str(number) for number in range(1, 6001)]


def test_a_command_sees_the_environment_it_is_handed(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in ok(work, "bash", command="env")


@pytest.mark.parametrize(
    ("tool", "given"),
    [("read", {}), ("read", {"path": 3}), ("bash", {"command": None}), ("skill", {}), ("nothing", {})],
)
def test_a_call_of_another_form_is_refused(work: Path, tool: str, given: dict[str, Any]) -> None:
    assert box(work).call(tool, given)[1]


def test_every_tool_that_is_told_can_be_called(work: Path) -> None:
    for name, about, schema in TOOLS:
        assert about and schema["type"] == "object"
        assert "Unknown tool" not in box(work).call(name, {})[0]


def skill(work: Path, folder: str, text: str, **files: str) -> None:
    place = work / ".agents" / "skills" / folder
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (place / name).write_text(content, encoding="utf-8")


def test_a_skill_is_a_line_then_a_text_then_its_files(work: Path) -> None:
    skill(work, "sing", "---\nname: sing\ndescription: >\n  Sings\n  songs.\n---\nSing LOUD.\n", notes="do re mi")
    skill(work, "broken", "no frontmatter")
    skills = find_skills(work)
    assert catalogue(skills) == "### Available skills\n\n- sing: Sings songs."
    text = opened(skills, "/sing")
    assert "Sing LOUD." in text and "description" not in text and "- .agents/skills/sing/notes" in text
    assert box(work, *skills).call("skill", {"name": "sing"}) == (text, False)
    said, failed = box(work, *skills).call("skill", {"name": "dance"})
    assert failed and said == "Unknown skill: dance (there is: sing)"
    assert ok(work, "read", path=".agents/skills/sing/notes") == "do re mi"


def test_without_a_skill_the_catalogue_says_so() -> None:
    assert catalogue([]) == "No skills are installed."


def test_long_descriptions_are_cut_and_the_last_ones_left_out() -> None:
    many = [Installed(f"s{number:02}", f"s{number:02}", "word " * 1000, "", ()) for number in range(30)]
    lines = catalogue(many).splitlines()[2:]
    assert all(len(line) <= LISTING[0] + 10 for line in lines)
    assert lines[0].startswith("- s00: word") and lines[-1] == "- s29"
