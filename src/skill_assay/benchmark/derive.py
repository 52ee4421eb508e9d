"""Everything that can be said of an iteration, derived again from what is stored, without an agent."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.benchmark.cells import outcome_of
from skill_assay.benchmark.early import early_of
from skill_assay.benchmark.inference import infer
from skill_assay.benchmark.iterations import compare, fresh_trials, name_of, previous_of
from skill_assay.model.benchmark import Benchmark
from skill_assay.model.comparison import Comparison
from skill_assay.model.inference import Inference, InferenceSettings
from skill_assay.workspace.discovery import Found, discover
from skill_assay.workspace.store import Iteration

__all__ = ["Derived", "derive"]


@dataclass(frozen=True, slots=True)
class Derived:
    """The numbers of an iteration, and what may be concluded from them."""

    benchmark: Benchmark
    inference: Inference | None
    """`None` where there is only one arm, or no run."""
    found: Found


def derive(
    place: Path,
    *,
    thresholds: Mapping[str, Any] | None = None,
    primary: str | None = None,
    baseline: str | None = None,
    eval_ids: Iterable[str] = (),
    tags: Iterable[str] = (),
    previous: str | None = None,
    common: bool = False,
) -> Derived:
    """The benchmark of an iteration, ours or somebody else's.

    Args:
        place: the iteration, or a folder in any layout that discovery knows.
        thresholds: instead of those of the plan.
        primary: the arm whose benefit is asked, where roles are to be told.
        baseline: the arm it is compared with.
        eval_ids: only these evals, by id or name; with `tags`, either is enough.
        tags: only evals with one of these tags.
        previous: the iteration to compare with; for one of ours the one before, where not given.
        common: compare with it only what both have unchanged, instead of refusing where their evals differ.

    Raises:
        NotFoundError: no run was found, or no eval is left.
    """
    with _collector_rests():
        return _derive(place, thresholds, primary, baseline, eval_ids, tags, previous, common)


def _derive(
    place: Path,
    thresholds: Mapping[str, Any] | None,
    primary: str | None,
    baseline: str | None,
    eval_ids: Iterable[str],
    tags: Iterable[str],
    previous: str | None,
    common: bool,
) -> Derived:
    found = discover(place, primary=primary, baseline=baseline)
    named, tagged = set(eval_ids), set(tags)
    if named or tagged:
        found = found.only(one.key for one in found.evals if {one.key, one.name} & named or set(one.tags) & tagged)
    inference = _infer(found)
    benchmark = aggregate(
        found,
        thresholds=thresholds,
        inference=inference.to_dict() if inference else None,
        comparison=_compare(found, previous, common or bool(named or tagged)),
    )
    return Derived(benchmark, inference, found)


@contextmanager
def _collector_rests() -> Iterator[None]:
    """Nearly all that is made here is kept; a collection would walk through all of it each time, and find nothing."""
    wanted = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if wanted:
            gc.enable()


def _compare(found: Found, named: str | None, common: bool) -> Comparison | None:
    """With the iteration named, that of the plan, or the one before."""
    if named is None and found.plan is not None:
        stated = found.plan.settings.get("previous_benchmark")
        named = str(stated) if stated and Path(str(stated)).exists() else None
    iteration = Iteration(found.root)
    earlier = previous_of(iteration, named) if named or found.plan else None
    if earlier is None:
        return None
    fresh = fresh_trials(iteration.confirm_path(earlier.number))
    name = name_of(earlier, found)
    return compare(discover(earlier.path), found, name=name, number=earlier.number, common=common, fresh=fresh)


def _infer(found: Found) -> Inference | None:
    first = next((arm for arm in found.arms if arm.role == "primary"), None)
    second = next((arm for arm in found.arms if arm.role == "baseline"), None)
    if first is None or second is None:
        return None
    settings = found.plan.settings if found.plan else {}
    return infer(
        [outcome_of(run) for run in found.runs],
        first.name,
        second.name,
        InferenceSettings(
            margin=float(settings.get("margin", 0.05)),
            seed=found.plan.seed if found.plan else 42,
            timeouts=found.plan.timeouts if found.plan else "exclude",
            baseline_has_skill=bool(found.plan and any(a.skill for a in found.plan.arms if a.name == second.name)),
            early=early_of(settings),
        ),
    )
