"""What a person sees of a search: while it goes on, and at its end."""

from __future__ import annotations

from dataclasses import replace

from skill_assay.model.optimisation import Cell, Evidence, Optimisation, Round
from skill_assay.model.triggers import Query, Split
from skill_assay.reports.optimise_html import optimisation_page
from skill_assay.reports.optimise_terminal import render_optimisation
from skill_assay.reports.optimise_words import answer_line, evidence_words


def cell(name: str, split: Split, fired: int, decided: int, passed: bool | None, failed: int = 0) -> Cell:
    return Cell(Query(name, f"{name} text", True), split, fired, decided, failed, 3, passed, decided > 1)


FIRST = Round(
    1, "Original.", (cell("a", "train", 0, 2, False), cell("b", "test", 0, 2, False), cell("c", "test", 2, 2, True)), 6
)
SECOND = Round(
    2,
    "Use <when> [red]needed[/red].",
    (cell("a", "train", 2, 2, True), cell("b", "test", 2, 2, True), cell("c", "test", 1, 2, True, 1)),
    7,
)
SKIPPED = Round(3, "", skipped="every reply was refused")
WHOLE = Optimisation(
    skill_name="pdf",
    original="Original.",
    rounds=(FIRST, SECOND, SKIPPED),
    leader=2,
    chosen=2,
    exit="max_iterations",
    reason="all 3 rounds are done",
    accept="best",
    evidence=(Evidence("test", 1, 0, 1, 1.0, 1, True, 40),),
    runs=3,
    threshold=0.5,
    holdout=0.4,
    seed=42,
    sizes=(1, 2, 0),
    launches=13,
    proposals=5,
    usd=0.5,
    over=True,
)
GOING_ON = replace(WHOLE, exit=None, over=False, rounds=(FIRST, replace(SECOND, ending="going on")), evidence=())


def test_the_answer_comes_first_and_nothing_is_left_out() -> None:
    lines = render_optimisation(WHOLE, place="here").splitlines()
    assert lines[0].startswith("Chosen: round 2, weak evidence on 2 test queries: 1 pass only with it")
    text = "\n".join(lines)
    assert "13 launches of 18 of the full grid (72 %), 5 questions to the proposer, $0.50" in text
    assert "ended: all 3 rounds are done" in text
    assert "Round 3 has no description: every reply was refused" in text
    assert "% of the runs failed and count for nothing" in text
    assert "● 1/2 ×1" in text and "Use <when> [red]needed[/red]." in text
    assert "flattered" in text


def test_train_and_test_stand_apart() -> None:
    lines = [line.split() for line in render_optimisation(WHOLE).splitlines()]
    train, test = (
        next(at for at, line in enumerate(lines) if line[:2] == [side, score])
        for side, score in (
            ("train", "0/1"),
            ("test", "1/2"),
        )
    )
    assert train < next(at for at, line in enumerate(lines) if line[:2] == ["a", "text"]) < test
    assert test < next(at for at, line in enumerate(lines) if line[:2] == ["b", "text"])


def test_the_page_loads_itself_anew_only_while_it_goes_on() -> None:
    assert 'http-equiv="refresh"' in optimisation_page(GOING_ON)
    page = optimisation_page(WHOLE)
    assert 'http-equiv="refresh"' not in page
    assert "Use &lt;when&gt;" in page and "<when>" not in page and "default-src 'none'" in page


def test_words_for_every_outcome() -> None:
    evidence = WHOLE.evidence[0]
    assert "would make it strong" in evidence_words(evidence)
    assert "hardly any number" in evidence_words(replace(evidence, enough=None))
    assert evidence_words(replace(evidence, gained=8, p=0.0001)).startswith("strong evidence")
    assert "p below 0.001" in evidence_words(replace(evidence, gained=8, p=0.0001))
    assert evidence_words(replace(evidence, gained=0, lost=1)).startswith("no evidence")
    assert "the best of 4" in evidence_words(replace(evidence, candidates=4))
    assert "--accept significant" in answer_line(replace(WHOLE, chosen=1, accept="significant"))
    assert "none of 1 other" in answer_line(replace(WHOLE, leader=1, chosen=1, evidence=()))
    assert "no other description was measured" in answer_line(
        replace(WHOLE, leader=1, chosen=1, evidence=(), rounds=(FIRST,))
    )
    cut = answer_line(replace(WHOLE, exit="budget", reason="the budget is reached"))
    assert cut.startswith("Partial, nothing is chosen yet: the budget is reached") and "round 2" in cut
    assert answer_line(GOING_ON) == "Round 2 is going on"
