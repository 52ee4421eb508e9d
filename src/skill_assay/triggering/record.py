"""`results.json`: a superset of skill-creator's `run_eval` output, queries in the order of their file."""

from __future__ import annotations

from typing import Any

from skill_assay.formats.record import to_plain
from skill_assay.model.trigger_results import ClassFigures, QueryResult, RunState, TriggerResults
from skill_assay.stats.results import Classification, Interval, Share

__all__ = ["SCHEMA_VERSION", "results_record"]

SCHEMA_VERSION = 1
_ALIKE = (
    *("runs", "threshold", "decide_after", "subagents", "curtail", "seed", "kind", "edited_description", "agent"),
    *("agent_version", "model", "simulated", "notes", "advice", "ending", "launches", "usd", "tokens", "unbilled"),
    *("assumed_usd", "started_at", "skill", "skill_digest", "digests"),
)


def results_record(found: TriggerResults) -> dict[str, Any]:
    """The record. `results[].runs` and `trigger_rate` are over decided runs, as a reader of that dialect takes them.

    A query without a decided run has a rate and a `pass` of null, and is neither passed nor failed.
    """
    passed = [one.passed for one in found.queries]
    facts = {name: to_plain(getattr(found, name)) for name in _ALIKE if name != "runs"}
    return {
        "schema_version": SCHEMA_VERSION,
        "skill_name": found.skill_name,
        "description": found.description,
        "results": [_query(one) for one in found.queries],
        "summary": {
            "total": len(passed),
            "passed": passed.count(True),
            "failed": passed.count(False),
            "undecided": passed.count(None),
            "left_out": {state.value: _count(found, state) for state in _left_out(found)},
            **_scores(found.scores),
        },
        "by_tag": {tag: _scores(scores) for tag, scores in found.by_tag.items()},
        "by_context": {group: _scores(scores) for group, scores in found.by_context.items()},
        **({"by_class": [_class(name, one) for name, one in found.by_class.items()]} if found.by_class else {}),
        "matrix": to_plain(found.matrix),
        "catalogue": to_plain(found.catalogue),
        "diagnosis": to_plain(found.diagnosis) if found.diagnosis else None,
        "runs_per_query": found.runs,
        **facts,
    }


def _left_out(found: TriggerResults) -> list[RunState]:
    unseen = [RunState.UNSEEN] if _count(found, RunState.UNSEEN) else []
    return [RunState.TIMEOUT, RunState.ERROR, *unseen]


def _class(name: str, one: ClassFigures) -> dict[str, Any]:
    figures = {"queries": one.queries, "undecided": one.undecided, "unseen": one.unseen}
    return {"class": name or None, **figures, "as_wanted": _share(one.as_wanted), "fired": _share(one.fired)}


def _count(found: TriggerResults, state: RunState) -> int:
    return sum(run.state is state for run in found.every_run)


def _query(one: QueryResult) -> dict[str, Any]:
    query = one.query
    context = {name: list(value) for name, value in (("files", query.files), ("turns", query.turns)) if value}
    return {
        "query": query.text,
        "should_trigger": query.should_trigger,
        "trigger_rate": _rounded(one.rate),
        "triggers": one.triggers,
        "runs": one.decided,
        "pass": one.passed,
        "id": query.id,
        "interval": _interval(one.interval),
        "planned": one.planned,
        "curtailed": one.curtailed,
        **({"split": query.split} if query.split else {}),
        **({"expected_skill": query.expected_skill} if query.expected_skill else {}),
        **({"tags": list(query.tags)} if query.tags else {}),
        **({"context": context} if context else {}),
        "trials": [to_plain(run) for run in one.runs],
    }


def _scores(scores: Classification) -> dict[str, Any]:
    shares = {name: _share(getattr(scores, name)) for name in ("accuracy", "precision", "recall", "specificity")}
    f1 = {"value": _rounded(scores.f1), "interval": _interval(scores.f1_interval)}
    counts = {name: getattr(scores, name) for name in _COUNTS}
    return {**counts, **shares, "f1": f1}


_COUNTS = ("true_positive", "false_positive", "false_negative", "true_negative")


def _share(share: Share) -> dict[str, Any]:
    return {"value": _rounded(share.value), "count": share.count, "n": share.n, "interval": _interval(share.interval)}


def _interval(interval: Interval | None) -> list[float] | None:
    return [round(interval.low, 4), round(interval.high, 4)] if interval else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
