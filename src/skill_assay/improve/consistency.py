"""How alike the outputs of an arm's repeats are: mean pairwise Jaccard similarity of paths, JSON keys, CSV headers."""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from skill_assay.graders.outputs import Unreadable, read_text
from skill_assay.model.benchmark import Run

__all__ = ["Consistency", "consistency_of", "jaccard", "output_files"]

_LIMIT = 2_000_000
_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Consistency:
    """Mean over evals of the mean over pairs of repeats, in [0, 1]; `None` where no two repeats have any."""

    paths: float | None
    json_keys: float | None
    csv_headers: float | None
    evals: int
    """Evals with at least two repeats."""


def jaccard(first: frozenset[str], second: frozenset[str]) -> float | None:
    """Share of common elements; `None` where both are empty."""
    union = first | second
    return len(first & second) / len(union) if union else None


def output_files(folder: Path) -> list[str]:
    """Paths below a run's outputs, `/`-separated, sorted; links are left out, and an answer kept there for viewers."""
    outputs = folder / "outputs"
    if not outputs.is_dir():
        return []
    files = [path for path in outputs.rglob("*") if path.is_file() and not path.is_symlink()]
    names = sorted(path.relative_to(outputs).as_posix() for path in files)
    return [] if names == ["answer.md"] else names


def consistency_of(root: Path, runs: Sequence[Run]) -> Consistency:
    """How alike an arm's repeats are.

    Args:
        root: the iteration.
        runs: of one arm.
    """
    by_eval: dict[str, list[Path]] = {}
    for run in runs:
        by_eval.setdefault(run.eval.key, []).append(root / run.folder)
    several = [folders for folders in by_eval.values() if len(folders) > 1]
    return Consistency(
        _alike(several, output_files),
        _alike(several, _json_keys),
        _alike(several, _csv_headers),
        len(several),
    )


def _alike(evals: Iterable[Sequence[Path]], of: Callable[[Path], Iterable[str]]) -> float | None:
    means = []
    for folders in evals:
        sets = [frozenset(of(folder)) for folder in folders]
        pairs = [value for a, b in combinations(sets, 2) if (value := jaccard(a, b)) is not None]
        means += [statistics.fmean(pairs)] if pairs else []
    return statistics.fmean(means) if means else None


def _texts(folder: Path, ending: str) -> Iterator[str]:
    for name in output_files(folder):
        if name.lower().endswith(ending):
            try:
                text = read_text(folder / "outputs", name)
            except Unreadable:
                continue
            if len(text) <= _LIMIT:
                yield text


def _json_keys(folder: Path) -> Iterator[str]:
    for text in _texts(folder, ".json"):
        try:
            yield from _keys(json.loads(text), "$", _DEPTH)
        except (ValueError, RecursionError):
            continue


def _keys(value: Any, path: str, depth: int) -> Iterator[str]:
    if not depth:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from _keys(inner, f"{path}.{key}", depth - 1)
    elif isinstance(value, list):
        for inner in value[:100]:
            yield from _keys(inner, f"{path}[]", depth - 1)


def _csv_headers(folder: Path) -> Iterator[str]:
    for text in _texts(folder, ".csv"):
        first = text.split("\n", 1)[0]
        try:
            yield from (cell.strip() for cell in next(csv.reader([first]), []))
        except csv.Error:
            continue
