"""The page of agents and models measured together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skill_assay.model.suite import Member, Suite
from skill_assay.model.trial import Arm
from skill_assay.viewer.security import CSP
from skill_assay.viewer.site import Site
from skill_assay.viewer.static import Budget, static_page
from skill_assay.workspace.resolve import resolve_place
from skill_assay.workspace.store import Workspace
from tests.made import made_iteration, made_plan, made_trial
from tests.viewer.small import client_of, site_of, small_iteration

EVALS = tuple(f"e{number}" for number in range(1, 7))


def measured(tmp_path: Path, agents: tuple[str, ...] = ("codex", "pi")) -> Site:
    """A workspace whose iterations are the members of one suite; the second costs ten times the first."""
    members = []
    for number, agent in enumerate(agents, 1):
        arms = (
            Arm("with_skill", "primary", agent, "m", skill=Path("skill")),
            Arm("without_skill", "baseline", agent, "m"),
        )
        trials = [
            replace(made_trial(name, arm.name, 1, "pp" if arm.skill else "pf", used=arm.skill is not None))
            for name in EVALS
            for arm in arms
        ]
        made_iteration(tmp_path, made_plan(EVALS, 1, arms), trials)
        members.append(Member(agent, "m", iteration=number))
    workspace = Workspace(tmp_path / "pdf-workspace")
    workspace.write_suites([Suite(tuple(members), 42, "2026-01-01T00:00:00Z")])
    return Site.of(resolve_place(workspace.path))


def test_the_overview_leads_to_it_and_it_leads_to_every_member(tmp_path: Path) -> None:
    client = client_of(measured(tmp_path))
    assert client.get("/i/iteration-2/overview").text.count('href="/i/iteration-2/suite"') == 2, "a tab, and a line"
    page = client.get("/i/iteration-2/suite")
    assert page.status_code == 200 and page.headers["content-security-policy"] == CSP
    assert "codex/m" in page.text and "pi/m" in page.text and "better in 2" in page.text
    assert '<a href="/i/iteration-1/overview">1</a>' in page.text
    assert 'src="/i/iteration-2/plot/suite.svg"' in page.text
    drawn = client.get("/i/iteration-2/plot/suite.svg")
    assert drawn.headers["content-type"] == "image/svg+xml" and "sandbox" in drawn.headers["content-security-policy"]
    assert "codex/m" in drawn.text
    assert client.get("/i/iteration-2/plot/rivals.svg").status_code == 404, "nothing says which is cheaper"


def test_what_a_record_says_is_text_and_never_markup(tmp_path: Path) -> None:
    name = "<img src=x onerror=go()>\u202e"
    client = client_of(measured(tmp_path, (name, "pi")))
    page = client.get("/i/iteration-1/suite").text
    assert "<img src=x" not in page and "&lt;img src=x" in page and "\u202e" not in page
    assert "<img src=x" not in client.get("/i/iteration-1/plot/suite.svg").text


def test_a_member_without_a_trial_is_told(tmp_path: Path) -> None:
    site = measured(tmp_path)
    workspace = Workspace(tmp_path / "pdf-workspace")
    (suite,) = workspace.suites()
    lost = Member("gone", "m", iteration=99, reason="the budget of the suite is reached")
    workspace.write_suites([replace(suite, members=(*suite.members, Member("later"), lost))])
    page = client_of(site).get("/i/iteration-1/suite").text
    assert "Not measured: later (not run yet)" in page and "the budget of the suite is reached" in page
    assert "iteration-99" not in page


@pytest.mark.parametrize("record", [None, "{", '{"schema_version": 1, "suites": []}'])
def test_without_a_suite_that_can_be_read_nothing_leads_there(tmp_path: Path, record: str | None) -> None:
    iteration = small_iteration(tmp_path)
    if record is not None:
        (iteration.path.parent / "suite.json").write_text(record, encoding="utf-8")
    client = client_of(site_of(iteration))
    assert "/suite" not in client.get("/i/iteration-1/overview").text
    assert client.get("/i/iteration-1/suite").status_code == 404
    assert client.get("/i/iteration-1/plot/suite.svg").status_code == 404


def test_one_file_has_no_link_to_it(tmp_path: Path) -> None:
    site = measured(tmp_path)
    text, _ = static_page(site, site.open("iteration-1"), Budget())
    assert "Agents and models beside each other" not in text and 'href="#/suite"' not in text
