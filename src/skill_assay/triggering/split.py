"""Splits a trigger set into what guides the optimiser (train), what picks (test) and what is published (fresh).

Stratified by label. For the same list, hold-out and seed the membership is that of skill-creator's split: Python's
`random`, each class shuffled, its first `max(1, int(n × holdout))` to test. A query's own `split` wins, and queries of
one text are never on two sides.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from skill_assay.errors import InputError
from skill_assay.model.triggers import Query, Split

__all__ = ["HOLDOUT", "SEED", "Splits", "split_queries"]

HOLDOUT = 0.4
SEED = 42
_MEANT = {
    "train": "which guides the proposer",
    "test": "which picks the description",
    "fresh": "which gives the number to publish",
}


@dataclass(frozen=True, slots=True)
class Splits:
    """Disjoint, each with queries of both labels (`fresh` may be empty)."""

    train: tuple[Query, ...]
    test: tuple[Query, ...]
    fresh: tuple[Query, ...] = ()

    def of(self, split: Split) -> tuple[Query, ...]:
        """The queries of one side."""
        return {"train": self.train, "test": self.test, "fresh": self.fresh}[split]


def split_queries(
    queries: Sequence[Query], *, holdout: float = HOLDOUT, seed: int = SEED, fresh: float = 0.0, file: str | None = None
) -> Splits:
    """Split a trigger set.

    Args:
        queries: in the order of the file.
        holdout: share of each label that goes to test, above 0 and below 1.
        seed: of the shuffle.
        fresh: share of each label that is left untouched until the end, 0 for none; taken out of train.
        file: where they stand, for messages.

    Raises:
        InputError: a side would lack a label (the message says what to add), or one text has two `split` values.
    """
    if not 0 < holdout < 1 or not 0 <= fresh < 1 or holdout + fresh >= 1:
        shares = f"--holdout {holdout:g}, --fresh {fresh:g}"
        raise InputError("leaves no queries to train on", found=shares, expected="shares whose sum is below 1")
    sides = _Sides()
    for query in queries:
        if query.split:
            sides.fix(query, query.split, file)
    chance = random.Random(seed)
    for label in (True, False):
        _deal([query for query in queries if query.should_trigger is label], sides, chance, holdout, fresh)
    found = sides.splits()
    _refuse_degenerate(found, fresh > 0, file)
    return found


@dataclass(slots=True)
class _Sides:
    """Which text goes where, and the queries in the order they were dealt."""

    by_text: dict[str, Split] = field(default_factory=dict)
    dealt: dict[Split, list[Query]] = field(default_factory=lambda: {"train": [], "test": [], "fresh": []})

    def fix(self, query: Query, side: Split, file: str | None) -> None:
        if self.by_text.setdefault(_key(query), side) != side:
            raise InputError(
                "one text has two splits, so what is tested would have been seen in training",
                file=file,
                found=f"{query.text[:60]!r} in {self.by_text[_key(query)]} and {side}",
                hint="Give both the same split, or remove one.",
            )

    def put(self, queries: Iterable[Query], side: Split) -> None:
        for query in queries:
            self.by_text.setdefault(_key(query), side)
            self.dealt[side].append(query)

    def splits(self) -> Splits:
        return Splits(*(tuple(self.dealt[side]) for side in ("train", "test", "fresh")))


def _key(query: Query) -> str:
    return " ".join(query.text.casefold().split())


def _deal(queries: Sequence[Query], sides: _Sides, chance: random.Random, holdout: float, fresh: float) -> None:
    """Deal the queries of one label: first those whose side is known, then the rest by chance, text by text."""
    free: dict[str, list[Query]] = {}
    taken = {"train": 0, "test": 0, "fresh": 0}
    for query in queries:
        side = sides.by_text.get(_key(query))
        if side is None:
            free.setdefault(_key(query), []).append(query)
        else:
            sides.put([query], side)
            taken[side] += 1
    groups = list(free.values())
    chance.shuffle(groups)
    total = len(queries)
    tested = max(0, max(1, int(total * holdout)) - taken["test"])
    kept = max(0, max(1, int(total * fresh)) - taken["fresh"]) if fresh else 0
    test, rest = _first(groups, tested)
    fresh_groups, train = _first(rest[::-1], kept)
    parts: dict[Split, list[list[Query]]] = {"test": test, "train": train[::-1], "fresh": fresh_groups[::-1]}
    for side, part in parts.items():
        sides.put([query for group in part for query in group], side)


def _first(groups: list[list[Query]], wanted: int) -> tuple[list[list[Query]], list[list[Query]]]:
    """Whole groups from the front until they hold so many queries; and the others."""
    count = at = 0
    while at < len(groups) and count < wanted:
        count += len(groups[at])
        at += 1
    return groups[:at], groups[at:]


def _refuse_degenerate(splits: Splits, fresh: bool, file: str | None) -> None:
    sides: list[Split] = ["train", "test"]
    if splits.fresh or fresh:
        sides.append("fresh")
    lacking = [
        (side, label)
        for side in sides
        for label in (True, False)
        if not any(query.should_trigger is label for query in splits.of(side))
    ]
    if not lacking:
        return
    side, label = lacking[0]
    word = "should trigger" if label else "should not trigger"
    wants = [
        f"{sum(1 for _, one in lacking if one is each)} with should_trigger {str(each).lower()}"
        for each in (True, False)
        if any(one is each for _, one in lacking)
    ]
    raise InputError(
        f"the {side} split, {_MEANT[side]}, would have no query that {word}",
        file=file,
        found=_counts(splits, sides),
        expected="at least one of each label on each side",
        hint=f"Add at least {' and '.join(wants)} (other texts than those that are there)"
        + (", or change what the `split` fields say." if any(q.split for s in sides for q in splits.of(s)) else "."),
    )


def _counts(splits: Splits, sides: Sequence[Split]) -> str:
    def words(queries: Sequence[Query]) -> str:
        positive = sum(query.should_trigger for query in queries)
        return f"{positive} that should trigger and {len(queries) - positive} that should not"

    return "; ".join(f"{side} {words(splits.of(side))}" for side in sides)
