"""A `grading.json` of whoever's making, read tolerantly: any JSON gives gradings or a reason, never a crash."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skill_assay.model.benchmark import ExpectationResult
from skill_assay.workspace.reading import Unreadable
from skill_assay.workspace.roles import is_arm

Json = dict[str, Any]

__all__ = ["Grading", "expectations", "identity", "number", "parse_grading", "whole"]

_LISTS = ("expectations", "assertions", "assertion_results", "expectation_results", "criteria")
_TEXTS = ("text", "assertion", "expectation", "name", "description", "criterion", "id")
_PASSED = ("passed", "pass", "result", "status", "verdict")
_EVIDENCE = ("evidence", "reason", "details", "explanation", "notes", "note")
_ARMS = ("condition", "configuration", "config", "run_type", "arm")
_YES = frozenset({"true", "pass", "passed", "yes", "met"})
_NO = frozenset({"false", "fail", "failed", "no", "not met"})


@dataclass(frozen=True, slots=True)
class Grading:
    """What one run was graded."""

    expectations: tuple[ExpectationResult, ...]
    arm: str | None = None
    eval_id: int | str | None = None
    eval_name: str | None = None
    run: int | None = None
    seconds: float | None = None
    tool_calls: int | None = None
    errors: int | None = None
    skill_used: bool | None = None
    stated_rate: float | None = None
    """The pass rate of the file's summary, where it is that of the list, rounded to two decimals or more."""
    mismatch: str | None = None
    """Where the file's own summary disagrees with its list."""


def parse_grading(data: Any) -> list[Grading]:
    """The gradings a file holds: one as a rule, several for `{condition, runs[]}` and `{arm: [runs]}`.

    Raises:
        Unreadable: it holds none.
    """
    if not isinstance(data, dict):
        raise Unreadable(f"is {_kind(data)}, not an object with expectations")
    if (items := _list(data)) is not None:
        return [_one(items, data, data, None, None)]
    found = list(_several(data))
    if not found:
        raise Unreadable("has no list of expectations")
    return found


def _several(data: Json) -> Iterator[Grading]:
    groups = [(_arm(data), data.get("runs"))]
    groups += [(key, value) for key, value in data.items() if isinstance(key, str) and is_arm(key)]
    for arm, runs in groups:
        for place, run in enumerate(runs if isinstance(runs, list) else [runs], start=1):
            if isinstance(run, dict) and (items := _list(run)) is not None:
                yield _one(items, run, data, arm, place)


def _list(run: Json) -> list[Any] | None:
    """The list of expectations, under whatever name."""
    for key in _LISTS:
        found = run.get(key)
        if isinstance(found, list):
            return found
    return None


def _one(items: list[Any], run: Json, whole_file: Json, arm: str | None, place: int | None) -> Grading:
    results = expectations(items)
    metrics = run.get("execution_metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    timing = run.get("timing")
    loaded = run.get("skill_loaded", run.get("skill_used"))
    stated_rate, mismatch = _summary(run.get("summary"), results)
    name = whole_file.get("eval_name")
    return Grading(
        expectations=results,
        arm=arm or _arm(run) or _arm(whole_file),
        eval_id=identity(whole_file.get("eval_id")),
        eval_name=name if isinstance(name, str) and name else None,
        run=whole(run.get("run")) or whole(run.get("run_number")) or place,
        seconds=number(timing.get("total_duration_seconds")) if isinstance(timing, dict) else None,
        tool_calls=whole(metrics.get("total_tool_calls")),
        errors=whole(metrics.get("errors_encountered")),
        skill_used=loaded if isinstance(loaded, bool) else None,
        stated_rate=stated_rate,
        mismatch=mismatch,
    )


def expectations(items: list[Any]) -> tuple[ExpectationResult, ...]:
    """The expectations of a list; an item that says nothing readable is ungraded, never a pass."""
    return tuple(_expectation(item, index) for index, item in enumerate(items))


def _expectation(item: Any, index: int) -> ExpectationResult:
    if not isinstance(item, dict):
        stands_for = item if isinstance(item, str) else f"expectation {index}"
        return ExpectationResult(stands_for, None, f"Ungraded: the file has {_kind(item)} here")
    text, passed, evidence = item.get("text"), item.get("passed"), item.get("evidence")
    if len(item) == 3 and type(text) is str and type(passed) is bool and type(evidence) is str:
        # What every tool writes, at once: this is the inner loop over a large workspace.
        return ExpectationResult(text, passed, evidence)
    if not isinstance(text, str):
        text = next((str(item[key]) for key in _TEXTS if item.get(key) not in (None, "")), f"expectation {index}")
    if not isinstance(passed, bool):
        passed = next((found for key in _PASSED if (found := _decision(item.get(key))) is not None), None)
    if not isinstance(evidence, str):
        evidence = next((_text(item[key]) for key in _EVIDENCE if item.get(key) is not None), "")
    severity = "info" if item.get("severity") == "info" else "required"
    counted = item.get("counted") is not False and severity == "required"
    grader = item.get("grader")
    return ExpectationResult(text, passed, evidence, counted, severity, grader if isinstance(grader, str) else None)


def _decision(value: Any) -> bool | None:
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else None
    return bool(value) if isinstance(value, (bool, int)) and value in (0, 1) else None


def _summary(summary: Any, results: tuple[ExpectationResult, ...]) -> tuple[float | None, str | None]:
    """The stated pass rate where the list bears it out, and what in the summary the list contradicts."""
    if not isinstance(summary, dict):
        return None, None
    decided = [one.passed for one in results if one.counted and one.passed is not None]
    passed, total = sum(decided), len(decided)
    counts = ((number(summary.get("passed")), passed), (number(summary.get("total")), total))
    rate = number(summary.get("pass_rate"))
    wrong = any(stated is not None and stated != true for stated, true in counts)
    if total == 0 or rate is None:
        borne_out = None
    else:
        borne_out = rate if abs(rate - passed / total) <= 0.005 and rate <= 1 else None
        wrong = wrong or borne_out is None
    if not wrong:
        return borne_out, None
    said = f"{summary.get('passed')} of {summary.get('total')}, pass rate {summary.get('pass_rate')}"
    return borne_out, f"its summary says {said[:100]}; its list gives {passed} of {total}"


def _arm(data: Json) -> str | None:
    return next((data[key] for key in _ARMS if isinstance(data.get(key), str) and data[key]), None)


def identity(value: Any) -> int | str | None:
    """An eval's id: a whole number or a text that is not empty."""
    if isinstance(value, bool):
        return None
    return value if isinstance(value, int) or (isinstance(value, str) and value) else None


def number(value: Any) -> float | None:
    """A finite number of at least 0; `None` for anything else, so that unknown is never 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:  # JSON holds integers of any size
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def whole(value: Any) -> int | None:
    """The same as a whole number."""
    found = number(value)
    return int(found) if found is not None and found < 1e15 else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)[:2000]


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "an object")
