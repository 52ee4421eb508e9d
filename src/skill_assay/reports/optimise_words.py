"""A search for a better description, in words: its answer, its scores, its evidence, its price."""

from __future__ import annotations

from collections.abc import Iterator

from skill_assay.model.optimisation import Cell, Evidence, Optimisation, Round, Score, score_of
from skill_assay.model.triggers import Split
from skill_assay.reports.figures import count, launches, spent_words
from skill_assay.reports.plain import harmless

__all__ = [
    "answer_line",
    "cell_text",
    "evidence_words",
    "price_line",
    "round_heads",
    "score_rows",
    "score_short",
    "score_text",
    "worth_a_look",
]

_MARKS = {True: "●", False: "○", None: "·"}


def evidence_words(evidence: Evidence) -> str:
    """The evidence for a reader."""
    compared = evidence.gained + evidence.lost + evidence.tied
    queries = count(compared, f"{evidence.split} query", f"{evidence.split} queries")
    counts = (
        f"on {queries}: {evidence.gained} pass only with it, {evidence.lost} only with the "
        f"original, {evidence.tied} are alike (p {_p(evidence.p)}"
    )
    counts += f", the best of {evidence.candidates})" if evidence.candidates > 1 else ")"
    if evidence.strong:
        return f"strong evidence {counts}"
    if evidence.gained <= evidence.lost:
        return f"no evidence {counts}"
    if evidence.enough is None:
        return f"weak evidence {counts}; hardly any number of queries would make such a difference strong"
    return f"weak evidence {counts}; about {evidence.enough} such {evidence.split} queries would make it strong"


def _p(p: float) -> str:
    return "below 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def answer_line(found: Optimisation) -> str:
    """What came of it, in one line."""
    if not found.over:
        return f"Round {len(found.rounds)} is going on"
    if found.exit in ("budget", "interrupted", "failure"):
        best = "the original" if found.leader == 1 else f"round {found.leader}"
        return f"Partial, nothing is chosen yet: {harmless(found.reason)}. So far {best} passes the most test queries"
    words = "; ".join(evidence_words(one) for one in found.evidence)
    if found.chosen != 1:
        return f"Chosen: round {found.chosen}, {words}"
    if found.leader != 1:
        return (
            f"The original stays: round {found.leader} passes more test queries, but --accept significant asks for "
            f"strong evidence, and there is {words}"
        )
    tried = sum(one.number != 1 and bool(one.cells) for one in found.rounds)
    if not tried:
        return "The original stays: no other description was measured"
    return f"The original stays: none of {tried} other descriptions passes more test queries"


def score_text(score: Score) -> str:
    """`7 of 8`, and what is not known or not sure."""
    if not score.total:
        return "–"
    more = [f"{score.unknown} unknown"] if score.unknown else []
    more += [f"{score.unsure} not sure"] if score.unsure else []
    return f"{score.passed} of {score.total}" + (f" ({', '.join(more)})" if more else "")


def score_short(one: Round, side: Split) -> str:
    """`7/8`; with `…` where that side was left early."""
    score, left = one.score(side), one.left_train if side == "train" else one.left_test
    return "–" if not score.total else f"{score.passed}/{score.total}" + (" …" if left else "")


def score_rows(found: Optimisation) -> list[tuple[str, str, str]]:
    """Side, the original's score, the leader's score."""
    if not found.rounds:
        return []
    first, leader = found.rounds[0], found.round(found.leader)
    rows = [(side, score_text(first.score(side)), score_text(leader.score(side))) for side in ("train", "test")]
    fresh = dict(found.fresh)
    if fresh:
        rows.append(("fresh", *(score_text(score_of(fresh.get(one.number, ()))) for one in (first, leader))))  # type: ignore[arg-type]
    rows.append(("gap", _gap(first), _gap(leader)))
    return rows


def _gap(one: Round) -> str:
    """Train less test, in points: what is learnt by heart does not help elsewhere."""
    train, test = one.score("train").share, one.score("test").share
    return "–" if train is None or test is None else f"{(train - test) * 100:+.0f} points train over test"


def price_line(found: Optimisation) -> str:
    """Launches against the full grid, questions, money."""
    grid = found.full_grid
    share = f" of {grid} of the full grid ({100 * found.launches / grid:.0f} %)" if grid else ""
    asked = f"{count(found.proposals, 'question')} to the proposer"
    return f"{launches(found.launches)}{share}, {asked}, {spent_words(found.usd, found.assumed_usd)}"


def round_heads(found: Optimisation) -> list[str]:
    """A column's head for every round that measured a description."""
    return [
        f"{one.number}" + (" chosen" if found.over and one.number == found.chosen else "")
        for one in found.rounds
        if one.cells
    ]


def cell_text(cell: Cell | None) -> str:
    """`● 2/3`; a round that did not run the query has a dot."""
    if cell is None or not (cell.decided or cell.failed):
        return "·"
    failed = f" ×{cell.failed}" if cell.failed else ""
    return f"{_MARKS[cell.passed]} {cell.fired}/{cell.decided}{failed}"


def worth_a_look(found: Optimisation) -> Iterator[str]:
    """What a reader should know besides."""
    for one in found.rounds:
        if one.skipped:
            yield f"Round {one.number} has no description: {harmless(one.skipped)}"
        elif one.refused:
            yield f"Round {one.number}: {len(one.refused)} replies were refused ({harmless('; '.join(one.refused))})"
        if one.ending and found.over:
            yield f"Round {one.number} was not measured to its end ({harmless(one.ending)}): it can't be chosen"
        sides = [side for side, left in (("train", one.left_train), ("test", one.left_test)) if left]
        if sides:
            yield f"Round {one.number}: {' and '.join(sides)} left early, it would hardly have come out ahead there"
    if found.failed_share:
        yield f"{found.failed_share * 100:.0f} % of the runs failed and count for nothing"
    leader = found.round(found.leader) if found.rounds else None
    if leader and leader.number != 1 and not found.sizes[2]:
        yield (
            f"The test score of round {leader.number} is flattered, since it was picked by it: --fresh 0.2 keeps "
            "queries that give a number to publish"
        )
    yield from map(harmless, found.notes)
