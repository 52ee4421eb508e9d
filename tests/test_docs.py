"""The docs are held to the code: generated pages, every `assay …` line, settings, links, words, tone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from skill_assay.cli.main import COMMANDS, assay
from skill_assay.errors import FailureKind
from skill_assay.formats.dialect import CRITERIA_KEYS, EVAL_ALIASES, EVAL_KEYS
from skill_assay.formats.settings import SETTINGS, THRESHOLDS
from tools.doctor_tests import ALL_FAULTS
from tools.make_reference import MEANINGS, root

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^ *```[a-z]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(assay [^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OWN_KEYS = EVAL_KEYS - {name for names in EVAL_ALIASES.values() for name in names} - set(CRITERIA_KEYS)
INSTEAD_OF = {
    r"test cases?": "eval",
    r"scenarios?": "eval",
    r"assertions?(?! on absolute time)": "expectation",
    r"rollouts?": "trial",
    r"experiments?": "iteration",
    r"LLM-as-a?-?judge": "judge",
    r"harness": "Skill Assay",
}
"""Words the docs could use for what has a word of its own."""


def prose(path: Path) -> str:
    """The page without code, which has the names of files and programs."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))


def command_lines() -> Iterator[tuple[Path, str]]:
    for path in PAGES:
        if path.name == "commands.md":
            continue
        text = path.read_text(encoding="utf-8")
        blocks = [line.strip().removeprefix("$ ") for block in FENCE.findall(text) for line in block.splitlines()]
        for line in [*blocks, *INLINE.findall(text)]:
            if line.startswith("assay "):
                yield path, line


def parse(line: str) -> None:
    """Let the command's own parser read the line; values are not looked at, since places in docs do not exist."""
    words = shlex.split(line, comments=True)[1:]
    with root() as context:
        if words[0].startswith("-"):
            assay.make_parser(context).parse_args(words)
            return
        command = assay.get_command(context, words[0])
        assert command is not None, f"there is no command {words[0]}"
        with click.Context(command, parent=context, info_name=words[0]) as inner:
            command.make_parser(inner).parse_args(words[1:])


def test_every_documented_line_parses() -> None:
    lines = list(command_lines())
    assert len(lines) > 10
    for path, line in lines:
        try:
            parse(line)
        except (click.UsageError, ValueError) as error:
            pytest.fail(f"{path.relative_to(ROOT)}: {line}: {error}")


def test_a_wrong_line_would_be_seen() -> None:
    with pytest.raises(click.NoSuchOption):
        parse("assay run path/to/skill --no-such-option")
    with pytest.raises(AssertionError, match="no command"):
        parse("assay no-such-command")


def test_generated_pages_are_what_the_code_says() -> None:
    """Help texts, exit codes and the failure table. A process of its own: click remembers how a command was asked."""
    program = ROOT / "tools" / "make_reference.py"
    checked = subprocess.run([sys.executable, program, "--check"], capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, f"run make docs, and read what changed: {checked.stdout}{checked.stderr}"


def test_every_failure_has_a_meaning() -> None:
    assert set(MEANINGS) == set(FailureKind)


def test_every_command_has_help_and_every_option_a_sentence() -> None:
    silent = []
    with root() as context:
        for name in COMMANDS:
            command = assay.get_command(context, name)
            assert command is not None and command.help, name
            options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
            silent += [f"{name} {option.opts[0]}" for option in options if not option.help]
    assert not silent, f"no help text: {silent}"


def table_rows(path: Path) -> list[list[str]]:
    """The cells of the page's first table, without its head."""
    table = re.search(r"(?:^\|.*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert table is not None, path
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table[0].splitlines()[2:]]


def test_every_setting_and_threshold_is_documented() -> None:
    page = ROOT / "docs" / "reference" / "configuration.md"
    keys = [key.strip("` ") for row in table_rows(page) for key in row[0].split(",")]
    assert sorted(keys) == sorted([*SETTINGS, "thresholds"])
    named = set(re.findall(r"`(\w+)`", page.read_text(encoding="utf-8").split("## Thresholds")[1]))
    assert named == set(THRESHOLDS)


def test_every_key_of_an_eval_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "reference" / "evals.md").read_text(encoding="utf-8")))
    assert {*EVAL_ALIASES, "expectations", *OWN_KEYS} <= documented


def test_the_faults_page_has_every_number_once() -> None:
    rows = table_rows(ROOT / "docs" / "explanation" / "faults.md")
    assert [int(row[0]) for row in rows] == sorted(ALL_FAULTS)


def test_links_lead_somewhere() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in PAGES
        for target in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8")))
        if "://" not in target and not (path.parent / target.split("#")[0]).exists()
    ]
    assert not broken, broken


def test_every_page_can_be_found_from_the_start() -> None:
    found, waiting = set[Path](), [ROOT / "docs" / "start.md"]
    while waiting:
        page = waiting.pop()
        if page not in found and page.suffix == ".md":
            found.add(page)
            targets = LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
            waiting += [(page.parent / target.split("#")[0]).resolve() for target in targets if "://" not in target]
    lost = [path.name for path in PAGES if path not in found and path.parent != ROOT]
    assert not lost, f"link these from docs/start.md: {lost}"


def test_glossary_words_are_used_and_no_others() -> None:
    glossary = ROOT / "docs" / "glossary.md"
    words = [row[0] for row in table_rows(glossary)]
    assert len(words) == len(set(words)) > 20
    other = [
        f"{path.relative_to(ROOT)}: {match.group()!r} (say {word})"
        for path in PAGES
        if path != glossary
        for pattern, word in INSTEAD_OF.items()
        for match in re.finditer(rf"\b{pattern}\b", prose(path), re.IGNORECASE)
    ]
    assert not other, other


def test_the_tone_is_plain() -> None:
    loud = [
        f"{path.relative_to(ROOT)}: {match.group()!r}"
        for path in PAGES
        for match in re.finditer(
            r"\w+!(?!\[)|\bsuccessful(ly)?\b", re.sub(r"<!--.*?-->", "", prose(path)), re.IGNORECASE
        )
    ]
    assert not loud, loud
