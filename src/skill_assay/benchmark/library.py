"""One verdict a skill, corrected for their number (Benjamini-Hochberg over the p of the scope shown), worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skill_assay.model.library import LibraryRow

__all__ = ["ranked"]


def ranked(rows: Sequence[LibraryRow]) -> tuple[LibraryRow, ...]:
    """The rows with adjusted p values, the worst first."""
    from skill_assay.stats.counts import benjamini_hochberg

    tested = [(at, row.inference.p) for at, row in enumerate(rows) if row.inference and row.inference.p is not None]
    adjusted = benjamini_hochberg([p for _, p in tested if p is not None])
    by_place = {at: p for (at, _), p in zip(tested, adjusted, strict=True)}
    return tuple(sorted((replace(row, adjusted_p=by_place.get(at)) for at, row in enumerate(rows)), key=_rank))


def _rank(row: LibraryRow) -> tuple[int, float, str]:
    return row.rank
