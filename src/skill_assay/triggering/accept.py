"""Which description is chosen, and what its choice rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skill_assay.errors import InputError
from skill_assay.model.optimisation import Accept, Cell, Evidence, Round
from skill_assay.model.triggers import Split
from skill_assay.stats.selection import ENOUGH_QUERIES, best_of_candidates, queries_for_significance, sign_p
from skill_assay.triggering.split import Splits

__all__ = [
    "beats",
    "best_round",
    "choose",
    "deciding_split",
    "evidence_on_fresh",
    "evidence_on_test",
    "refuse_undecidable",
]

Passes = Mapping[str, bool | None]


def passes(cells: Sequence[Cell]) -> dict[str, bool | None]:
    """Query → pass or fail."""
    return {cell.query.id: cell.passed for cell in cells}


def gains(candidate: Passes, other: Passes) -> tuple[int, int, int]:
    """Queries that pass only with the candidate, only with the other, and alike; only what is known of both."""
    pairs = [(candidate[name], other[name]) for name in candidate if name in other]
    known = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    gained, lost = sum(m and not t for m, t in known), sum(t and not m for m, t in known)
    return gained, lost, len(known) - gained - lost


def beats(candidate: Round, other: Round) -> bool:
    """Whether it passes more test queries, of those known of both: what crashed counts for nothing."""
    if not candidate.measured or candidate.left_test:
        return False
    gained, lost, _ = gains(passes(candidate.of("test")), passes(other.of("test")))
    return gained > lost


def best_round(rounds: Sequence[Round]) -> Round:
    """The best by test; ties keep the earliest, so the original."""
    best = rounds[0]
    for one in rounds[1:]:
        if beats(one, best):
            best = one
    return best


def evidence_on_test(rounds: Sequence[Round], leader: Round, seed: int) -> Evidence | None:
    """Paired on test queries; that the best of several was picked there is in the p value.

    Returns:
        `None` for the original itself.
    """
    original, candidates = rounds[0], [one for one in rounds[1:] if one.cells]
    if leader.number == original.number:
        return None
    base = {name: passed for name, passed in passes(original.of("test")).items() if passed is not None}
    table = [[passes(one.of("test")).get(name) for name in base] for one in candidates]
    gained, lost, tied = gains(passes(leader.of("test")), base)
    test = best_of_candidates(list(base.values()), table, gained - lost, seed=seed)
    enough = queries_for_significance(gained, lost, gained + lost + tied, len(candidates))
    return Evidence("test", gained, lost, tied, test.p, len(candidates), test.exact, enough)


def evidence_on_fresh(original: Sequence[Cell], leader: Sequence[Cell]) -> Evidence:
    """Paired on queries that had no part in the choice: the plain exact sign test."""
    gained, lost, tied = gains(passes(leader), passes(original))
    enough = queries_for_significance(gained, lost, gained + lost + tied, 1)
    return Evidence("fresh", gained, lost, tied, sign_p(gained, lost), 1, True, enough)


def deciding_split(splits: Splits) -> Split:
    """Whose evidence decides under `--accept significant`: fresh where it is large enough, else test."""
    return "fresh" if len(splits.fresh) >= ENOUGH_QUERIES else "test"


def choose(leader: int, evidence: Sequence[Evidence], accept: Accept, deciding: Split) -> int:
    """The number of the chosen round: the leader's, or 1 where evidence decides and is weak or missing."""
    if accept == "best":
        return leader
    return leader if any(one.split == deciding and one.strong for one in evidence) else 1


def refuse_undecidable(splits: Splits, accept: Accept, file: str | None = None) -> None:
    """Before anything is launched: refuse to ask for evidence that these queries can never give.

    Raises:
        InputError: with what to add.
    """
    if accept == "best" or max(len(splits.test), len(splits.fresh)) >= ENOUGH_QUERIES:
        return
    raise InputError(
        f"--accept significant could never accept: with fewer than {ENOUGH_QUERIES} queries that could differ no p "
        "value reaches 0.05",
        file=file,
        found=f"{len(splits.test)} test queries" + (f", {len(splits.fresh)} fresh" if splits.fresh else ""),
        expected=f"{ENOUGH_QUERIES} at least",
        hint="Add queries or raise --holdout; or use --accept best, and read the evidence beside it.",
    )
