"""From an allocation's tallies to the cells of a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skill_assay.model.optimisation import Cell, Round
from skill_assay.model.triggers import Query, Split
from skill_assay.triggering.allocate import Allocation, Tally

__all__ = ["cells_of", "with_test"]


def cells_of(allocation: Allocation, sides: Mapping[Split, Sequence[Query]]) -> tuple[Cell, ...]:
    """The tallies as cells; an allocation's test side may hold fresh queries."""
    found = []
    for split, queries in sides.items():
        tallies = {tally.query.id: tally for tally in allocation.of("train" if split == "train" else "test")}
        found += [_cell(tallies[query.id], split) for query in queries]
    return tuple(found)


def _cell(tally: Tally, split: Split) -> Cell:
    return Cell(
        query=tally.query,
        split=split,
        fired=tally.fired,
        decided=tally.decided_runs,
        failed=tally.failed,
        planned=tally.planned,
        passed=tally.passed,
        sure=tally.sure,
    )


def with_test(one: Round, allocation: Allocation) -> Round:
    """The round with its test queries as this allocation has them, those of the round among them."""
    test = {tally.query.id: _cell(tally, "test") for tally in allocation.of("test")}
    cells = tuple(test.get(cell.query.id, cell) if cell.split == "test" else cell for cell in one.cells)
    launches = one.launches + allocation.done - sum(cell.decided + cell.failed for cell in one.of("test"))
    return replace(one, cells=cells, launches=launches)
