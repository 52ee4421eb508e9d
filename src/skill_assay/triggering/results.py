"""From the runs of every query to the figures of the whole set. Pure: nothing is launched or read here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from skill_assay.model.prompt_classes import CLASSES, class_of
from skill_assay.model.trigger_results import ClassFigures, Matrix, MatrixRow, QueryResult, RunState, TriggerRun
from skill_assay.model.triggers import Query
from skill_assay.stats.intervals import wilson
from skill_assay.stats.results import Classification, Share
from skill_assay.stats.triggering import classify, curtailed_rate, reaches, stopping_point

__all__ = ["by_class", "by_context", "by_tag", "judge_query", "make_matrix", "score"]


def judge_query(
    query: Query, runs: Iterable[TriggerRun], planned: int, threshold: float, *, curtail: bool = False
) -> QueryResult:
    """One query's rate, and whether it passes.

    Args:
        query: the query.
        runs: all its runs, whatever became of them.
        planned: runs of the full grid.
        threshold: a positive passes at this rate and above, a negative below it.
        curtail: its runs may have been stopped once it was decided; the rate is then the unbiased one.
    """
    ordered = tuple(sorted(runs, key=lambda run: run.repeat))
    triggers = sum(run.state is RunState.TRIGGERED for run in ordered)
    decided = sum(run.state.outcome is not None for run in ordered)
    outcomes = [run.state.outcome for run in ordered]
    stopped = curtail and (stopping_point(outcomes, planned, threshold) or planned) < planned
    return QueryResult(
        query=query,
        runs=ordered,
        planned=planned,
        triggers=triggers,
        decided=decided,
        rate=_rate(outcomes, planned, threshold, curtail),
        interval=None if curtail else wilson(triggers, decided),
        passed=(reaches(triggers, decided, threshold) == query.should_trigger) if decided else None,
        curtailed=stopped,
    )


def _rate(outcomes: Sequence[bool | None], planned: int, threshold: float, curtail: bool) -> float | None:
    if curtail:
        return curtailed_rate(outcomes, planned, threshold)
    decided = [outcome for outcome in outcomes if outcome is not None]
    return sum(decided) / len(decided) if decided else None


def score(queries: Iterable[QueryResult], seed: int) -> Classification:
    """The figures of a set, counted in queries; those without a decided run are in none of them."""
    counts = Counter((one.query.should_trigger, one.passed) for one in queries)
    return classify(
        counts[True, True],
        false_positive=counts[False, False],
        false_negative=counts[True, False],
        true_negative=counts[False, True],
        seed=seed,
    )


def by_tag(queries: Sequence[QueryResult], seed: int) -> dict[str, Classification]:
    """The figures of the queries with each tag, by tag."""
    tags = dict.fromkeys(tag for one in queries for tag in one.query.tags)
    return {tag: score([one for one in queries if tag in one.query.tags], seed) for tag in tags}


def by_class(queries: Sequence[QueryResult]) -> dict[str, ClassFigures]:
    """The figures of each class of prompts; nothing where no query has one."""
    groups: dict[str, list[QueryResult]] = {}
    for one in queries:
        groups.setdefault(class_of(one.query.tags) or "", []).append(one)
    if not any(groups):
        return {}
    return {name: _class_figures(groups[name]) for name in (*CLASSES, "") if name in groups}


def _class_figures(queries: Sequence[QueryResult]) -> ClassFigures:
    passed = [one.passed for one in queries if one.passed is not None]
    runs = [run for one in queries for run in one.runs]
    return ClassFigures(
        queries=len(queries),
        undecided=len(queries) - len(passed),
        as_wanted=_share(sum(passed), len(passed)),
        fired=_share(sum(one.triggers for one in queries), sum(one.decided for one in queries)),
        unseen=sum(run.state is RunState.UNSEEN for run in runs),
    )


def _share(count: int, n: int) -> Share:
    return Share(count, n, wilson(count, n))


def by_context(queries: Sequence[QueryResult], seed: int) -> dict[str, Classification]:
    """The figures of bare queries, and of those with files or earlier turns; nothing where all are alike."""
    groups: dict[str, list[QueryResult]] = {"bare": [], "with context": []}
    for one in queries:
        groups["with context" if one.query.files or one.query.turns else "bare"].append(one)
    return {name: score(group, seed) for name, group in groups.items()} if all(groups.values()) else {}


def make_matrix(queries: Iterable[QueryResult], own: str, neighbours: Mapping[str, str]) -> Matrix:
    """Wanted against used, in decided runs.

    A run that ends early at its use is not seen to use another skill afterwards.

    Args:
        queries: with their runs.
        own: the folder of the skill under test.
        neighbours: name or folder → folder of every other skill; `expected_skill` may be either.
    """
    wanted: dict[str | None, list[TriggerRun]] = {}
    for one in queries:
        wanted.setdefault(_wanted(one.query, own, neighbours), []).extend(
            run for run in one.runs if run.state.outcome is not None
        )
    used = {name for runs in wanted.values() for run in runs for name in run.fired}
    columns: tuple[str | None, ...] = (own, *sorted(used - {own}), None)
    order = sorted(wanted, key=lambda name: (name is None, name != own, name or ""))
    return Matrix(columns, tuple(MatrixRow(name, _counts(wanted[name], columns), len(wanted[name])) for name in order))


def _wanted(query: Query, own: str, neighbours: Mapping[str, str]) -> str | None:
    if query.should_trigger:
        return own
    return neighbours.get(query.expected_skill, query.expected_skill) if query.expected_skill else None


def _counts(runs: Sequence[TriggerRun], columns: Sequence[str | None]) -> tuple[int, ...]:
    return tuple(sum(name in run.fired if name else not run.fired for run in runs) for name in columns)
