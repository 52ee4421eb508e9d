"""What a person sees of a trigger evaluation: the terminal's lines are golden, the page loads and runs nothing."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from skill_assay.model.trigger_results import (
    CatalogueCheck,
    Diagnosis,
    Matrix,
    MatrixRow,
    QueryResult,
    RunState,
    TriggerResults,
    TriggerRun,
)
from skill_assay.model.triggers import Query
from skill_assay.reports.trigger_html import triggers_page
from skill_assay.reports.trigger_terminal import render_triggers
from skill_assay.stats.intervals import wilson
from skill_assay.stats.triggering import classify

OWN = "expense-report"
FIRED, SILENT, LATE = RunState.TRIGGERED, RunState.NOT_TRIGGERED, RunState.TIMEOUT


def run(number: int, state: RunState, *fired: str) -> TriggerRun:
    by = {FIRED: "use", SILENT: "answer", LATE: None}[state]
    saved = 3.5 if state is FIRED else None
    message = "ended at its time limit" if state is LATE else ""
    kind = "time_limit" if state is LATE else None
    return TriggerRun("q", number, state, fired, (), by, 9.0, 2.0 if saved else None, saved, 2, kind, message)  # type: ignore[arg-type]


def result(text: str, wanted: bool, passed: bool, *runs: TriggerRun) -> QueryResult:
    fired = sum(one.state is FIRED for one in runs)
    decided = sum(one.state is not LATE for one in runs)
    query = Query(text, text, wanted, tags=("travel",) if wanted else ())
    return QueryResult(query, runs, len(runs), fired, decided, fired / decided, wilson(fired, decided), passed)


@pytest.fixture
def found() -> TriggerResults:
    queries = (
        result("add up my receipts", True, True, *(run(n, FIRED, OWN) for n in (1, 2, 3))),
        result("sum up Lisbon", True, False, *(run(n, SILENT, "invoice-fill") for n in (1, 2, 3))),
        result("what is a receipt?", False, False, run(1, FIRED, OWN), run(2, FIRED, OWN), run(3, SILENT)),
        result("write Rust", False, True, run(1, SILENT), run(2, SILENT), run(3, LATE)),
    )
    rows = (MatrixRow(OWN, (3, 3, 0), 6), MatrixRow(None, (2, 0, 3), 5))
    scores = classify(1, 1, 1, 1, seed=42)
    return TriggerResults(
        skill_name=OWN,
        skill=OWN,
        description="Adds up <expenses>.",
        skill_digest="3f2a91c",
        agent="claude-code",
        agent_version="2.1",
        model=None,
        simulated=False,
        runs=3,
        threshold=0.5,
        decide_after=4,
        subagents=True,
        curtail=False,
        seed=42,
        queries=queries,
        scores=scores,
        by_tag={"travel": classify(1, 0, 1, 0, seed=42)},
        by_context={},
        matrix=Matrix((OWN, "invoice-fill", None), rows),
        catalogue=CatalogueCheck((OWN, "invoice-fill"), 100, 8000, 1536),
        launches=13,
        usd=0.7,
        unbilled=5,
    )


GOLDEN = """\
Fires when it should   1 of 2 queries   recall 50 % (9–91)
Silent when it should  1 of 2 queries   specificity 50 % (9–91)   precision 50 % (9–91) at this mix
All                    2 of 4 queries   accuracy 50 % (15–85)   F1 50 % (10–84) at this mix
  wanted ↓ fired →    expense-report    invoice-fill    none    runs
  expense-report                   3               3       0       6
  none                             2               0       3       5
Missed        "sum up Lisbon"                                                             0/3  → invoice-fill fired 3×
False alarm   "what is a receipt?"                                                        2/3
  tag travel: accuracy 50 % (9–91) of 2, recall 50 % (9–91)
1 run of 12 left out (time limit)
Runs decided: 5 at the skill's use, 6 with the agent's answer; ending early saved about 18 s of agents' time
13 launches, $0.70, 5 of them without a bill, counted at what was set aside
Results: here
"""


def test_a_price_nobody_told_is_a_bound(found: TriggerResults) -> None:
    silent = replace(found, unbilled=0, assumed_usd=0.7)
    assert "13 launches, up to $0.70 (set aside where no price came)\n" in render_triggers(silent, place="", width=120)
    partly = replace(found, unbilled=0, assumed_usd=0.25)
    said = "13 launches, up to $0.70 ($0.25 of it set aside where no price came)\n"
    assert said in render_triggers(partly, place="", width=120)


def test_the_terminal_says_it_as_documented(found: TriggerResults) -> None:
    assert render_triggers(found, place="here", width=120) == GOLDEN


def test_ascii_terminals_get_ascii(found: TriggerResults) -> None:
    assert render_triggers(found, unicode=False).isascii()


@pytest.mark.slow
def test_the_diagnosis_and_what_is_odd_are_never_silent(found: TriggerResults) -> None:
    told = replace(
        found,
        diagnosis=Diagnosis("works", "The skill is not picked up.", ("Try this.",)),
        notes=("No query should trigger.",),
        advice=("Declared a capability.",),
        ending="interrupted",
    )
    text = render_triggers(told)
    for words in ("Partial: interrupted", "The skill is not picked up.", "· Try this.", "No query", "Declared"):
        assert words in text, words
    for words in ("interrupted", "The skill is not picked up.", "Try this.", "No query", "Declared"):
        assert words in triggers_page(told), words


def test_nothing_decided_is_said_and_no_figure_is_shown(found: TriggerResults) -> None:
    nothing = replace(found, queries=(), scores=classify(0, 0, 0, 0, seed=1), matrix=Matrix((OWN, None), ()))
    text = render_triggers(nothing)
    assert text.startswith("Nothing was decided") and "%" not in text.split("\n")[0]
    assert "Nothing was decided" in triggers_page(nothing)


def test_a_query_cannot_steer_the_terminal(found: TriggerResults) -> None:
    evil = replace(found.queries[1], query=Query("q", "a\x1b[2Jb\nc", True))
    assert "\x1b" not in render_triggers(replace(found, queries=(evil,)))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_fault_22_the_page_runs_and_loads_nothing_whatever_stands_in_a_query(found: TriggerResults) -> None:
    text = '</td><script>alert(1)</script><img src=x onerror="alert(2)"><b class="zz">'
    evil = replace(found.queries[1], query=Query("q", text, True, tags=(text,)))
    page = triggers_page(replace(found, queries=(evil, *found.queries), description=text, notes=(text,)))
    reader = _Tags()
    reader.feed(page)
    names = {tag for tag, _ in reader.tags}
    assert "svg" in names and not names & {"script", "img", "iframe", "link", "object", "embed", "b"} - {"b"}
    assert not [attrs for tag, attrs in reader.tags if tag == "b" and attrs]
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on") or name in ("src", "href")]
    policy = next(attrs["content"] for tag, attrs in reader.tags if "http-equiv" in attrs)
    assert policy and policy.startswith("default-src 'none'")
    assert "&lt;script&gt;" in page


def test_the_heat_map_shows_every_query_and_skill(found: TriggerResults) -> None:
    page = triggers_page(found)
    svg = page[page.index("<svg") : page.index("</svg>")]
    for words in (
        "add up my receipts",
        "sum up Lisbon",
        "invoice-fill",
        "none",
        "should fire",
        "should stay silent",
        "67%",
    ):
        assert words in svg, words
