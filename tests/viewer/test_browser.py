"""The pages in a real browser: keys, feedback that is never lost, nothing that runs, accessibility."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from skill_assay.viewer.site import Site, run_id_of
from skill_assay.viewer.static import Budget, write_static
from skill_assay.workspace.judgements import write_candidate
from skill_assay.workspace.resolve import resolve_place
from skill_assay.workspace.store import Iteration
from tests.viewer.browser import Watched, axe_source, running, until
from tests.viewer.hostile import hostile_iteration, hostile_place
from tests.viewer.small import site_of, small_iteration, write
from tests.viewer.test_sheets import workbook
from tests.viewer.test_triggers import MATRIX, QUERIES

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUN = "eval-e2-with_skill-run-1"


def test_the_worst_trial_in_two_keys_and_the_line_of_evidence_in_a_third(tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    with running(site_of(small_iteration(tmp_path))) as viewer:
        page.goto(viewer.door.url)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/trial/{RUN}")
        page.keyboard.press("e")
        flashed = page.locator(".flash")
        flashed.wait_for()
        assert "Total: 12" in flashed.inner_text()
        assert flashed.evaluate(
            "one => { const r = one.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; }"
        )
        assert watched.errors == []


def test_keys(tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    with running(site_of(small_iteration(tmp_path))) as viewer:
        page.goto(viewer.door.url)
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("Escape")
        page.locator("#help").wait_for(state="hidden")
        page.keyboard.press("w")
        page.wait_for_url(f"**/trial/{RUN}")
        page.keyboard.press("j")
        page.wait_for_url("**/trial/eval-e2-with_skill-run-2")
        page.keyboard.press("k")
        page.wait_for_url(f"**/trial/{RUN}")
        page.keyboard.press("f")
        page.keyboard.type("jk?/w")
        assert page.locator("textarea").first.input_value() == "jk?/w"
        page.keyboard.press("Escape")
        page.keyboard.press("m")
        page.wait_for_url("**/evals")
        page.keyboard.press("/")
        page.keyboard.type("e2")
        page.keyboard.press("Enter")
        page.wait_for_url("**/evals?*text=e2")
        assert page.locator(".matrix tbody tr").count() == 1
        assert watched.errors == []


def test_feedback_saves_itself_and_survives_reload_failure_and_restart(tmp_path: Path, watched: Watched) -> None:
    """Fault 24, whole: "Saved" only when it is written, and no word is lost whatever happens between."""
    page, iteration = watched.page, small_iteration(tmp_path)
    path = iteration.feedback_path

    def stored() -> str | None:
        reviews = json.loads(path.read_text(encoding="utf-8"))["reviews"] if path.is_file() else []
        return next((one["feedback"] for one in reviews if one["run_id"] == RUN), None)

    def area() -> Any:
        return page.locator(f'[data-feedback="{RUN}"] textarea')

    def status(text: str) -> None:
        page.locator(f'[data-feedback="{RUN}"] .saved').filter(has_text=re.compile(f"^{text}")).wait_for()

    with running(site_of(iteration)) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/trial/{RUN}")
        area().press_sequentially("first words")
        status("Saved")
        assert stored() == "first words"
        page.reload()
        assert area().input_value() == "first words"
        # The disk refuses.
        path.unlink()
        path.mkdir()
        area().press("End")
        page.keyboard.type(", more")
        status("Not saved")
        page.reload()
        assert area().input_value() == "first words, more"
        path.rmdir()
        status("Saved")
        assert stored() == "first words, more"
        port = viewer.door.port
    # The server is gone.
    area().press("End")
    page.keyboard.type(", most")
    status("Not saved")
    with running(site_of(iteration), port) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/trial/{RUN}")
        assert area().input_value() == "first words, more, most"
        status("Saved")
        until(lambda: stored() == "first words, more, most", "the draft is written after the restart")
        page.locator(f'[data-feedback="{RUN}"] [data-verdict="bad"]').click()
        page.locator(f'[data-agree="{RUN}"][data-index="0"] [data-says="disagree"]').click()
        until(lambda: '"index": 0' in path.read_text(encoding="utf-8"), "the disagreement is written")
        status("Saved")
    (review,) = json.loads(path.read_text(encoding="utf-8"))["reviews"]
    assert (review["verdict"], review["expectations"]) == ("bad", [{"index": 0, "passed": True}])


def test_fault_22_nothing_a_stranger_wrote_runs_or_leads_away(tmp_path: Path, watched: Watched) -> None:
    site = Site.of(resolve_place(hostile_place(tmp_path)))
    found = site.open("hostile")
    page = watched.page
    with running(site) as viewer:
        page.goto(viewer.door.url)
        run = quote(run_id_of(found.benchmark.runs[0]), safe="")
        for path in ("overview", "evals", "expectations", "compare", "triggers", "improve", f"trial/{run}"):
            answer = page.goto(f"{viewer.base}/{path}")
            assert answer.status == 200
            open_all(page)
            page.mouse.move(300, 300)
        assert page.locator("iframe").count() == 2
        page.wait_for_load_state("networkidle")
        for name in ("page.html", "drawing.svg", "fake.png", "prose.md"):
            page.goto(f"{viewer.base}/trial/{run}")
            for kind in ("file", "frame"):
                try:
                    page.goto(f"{viewer.base}/{kind}/{run}/outputs/{name}", wait_until="networkidle")
                except Exception as error:  # a download is no page
                    assert "Download" in str(error) or "ERR_ABORTED" in str(error), error
                else:
                    assert page.evaluate("window.ran === undefined")
    nothing_ran(watched, f"http://127.0.0.1:{viewer.door.port}/")


def test_fault_22_nothing_runs_on_the_pages_of_an_iteration_of_ours(tmp_path: Path, watched: Watched) -> None:
    """Trigger results, a proposed version, notes, workbooks and differences as well."""
    page = watched.page
    with running(site_of(hostile_iteration(tmp_path))) as viewer:
        page.goto(viewer.door.url)
        run = "eval-dates-with_skill-run-1"
        shown = {
            "triggers?at=triggers/1": ".heat",
            "triggers?at=optimisations/2": ".diff",
            "improve": ".diff, .hunk",
            "compare": ".sheet",
            f"trial/{run}": ".sheet, .difference ins",
        }
        for path, part in shown.items():
            assert page.goto(f"{viewer.base}/{path}").status == 200
            open_all(page)
            for each in part.split(", ") if "trial" in path else [part]:
                assert page.locator(each).count(), (path, each)
            page.mouse.move(300, 300)
        page.wait_for_load_state("networkidle")
    nothing_ran(watched, f"http://127.0.0.1:{viewer.door.port}/")


@pytest.mark.parametrize("ours", [False, True])
def test_fault_22_nothing_runs_in_the_file_either(tmp_path: Path, watched: Watched, ours: bool) -> None:
    site = site_of(hostile_iteration(tmp_path)) if ours else Site.of(resolve_place(hostile_place(tmp_path)))
    name = site.names[-1]
    run = quote(run_id_of(site.open(name).benchmark.runs[0]), safe="")
    output = tmp_path / "report.html"
    write_static(site, name, output)
    page = watched.page
    for place in ("overview", "evals", "expectations", f"trial/{run}"):
        page.goto(f"{output.as_uri()}#/{place}")
        page.reload()
        open_all(page)
    assert page.locator("iframe").count() == 2
    assert page.locator(".sheet").count() == 4 and page.locator(".difference").count() == 1
    page.wait_for_load_state("networkidle")
    nothing_ran(watched, "file://", "about:srcdoc")


def open_all(page: Any) -> None:
    assert page.evaluate("document.querySelectorAll('#main *').length") > 1
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


def nothing_ran(watched: Watched, *allowed: str) -> None:
    assert watched.dialogs == []
    assert watched.elsewhere(*allowed) == []
    assert watched.page.evaluate("window.ran === undefined")
    assert watched.errors == []


def test_the_file_works_from_a_disk_without_a_network(tmp_path: Path, watched: Watched) -> None:
    output = tmp_path / "report.html"
    write_static(site_of(small_iteration(tmp_path)), "iteration-1", output)
    page = watched.page
    page.context.set_offline(True)
    page.goto(output.as_uri())
    assert "on these 2 evals" in page.locator("h1").inner_text()
    assert page.locator(".plot img").evaluate("one => one.naturalWidth") > 100
    page.keyboard.press("w")
    page.locator("h1", has_text="e2 trial 1").wait_for()
    page.keyboard.press("e")
    assert "Total: 12" in page.locator(".flash").inner_text()
    page.locator("textarea").first.fill("from the file")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.locator(".matrix").wait_for()
    page.locator("[data-search]").fill("e2")
    assert page.locator(".matrix tbody tr:visible").count() == 1
    page.locator('a[href*="without_skill-run-2"]').last.click()
    page.locator("h1", has_text="trial 2").wait_for()
    with page.expect_download() as download:
        page.locator("[data-download]").click()
    said = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert [(one["run_id"], one["feedback"]) for one in said["reviews"]] == [(RUN, "from the file")]
    assert watched.errors == [] and watched.elsewhere("file://") == []


def full_iteration(tmp_path: Path) -> Iteration:
    """Everything a page can show, in small: workbooks, differences, triggers, a search, a proposal."""
    iteration = small_iteration(tmp_path)
    theirs = b"# Report\n\nTotal: 11\n"
    write(iteration.path / "eval-e2/without_skill/run-1/outputs", {"deep/report.md": theirs, "other.txt": b"x\n"})
    files = {"costs.xlsx": workbook(Costs=[["item", "sum"], ["tea", 3]], More=[["a"]]), "t.csv": b"a,b\n1,2\n"}
    write(iteration.path / "eval-e2/with_skill/run-1/outputs", files)
    record = {"results": QUERIES, "description": "When asked", "matrix": MATRIX}
    write(iteration.path.parent, {"triggers/1/results.json": json.dumps(record).encode()})
    history = [
        {"iteration": n, "description": f"Use for pdf.{' And receipts.' * n}", "results": QUERIES[:3]} for n in (1, 2)
    ]
    search = {"original_description": "Use for pdf.", "history": history}
    write(iteration.path.parent, {"optimisations/2/results.json": json.dumps(search).encode()})
    changes = {"changes": [{"path": "SKILL.md", "kind": "changed", "reason": "why"}]}
    diff = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
    write_candidate(iteration, {"SKILL.md": b"same\nnew\n"}, changes, diff)
    return iteration


def serious(page: Any, source: str) -> list[Any]:
    """What the accessibility checker holds against a page as it stands, everything on it opened."""
    open_all(page)
    page.evaluate(source)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        (one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("width", [380, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_violation_and_nothing_overflows(
    tmp_path: Path, chromium: Any, theme: str, width: int
) -> None:
    source = axe_source()
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    page = Watched(context).page
    with running(site_of(full_iteration(tmp_path))) as viewer:
        page.goto(viewer.door.url)
        triggers = ("triggers?at=triggers/1", "triggers?at=optimisations/2")
        for path in ("overview", "evals", "expectations", "compare", *triggers, "improve", f"trial/{RUN}"):
            page.goto(f"{viewer.base}/{path}")
            assert serious(page, source) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.locator(".sheet").count() == 2 and page.locator(".difference ins").count() == 1
        page.goto(f"{viewer.base}/compare")
        page.keyboard.press("1")
        page.get_by_text("You preferred").wait_for()
        assert serious(page, source) == []
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_violation_in_the_file_either(tmp_path: Path, chromium: Any, theme: str) -> None:
    source = axe_source()
    output = tmp_path / "report.html"
    write_static(site_of(full_iteration(tmp_path)), "iteration-1", output)
    context = chromium.new_context(viewport={"width": 380, "height": 800}, color_scheme=theme, offline=True)
    page = Watched(context).page
    for place in ("overview", "evals", "expectations", f"trial/{RUN}"):
        page.goto(f"{output.as_uri()}#/{place}")
        page.reload()
        assert serious(page, source) == [], place
        assert page.evaluate("document.documentElement.scrollWidth") <= 380, place
    assert page.locator(".sheet").count() == 2 and page.locator(".difference ins").count() == 1
    context.close()


def test_d_opens_the_next_file_that_differs(tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    with running(site_of(full_iteration(tmp_path))) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/trial/{RUN}")
        assert not page.locator("del").is_visible()
        page.keyboard.press("d")
        assert page.locator("del").inner_text() == "11" and page.locator("ins").inner_text() == "12"
        assert page.evaluate("document.activeElement.textContent").startswith("deep/report.md")
    assert watched.errors == []


def test_a_choice_by_key_unblinds_the_pair(tmp_path: Path, watched: Watched) -> None:
    iteration = small_iteration(tmp_path)
    page = watched.page
    with running(site_of(iteration)) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/compare")
        assert page.locator("h2").all_inner_texts()[:2] == ["Left", "Right"]
        page.keyboard.press("2")
        page.get_by_text("You preferred").wait_for()
        assert sorted(page.locator("h2").all_inner_texts()[:2]) == ["With Skill", "Without"]
        page.keyboard.press("j")
        page.get_by_text("Which one serves better?").wait_for()
    assert len(json.loads(iteration.feedback_path.read_text(encoding="utf-8"))["preferences"]) == 1
    assert watched.errors == []


def test_the_trigger_set_is_edited_imported_and_exported(tmp_path: Path, watched: Watched) -> None:
    iteration = small_iteration(tmp_path)
    write(iteration.path.parent, {"triggers/1/results.json": json.dumps({"results": QUERIES[:2]}).encode()})
    more = [{"query": "third", "should_trigger": False}, {"query": "odd", "should_trigger": "yes"}]
    write(tmp_path, {"more.json": json.dumps(more).encode()})
    page = watched.page
    with running(site_of(iteration)) as viewer:
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/triggers")
        page.locator("[data-set] input[type=checkbox]").nth(1).check()
        page.locator("[data-remove]").first.click()
        page.locator("[data-import]").set_input_files(tmp_path / "more.json")
        page.get_by_text("1 added; 1 left out").wait_for()
        page.locator("[data-add]").click()
        page.keyboard.type("fourth j")
        with page.expect_download() as download:
            page.locator("[data-export]").click()
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8")) == [
        {"query": "what is a receipt?", "should_trigger": True},
        {"query": "third", "should_trigger": False},
        {"query": "fourth j", "should_trigger": True},
    ]
    assert watched.errors == []


def test_a_file_beyond_its_size_leaves_trials_out_and_says_which(tmp_path: Path, watched: Watched) -> None:
    output = tmp_path / "report.html"
    left = write_static(site_of(small_iteration(tmp_path)), "iteration-1", output, Budget(total_bytes=30_000))
    assert 0 < left < 8
    watched.page.goto(output.as_uri())
    text = watched.page.locator("#main").inner_text()
    assert f"{left} trials beyond its size limit have no page here" in text
    watched.page.keyboard.press("w")
    watched.page.locator("h1", has_text="e2 trial 1").wait_for()
