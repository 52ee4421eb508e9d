"""What the pages say, page by page."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from skill_assay.benchmark.derive import derive
from skill_assay.cli.show import keep
from skill_assay.errors import FailureKind, NotFoundError
from skill_assay.reports.forest import ForestRow, forest_rows, forest_svg
from skill_assay.viewer.matrix import Filter, expectation_rows, matrix
from skill_assay.viewer.outputs import Caps, diff_lines, read_outputs
from skill_assay.viewer.overview import live_state, overview
from skill_assay.viewer.site import Site, run_id_of
from skill_assay.viewer.states import state_of
from skill_assay.viewer.static import Budget, static_page
from skill_assay.viewer.text import highlighted, markdown
from skill_assay.viewer.transcripts import read_transcript
from skill_assay.viewer.trial import trial_page
from skill_assay.workspace.journal import Journal
from skill_assay.workspace.resolve import resolve_place
from tests.made import made_eval, made_iteration, made_plan, made_trial
from tests.viewer.small import client_of, site_of, small_iteration, write

RUN = "eval-e2-with_skill-run-1"


def opened(tmp_path: Path, **facts: int):
    site = site_of(small_iteration(tmp_path, **facts))
    return site.open("iteration-1")


def test_the_overview_begins_with_the_verdict(tmp_path: Path) -> None:
    page = client_of(site_of(small_iteration(tmp_path))).get("/i/iteration-1/overview").text
    main = page[page.index("<main") :]
    assert main.index("<h1") < main.index("forest.svg") < main.index("Pass rate")
    assert "on these 2 evals" in main
    assert "Nothing: every trial that was found counts." in main


def test_the_worst_trial_is_one_key_away_and_says_what_failed(tmp_path: Path) -> None:
    page = client_of(site_of(small_iteration(tmp_path))).get("/i/iteration-1/overview").text
    assert f'data-worst="/i/iteration-1/trial/{RUN}"' in page
    assert "has a total" in page[page.index("Worst trials") :]


def test_states_have_shapes_of_their_own(tmp_path: Path) -> None:
    trials = [
        made_trial(repeat=1, marks="pp"),
        made_trial(repeat=2, marks="pf"),
        made_trial(repeat=3, marks="ff"),
        made_trial(repeat=4, marks="uu"),
        made_trial(repeat=5, failure=FailureKind.RATE_LIMITED),
    ]
    site = site_of(made_iteration(tmp_path, made_plan(trials=6), trials))
    found = site.open("iteration-1")
    assert [state_of(run) for run in found.benchmark.runs] == ["passed", "partly", "failed", "ungraded", "excluded"]
    (row,) = matrix(found).rows
    assert "".join(cell.mark for cell in row.cells["with_skill"]) == "●◐○?×–"
    assert matrix(found).counts["missing"] == 1 + 6


def test_exclusions_are_listed_with_their_reason(tmp_path: Path) -> None:
    trials = [made_trial(), made_trial(arm="without_skill", failure=FailureKind.RATE_LIMITED)]
    site = site_of(made_iteration(tmp_path, made_plan(), trials))
    page = client_of(site).get("/i/iteration-1/overview").text
    assert re.search(r"dates, Without, trial 1</a>: rate limit", page)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (Filter(), ["e1", "e2", "e3"]),
        (Filter(tag="odd"), ["e1"]),
        (Filter(text="E3"), ["e3"]),
        (Filter(text="has a TOTAL"), ["e1", "e2", "e3"]),
        (Filter(text="nobody asked"), []),
        (Filter(state="passed"), ["e1", "e2", "e3"]),
        (Filter(state="excluded"), []),
        (Filter(page=2), []),
    ],
)
def test_filters(tmp_path: Path, asked: Filter, names: list[str]) -> None:
    found = matrix(opened(tmp_path, evals=3), asked)
    assert [row.figures.eval.name for row in found.rows] == names


def test_the_list_of_evals_is_paged(tmp_path: Path) -> None:
    found = opened(tmp_path, evals=51, trials=1)
    first, second = matrix(found, Filter()), matrix(found, Filter(page=2))
    assert (len(first.rows), len(second.rows), first.pages) == (50, 1, 2)
    assert len(matrix(found, whole=True).rows) == 51


def test_expectations_have_rates_by_arm_and_dead_ones_are_marked(tmp_path: Path) -> None:
    trials = [
        made_trial(arm=arm, repeat=n, marks="pf" if arm == "with_skill" else "ppf"[n : n + 1] * 2)
        for arm in ("with_skill", "without_skill")
        for n in (1, 2)
    ]
    site = site_of(made_iteration(tmp_path, made_plan(trials=2), trials))
    rows = {row.text: row for row in expectation_rows(site.open("iteration-1"))}
    assert rows["one"].tallies["with_skill"].rate == 1.0
    assert rows["one"].tallies["without_skill"].rate == 0.5
    assert rows["two"].tallies["with_skill"].failures == ["eval-dates-with_skill-run-1", "eval-dates-with_skill-run-2"]
    assert (rows["one"].dead, rows["two"].dead) == (None, None)
    everywhere = opened(tmp_path / "other")
    assert [row.dead for row in expectation_rows(everywhere, "e1 says why")] == [None]
    assert [row.text for row in expectation_rows(everywhere, "says WHY")] == ["says why", "says why"]


def test_a_dead_expectation_is_told(tmp_path: Path) -> None:
    trials = [made_trial(arm=arm, repeat=n, marks="p") for arm in ("with_skill", "without_skill") for n in (1, 2, 3)]
    site = site_of(made_iteration(tmp_path, made_plan(trials=3), trials))
    assert "always passed" in client_of(site).get("/i/iteration-1/expectations").text


def test_the_trial_page_puts_the_arms_side_by_side(tmp_path: Path) -> None:
    found = opened(tmp_path)
    page = trial_page(found, found.runs[RUN], _nothing(), Caps())
    assert [column.run.arm for column in page.columns] == ["with_skill", "without_skill"]
    assert [column.state for column in page.columns] == ["partly", "partly"]
    assert (page.before, page.after) == ("eval-e1-with_skill-run-2", "eval-e2-with_skill-run-2")
    assert page.columns[0].run.skill_used is True


def _nothing():
    from skill_assay.formats.feedback import Feedback

    return Feedback()


def test_evidence_leads_to_the_line_it_quotes(tmp_path: Path) -> None:
    site = site_of(small_iteration(tmp_path))
    page = client_of(site).get(f"/i/iteration-1/trial/{RUN}").text
    found = re.search(r'data-failed="([^"]+)"', page)
    assert found is not None
    line = page[page.index(f'id="{found[1]}"') :].partition("</li>")[0]
    assert "Total: 12" in line


def test_evidence_without_a_place_is_looked_for_in_what_was_made(tmp_path: Path) -> None:
    """Other tools name no place; a text they quote is found where it stands."""
    folder = tmp_path / "runs/eval-1/with_skill/run-1"
    write(folder, {"outputs/a.md": b"x\nThe total is 12.50 EUR\n"})
    write(
        folder,
        {
            "grading.json": b'{"expectations": [{"text": "t", "passed": true, '
            b'"evidence": "it says \\"total is 12.50\\" there"}]}'
        },
    )
    site = Site.of(resolve_place(tmp_path / "runs"))
    found = site.open("runs")
    page = trial_page(found, found.benchmark.runs[0], _nothing(), Caps())
    cell = page.rows[0].cells[0]
    assert cell is not None and [jump.anchor for jump in cell.jumps] == ["c0-o0-L2"]


def test_the_copy_of_the_answer_is_shown_once(tmp_path: Path) -> None:
    """Where an agent made no file its answer stands in `outputs/` too, for other viewers."""
    site = site_of(small_iteration(tmp_path))
    found = site.open("iteration-1")
    run = found.runs["eval-e2-without_skill-run-1"]
    assert (found.folder(run) / "outputs/answer.md").is_file()
    page = trial_page(found, run, _nothing(), Caps())
    assert page.columns[1].answer and page.columns[1].outputs.files == ()
    write(found.folder(run), {"outputs/answer.md": b"another text"})
    assert [one.name for one in read_outputs(found.folder(run), Caps()).files] == ["answer.md"]


def test_nested_outputs_are_there(tmp_path: Path) -> None:
    """Fault 25."""
    found = opened(tmp_path)
    outputs = read_outputs(found.folder(found.runs[RUN]), Caps())
    assert {one.name: one.kind for one in outputs.files} == {"deep/report.md": "markdown", "data.json": "json"}


def test_three_arms_are_all_there(tmp_path: Path) -> None:
    """Fault 25."""
    for arm in ("with_skill", "without_skill", "old_skill"):
        write(
            tmp_path / f"w/eval-1/{arm}/run-1",
            {
                "grading.json": b'{"expectations": [{"text": "t", "passed": true, "evidence": "e"}]}',
            },
        )
    site = Site.of(resolve_place(tmp_path / "w"))
    client = client_of(site)
    found = site.open("w")
    for path in ("overview", "evals", "expectations", f"trial/{run_id_of(found.benchmark.runs[0])}"):
        page = client.get(f"/i/w/{path}").text
        assert all(label in page for label in ("With Skill", "Without", "Old Skill")), path


def test_kinds_of_files(tmp_path: Path) -> None:
    write(
        tmp_path / "outputs",
        {
            "a.txt": b"one\r\ntwo",
            "b.md": b"# T\n",
            "c.csv": b"a;b\n1;2\n",
            "d.json": b"[1]",
            "e.html": b"<p>",
            "f.png": b"\x89PNG",
            "g.mp3": b"x",
            "h.mp4": b"x",
            "i.pdf": b"%PDF",
            "j.bin": b"\0\1",
            "k.svg": b"<svg/>",
            "l.json": b"{broken",
            "m.json": b"[" * 5000,
            "transcript.md": b"about the run",
        },
    )
    found = {one.name: one for one in read_outputs(tmp_path, Caps()).files}
    assert {name: one.kind for name, one in found.items()} == {
        "a.txt": "text",
        "b.md": "markdown",
        "c.csv": "table",
        "d.json": "json",
        "e.html": "html",
        "f.png": "image",
        "g.mp3": "audio",
        "h.mp4": "video",
        "i.pdf": "pdf",
        "j.bin": "binary",
        "k.svg": "image",
        "l.json": "text",
        "m.json": "text",
    }
    assert found["c.csv"].table == [["a", "b"], ["1", "2"]]
    assert [str(line) for line in found["a.txt"].lines] == ["one", "two"]


def test_a_huge_file_is_cut_and_says_so(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    write(iteration.path / "eval-e2/with_skill/run-1/outputs", {"big.txt": b"x" * 79 + b"\n"} | {})
    (iteration.path / "eval-e2/with_skill/run-1/outputs/big.txt").write_bytes((b"x" * 79 + b"\n") * 10_000)
    page = client_of(site_of(iteration)).get(f"/i/iteration-1/trial/{RUN}")
    assert "Cut here; the whole is 800 kB" in page.text
    assert len(page.content) < 600_000


def test_differences_between_arms() -> None:
    assert diff_lines("a\nb\n", "a\nc\n") == [
        ("place", "@@ -1,2 +1,2 @@"),
        ("same", " a"),
        ("del", "-b"),
        ("add", "+c"),
    ]
    assert diff_lines("a", "a") == []


def test_the_transcript_marks_the_skill_and_keeps_line_numbers(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "attempt-1.jsonl": b'{"type": "started", "assay": 1}\n{"type": "text", "text": "hi"}\n'
            b'{"type": "tool_call", "id": "1", "name": "Bash", "input": {"command": "ls"}}\n'
            b'{"type": "tool_result", "call_id": "1", "text": "x"}\n'
        },
    )
    found = read_transcript(tmp_path, "simulated")
    assert [(one.kind, one.line) for one in found.lines] == [("started", 1), ("said", 2), ("call", 3), ("result", 4)]
    assert found.lines[2].title == "Bash ls"


def test_without_the_agents_own_output_the_stored_page_is_shown(tmp_path: Path) -> None:
    write(tmp_path, {"transcript.md": b"# Transcript\n"})
    assert read_transcript(tmp_path, None).markdown == "# Transcript\n"
    assert read_transcript(tmp_path / "nothing", None).source is None


def test_iterations_stand_in_a_row(tmp_path: Path) -> None:
    first = small_iteration(tmp_path)
    shutil.copytree(first.path, first.path.with_name("iteration-2"))
    shutil.copytree(first.path, first.path.with_name("iteration-3"))
    (first.path / "benchmark.json").write_text(
        '{"inference": {"effect": 0.25, "verdict": "better"}, '
        '"run_summary": {"with_skill": {"pass_rate": {"mean": 1}}}}',
        encoding="utf-8",
    )
    (first.path.with_name("iteration-2") / "benchmark.json").write_text("[broken", encoding="utf-8")
    site = Site.of(resolve_place(first.path.parent))
    assert site.shown.path.name == "iteration-3"
    rows = overview(site, site.open("iteration-3")).trend
    assert [(row.name, row.verdict, row.effect, row.shown) for row in rows[:2]] == [
        ("iteration-1", "better", 0.25, False),
        ("iteration-2", None, None, False),
    ]
    assert rows[2].shown and rows[2].effect is not None
    page = client_of(site).get("/i/iteration-3/trial/eval-e1-with_skill-run-1").text
    assert "In iteration-2" in page


def test_what_changed_on_disk_is_seen_again(tmp_path: Path) -> None:
    trials = [made_trial(arm=arm) for arm in ("with_skill", "without_skill")]
    iteration = made_iteration(tmp_path, made_plan(), trials[:1])
    journal = Journal(iteration.journal_path(), iteration.writer)
    journal.write("run_began", trials=2, mode="new")
    site = site_of(iteration)
    first = site.open("iteration-1")
    assert site.open("iteration-1") is first
    iteration.record(trials[1], made_eval())
    journal.write("trial_state", trial="dates/without_skill/1", state="completed")
    journal.close()
    assert len(site.open("iteration-1").benchmark.runs) == 2


def test_live_follows_the_journal(tmp_path: Path) -> None:
    iteration = made_iteration(tmp_path, made_plan(), [made_trial()])
    assert live_state(iteration) is None
    journal = Journal(iteration.journal_path(), iteration.writer)
    journal.write("run_began", trials=2, mode="new")
    journal.write("trial_state", trial="dates/with_skill/1", state="completed")
    journal.write("trial_state", trial="dates/without_skill/1", state="running")
    state = live_state(iteration)
    assert state is not None and (state.planned, state.done, state.running, state.going) == (2, 1, 1, True)
    client = client_of(site_of(iteration))
    assert 'id="live"' in client.get("/i/iteration-1/overview").text
    journal.write("trial_state", trial="dates/without_skill/1", state="completed")
    journal.write("run_ended", ending="done", reason="")
    journal.close()
    stream = client.get("/i/iteration-1/live").text
    assert '"done": 2' in stream and '"going": false' in stream
    assert 'id="live"' not in client.get("/i/iteration-1/overview").text


def test_nothing_to_show_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill/SKILL.md").write_text("---\nname: skill\ndescription: d\n---\n", encoding="utf-8")
    with pytest.raises(NotFoundError, match="assay run"):
        Site.of(resolve_place(tmp_path / "skill"))
    (tmp_path / "empty").mkdir()
    answer = client_of(Site.of(resolve_place(tmp_path / "empty"))).get("/i/empty/overview")
    assert answer.status_code == 404 and "no graded run found" in answer.text


def test_markdown_runs_nothing() -> None:
    """Fault 22."""
    text = "<script>x</script> [a](javascript:alert(1)) [b](/i/x) ![p](http://e.example/p.png) <img src=x onerror=y>"
    made = str(markdown(text))
    assert "<script" not in made and "<img" not in made and "javascript:alert" not in made.replace("(javascript", "")
    assert "href" not in made.replace('href="http://e.example/p.png"', "")
    assert 'href="https://e.example/"' in str(markdown("[a](https://e.example/)"))


def test_highlighting_escapes_and_keeps_the_lines() -> None:
    lines = highlighted('{"a": "</script><b>"}\n\n{"b": 1}\n', "json")
    assert len(lines) == 3 and "<b>" not in str(lines[0]) and "&lt;b&gt;" in str(lines[0])
    assert len(highlighted("\n\n# x\n", "md")) == 3
    assert [str(one) for one in highlighted("<a>", "xyz")] == ["&lt;a&gt;"]


def test_the_forest_plot_is_well_formed_whatever_an_eval_is_called(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    rows = [ForestRow('</svg><script>"&\0\u202e', 0.5, 0.2, 0.8), ForestRow("all evals", 0.3, 0.1, 0.5, whole=True)]
    svg = forest_svg(rows)
    root = ElementTree.fromstring(svg)
    assert not [one for one in root.iter() if one.tag.endswith("script")]
    assert "prefers-color-scheme: dark" in svg


def test_the_forest_has_a_line_an_eval_and_the_whole(tmp_path: Path) -> None:
    found = opened(tmp_path, evals=3)
    rows = forest_rows(found.benchmark, found.derived.inference)
    assert [row.name for row in rows] == ["e1", "e3", "e2", "all evals"]
    assert rows[-1].whole and rows[0].effect == 0.5


@pytest.mark.slow
def test_iterations_are_plotted_from_the_second_on(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    client = client_of(site_of(iteration))
    assert "plot/trend.svg" not in client.get("/i/iteration-1/overview").text
    keep(iteration, derive(iteration.path))
    shutil.copytree(iteration.path, iteration.path.with_name("iteration-2"))
    site = Site.of(resolve_place(iteration.path.parent))
    client = client_of(site)
    assert "plot/trend.svg" in client.get("/i/iteration-2/overview").text
    drawn = client.get("/i/iteration-2/plot/trend.svg")
    assert drawn.headers["content-type"] == "image/svg+xml" and "difference in points" in drawn.text
    assert client.get("/i/iteration-2/plot/other.svg").status_code == 404
    text, _ = static_page(site, site.open("iteration-2"), Budget())
    assert "Pass rates of the arms, and their difference" in text
