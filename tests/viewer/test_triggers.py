"""The pages about triggering and about a proposed version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skill_assay.viewer.triggers import triggers_page
from skill_assay.workspace.judgements import write_candidate
from tests.viewer.small import client_of, site_of, small_iteration, write

QUERIES = [
    {"query": "sum up <b>Lisbon</b>", "should_trigger": True, "triggers": 0, "runs": 3, "pass": False},
    {"query": "what is a receipt?", "should_trigger": False, "triggers": 2, "runs": 3, "pass": False},
    {"query": "expense report please", "should_trigger": True, "triggers": 3, "runs": 3, "pass": True},
    {"query": "nobody knows", "should_trigger": True, "triggers": 0, "runs": 0, "pass": None},
    {"query": "odd", "should_trigger": "yes"},
    "nothing",
]
MATRIX = {
    "columns": ["pdf", "other", None],
    "rows": [{"wanted": "pdf", "counts": [3, 1, 2], "runs": 6}, {"wanted": None, "counts": [2, 0, 1], "runs": 3}],
}


def results(place: Path, name: str, record: Any) -> None:
    write(place, {f"{name}/results.json": json.dumps(record).encode()})


def test_queries_are_told_by_kind_and_what_is_odd_is_left_out(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    results(iteration.path.parent, "triggers/2026-01-01", {"results": [], "description": "old"})
    record = {"results": QUERIES, "description": "When asked", "matrix": MATRIX}
    results(iteration.path.parent, "triggers/2026-02-01", record)
    site = site_of(iteration)
    page = triggers_page(site.open("iteration-1"))
    assert page.name == "triggers/2026-02-01" and len(page.names) == 2
    assert [row.kind for row in page.rows] == ["missed", "false alarm", "passed", "undecided"]
    assert page.heat is not None and page.heat.columns == ("pdf", "other", "no skill")
    assert page.heat.rows[1] == ("no skill", (2, 0, 1), 3)
    text = client_of(site).get("/i/iteration-1/triggers").text
    assert "1 of 4 queries came out as wanted" in text and "sum up &lt;b&gt;Lisbon" in text
    assert "old" in client_of(site).get("/i/iteration-1/triggers?at=triggers/2026-01-01").text


def test_rounds_of_a_search_show_what_changed(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    history = [
        {"iteration": 1, "description": "Use for pdf.", "train_passed": 1, "train_total": 3, "results": QUERIES[:2]},
        {
            "iteration": 2,
            "description": "Use for pdf. And receipts.",
            "train_passed": 3,
            "train_total": 3,
            "results": [{**QUERIES[0], "pass": True}, QUERIES[1]],
        },
    ]
    record = {
        "original_description": "Use for pdf.",
        "best_description": "Use for pdf. And receipts.",
        "history": history,
    }
    results(iteration.path.parent, "optimisations/2026-03-01", record)
    page = triggers_page(site_of(iteration).open("iteration-1"))
    assert [(one.number, one.scores) for one in page.rounds] == [(1, (("train", "1/3"),)), (2, (("train", "3/3"),))]
    assert page.rounds[0].diff == () and ("add", "+And receipts.") in page.rounds[1].diff
    assert page.rounds[0].passed["sum up <b>Lisbon</b>"] is False
    assert page.rounds[1].passed["sum up <b>Lisbon</b>"] is True


def test_damaged_results_are_no_page_of_errors(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    odd = {"results": {}, "matrix": {"columns": 3, "rows": [None, {"counts": [float("inf")]}]}, "history": [3, {}]}
    results(iteration.path.parent, "triggers/1", odd)
    results(iteration.path.parent, "triggers/2", ["list"])
    (iteration.path.parent / "triggers/3").mkdir()
    (iteration.path.parent / "triggers/3/results.json").symlink_to("/etc/passwd")
    client = client_of(site_of(iteration))
    for at in ("triggers/1", "triggers/2", "triggers/3", "../..", ""):
        assert client.get("/i/iteration-1/triggers", params={"at": at}).status_code == 200


def test_nothing_there_says_what_to_do(tmp_path: Path) -> None:
    client = client_of(site_of(small_iteration(tmp_path)))
    assert "assay trigger" in client.get("/i/iteration-1/triggers").text
    assert "assay improve" in client.get("/i/iteration-1/improve").text


def test_a_candidate_is_shown_with_its_reasons(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    diff = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-old <i>\n+new <i>\n--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+1\n"
    changes = {"changes": [{"path": "SKILL.md", "kind": "changed", "reason": "It says <why>"}, 3]}
    write_candidate(iteration, {"SKILL.md": b"new"}, changes, diff)
    page = client_of(site_of(iteration)).get("/i/iteration-1/improve").text
    assert "It says &lt;why&gt;" in page
    assert '<span class="d-del">-old &lt;i&gt;</span>' in page and '<span class="d-add">+1</span>' in page
