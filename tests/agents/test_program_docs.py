"""The pages on other programs and on the simulated agent name what the code knows, and their examples work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from skill_assay.agents.command import PLACEHOLDERS
from skill_assay.agents.event_lines import _EVENTS, ProgramParser
from skill_assay.agents.simulated_script import _ARM_DEFAULTS, _FIELDS, _RULE, load_script

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = (DOCS / "how-to" / "other-programs.md").read_text(encoding="utf-8")
SIMULATED = (DOCS / "reference" / "simulated-agent.md").read_text(encoding="utf-8")


def block(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def test_every_placeholder_is_documented() -> None:
    assert set(re.findall(r"^\| `\{(\w+)\}` \|", PROGRAMS, re.MULTILINE)) == set(PLACEHOLDERS)


def test_every_type_of_line_is_documented() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PROGRAMS, re.MULTILINE))
    assert rows - {"type"} == {*_EVENTS, "usage", "error", "finished"}


def test_the_documented_agent_works(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Count these words.", encoding="utf-8")
    command = [sys.executable, "-I", "-c", block(PROGRAMS, "python"), "prompt.md"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    parser = ProgramParser()
    events = [event for line in done.stdout.splitlines() for event in parser.feed(line)]
    finished = parser.end(done.returncode, "")
    assert len(events) == 3
    assert finished.answer == "The report is written."
    assert finished.usage.cost_usd == 0.004
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == "The task has 3 words.\n"


def test_the_documented_first_line_is_one() -> None:
    (event,) = ProgramParser().feed(block(PROGRAMS, "json").strip().encode())
    assert event is not None
    assert type(event).__name__ == "Started"


def test_every_key_of_a_script_is_documented() -> None:
    keys: set[str] = set()
    for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", SIMULATED, re.MULTILINE):
        keys.update(re.findall(r"`(\w+)`", row))
    assert keys == {*_FIELDS, *_RULE, "simulated"}
    for name in _ARM_DEFAULTS:
        assert f"`{name}`" in SIMULATED


def test_the_documented_script_is_one(tmp_path: Path) -> None:
    text = block(SIMULATED, "json")
    (tmp_path / "simulated.json").write_text(text, encoding="utf-8")
    script = load_script(tmp_path / "simulated.json")
    assert set(script.evals) == set(json.loads(text)["evals"])
