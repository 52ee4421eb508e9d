"""A page that is open while a run goes on: it follows, and knows when there is nothing left to follow."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skill_assay.viewer.overview import going_on, live_state
from skill_assay.workspace.journal import Journal
from skill_assay.workspace.store import Iteration
from tests.made import made_eval, made_iteration, made_plan, made_trial
from tests.viewer.browser import Watched, running, until
from tests.viewer.small import client_of, site_of

ARMS = ("with_skill", "without_skill")


class Run:
    """A run of which the test says what happens."""

    def __init__(self, tmp_path: Path) -> None:
        self.iteration: Iteration = made_iteration(tmp_path, made_plan(trials=3), [made_trial(arm=arm) for arm in ARMS])
        self.journal = Journal(self.iteration.journal_path(), self.iteration.writer)
        self.journal.write("run_began", trials=6, mode="new")
        for arm in ARMS:
            self._state(arm, 1, "completed")

    def _state(self, arm: str, repeat: int, state: str) -> None:
        self.journal.write("trial_state", trial=f"dates/{arm}/{repeat}", state=state)

    def does(self, repeat: int, marks: str = "pp") -> None:
        for arm in ARMS:
            self._state(arm, repeat, "running")
            self.iteration.record(made_trial(arm=arm, repeat=repeat, marks=marks), made_eval())
            self._state(arm, repeat, "completed")

    def ends(self) -> None:
        self.journal.write("run_ended", ending="done", reason="")
        self.journal.close()


@pytest.mark.browser
@pytest.mark.slow
def test_the_matrix_and_the_overview_follow_without_a_reload(tmp_path: Path, watched: Watched) -> None:
    run, page = Run(tmp_path), watched.page
    overview = page.context.new_page()
    overview.set_default_timeout(60_000)
    with running(site_of(run.iteration)) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/evals")
        overview.goto(f"{viewer.base}/overview")
        for one in (page, overview):
            one.evaluate("window.same = true")
        assert page.locator("a.cell").count() == 2 and page.locator(".cell.s-missing").count() == 4
        overview.get_by_text("4 planned trials not run yet").wait_for()
        run.does(2)
        page.locator("#live", has_text="4 of 6 trials").wait_for()
        until(lambda: page.locator("a.cell").count() == 4, "the cells of both trials are there")
        overview.get_by_text("2 planned trials not run yet").wait_for()
        run.does(3, "ff")
        until(lambda: page.locator("a.cell").count() == 6, "the cells of both trials are there")
        run.ends()
        for one in (page, overview):
            one.get_by_text("The run has ended").wait_for()
            until(lambda one=one: "not run yet" not in one.locator("#main").inner_text(), "all of it is there")
            assert one.evaluate("window.same") is True
        page.keyboard.press("w")
        page.wait_for_url("**/trial/eval-dates-with_skill-run-3")
        page.reload()
        assert page.locator("#live").count() == 0
    assert watched.errors == []


@pytest.mark.browser
@pytest.mark.slow
def test_a_page_without_its_viewer_asks_a_few_times_and_says_so(tmp_path: Path, watched: Watched) -> None:
    run, page = Run(tmp_path), watched.page
    with running(site_of(run.iteration)) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/evals")
        page.locator("#live", has_text="2 of 6 trials").wait_for()
        port = viewer.door.port
        page.clock.install()
    page.locator("#live", has_text="does not answer").wait_for()

    def gave_up() -> bool:
        page.clock.fast_forward(31_000)
        return bool(page.locator("#live", has_text="reload this page").count())

    until(gave_up, "it stops asking")
    asked = len(watched.requests)
    page.clock.fast_forward(600_000)
    page.wait_for_timeout(300)
    assert len(watched.requests) == asked
    assert sum(url.endswith("viewer.css") for url in watched.requests) <= 10
    with running(site_of(run.iteration), port) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/evals")
        page.locator("#live", has_text="2 of 6 trials").wait_for()
    run.journal.close()
    assert watched.errors == []


@pytest.mark.browser
@pytest.mark.slow
def test_a_viewer_started_anew_is_told_apart_from_one_that_is_gone(tmp_path: Path, watched: Watched) -> None:
    run, page = Run(tmp_path), watched.page
    with running(site_of(run.iteration)) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/evals")
        page.locator("#live", has_text="2 of 6 trials").wait_for()
        port = viewer.door.port
    with running(site_of(run.iteration), port):
        page.locator("#live", has_text="open the address that it printed").wait_for()
    run.journal.close()
    assert watched.errors == []


def holder(run: Run, pid: Any, host: str | None = None) -> None:
    facts = {"pid": pid, "host": host or socket.gethostname(), "since": "2026-01-01"}
    run.iteration.lock_path().write_text(json.dumps(facts), encoding="utf-8")


def test_a_run_that_was_killed_is_not_awaited_for_ever(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.journal.write("trial_state", trial="dates/with_skill/2", state="running")
    run.journal.close()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    holder(run, child.pid)
    state = live_state(run.iteration)
    assert state is not None and (state.going, state.cut_off, state.done, state.running) == (False, True, 2, 0)
    page = client_of(site_of(run.iteration)).get("/i/iteration-1/evals").text
    assert "cut off after 2 of 6 trials" in page and 'id="live"' not in page
    assert '"cut_off": true' in client_of(site_of(run.iteration)).get("/i/iteration-1/live").text


@pytest.mark.parametrize(
    ("pid", "host"),
    [("ours", None), (2**22 + 1, "another machine"), ("x", None), (None, None)],
)
def test_who_may_be_alive_is_awaited(tmp_path: Path, pid: Any, host: str | None) -> None:
    run = Run(tmp_path)
    run.journal.close()
    holder(run, os.getpid() if pid == "ours" else pid, host)
    state = live_state(run.iteration)
    assert state is not None and state.going and not state.cut_off


def test_a_page_of_a_run_that_ended_does_not_read_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(tmp_path)
    run.does(2)
    assert going_on(run.iteration) is not None
    run.ends()
    monkeypatch.setattr("skill_assay.viewer.overview.replay", lambda _: pytest.fail("it was read"))
    assert going_on(run.iteration) is None


def test_a_journal_that_grew_is_read_again(tmp_path: Path) -> None:
    run = Run(tmp_path)
    before = live_state(run.iteration)
    run.does(2)
    after = live_state(run.iteration)
    run.journal.close()
    assert before is not None and after is not None and (before.done, after.done) == (2, 4)
