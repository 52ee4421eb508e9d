"""Plots beside a page of Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from skill_assay.cli.benchmark import command
from tests.runner.small import run_small, settings, write_skill


def pictures(page: Path) -> dict[str, bytes]:
    """What the page links to, as it lies beside it."""
    return {
        place: (page.parent / unquote(place)).read_bytes()
        for place in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
def test_the_page_of_an_iteration_has_its_plots_and_the_trend_from_the_second_on(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    for _ in range(2):
        run_small(skill, tmp_path / "w", settings(trials=1))
    first, second = (tmp_path / "w" / f"iteration-{number}" for number in (1, 2))
    run(str(first))
    run(str(second))
    run(str(first))
    for place in (first, second):
        found = pictures(place / "benchmark.md")
        assert list(found) == ["benchmark-plots/forest.png", "benchmark-plots/trend.png"]
        assert all(data.startswith(b"\x89PNG") for data in found.values())


def test_a_page_in_a_file_has_its_plots_beside_it_and_one_on_the_terminal_links_to_nothing(tmp_path: Path) -> None:
    run_small(write_skill(tmp_path), tmp_path / "w", settings(trials=1))
    page = tmp_path / "out" / "my page.md"
    page.parent.mkdir()
    run(str(tmp_path / "w"), "--format", "markdown", "-o", str(page))
    assert list(pictures(page)) == ["my%20page-plots/forest.png"]
    assert "![" not in run(str(tmp_path / "w"), "--format", "markdown")
