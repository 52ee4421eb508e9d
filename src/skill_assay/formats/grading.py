"""`grading.json`: written under the names every viewer reads, and read from whoever wrote it.

The summary is always recomputed from the list; what a file claims about itself is only compared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from skill_assay.errors import InputError
from skill_assay.formats.notes import shown
from skill_assay.model.evals import Requirement
from skill_assay.model.findings import Finding, Severity
from skill_assay.model.grade import Decision, Evidence, Grade, GraderName
from skill_assay.model.trial import Trial

__all__ = ["SCHEMA_VERSION", "Grading", "grading_from_dict", "grading_to_dict", "summary_of"]

SCHEMA_VERSION = 1

_LISTS = ("expectations", "assertions", "assertion_results")
_TEXTS = ("text", "assertion", "expectation", "name", "description")
_EVIDENCE = ("evidence", "reason", "details")
_STATES = {Decision.PASSED: "graded", Decision.FAILED: "graded", Decision.UNGRADED: "ungraded", Decision.ERROR: "error"}
_GRADERS = frozenset({"check", "script", "judge", "person", "none"})
_REMARKS = ("claims", "user_notes_summary", "eval_feedback")
_SHARE = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*")


@dataclass(frozen=True, slots=True)
class Grading:
    """What a `grading.json` says, whoever wrote it."""

    grades: tuple[Grade, ...]
    findings: tuple[Finding, ...] = ()
    """A summary that disagrees with the list, and what could not be read."""


def summary_of(grades: Sequence[Grade]) -> dict[str, Any]:
    """`passed`, `failed`, `total` and `pass_rate` over what counts, `ungraded` apart; no rate without a total."""
    passed = failed = ungraded = 0
    for grade in grades:
        if grade.decision is not Decision.PASSED and grade.decision is not Decision.FAILED:
            ungraded += 1
        elif _counts(grade):
            passed += grade.decision is Decision.PASSED
            failed += grade.decision is Decision.FAILED
    total = passed + failed
    rate = {"pass_rate": passed / total} if total else {}
    return {"passed": passed, "failed": failed, "total": total, **rate, "ungraded": ungraded}


def grading_to_dict(trial: Trial) -> dict[str, Any]:
    """The record of a trial's grades. It carries no `timing`: skill-creator would then skip the tokens."""
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "expectations": [_written(grade) for grade in trial.grades],
        "summary": summary_of(trial.grades),
    }
    record |= {name: trial.remarks[name] for name in _REMARKS if name in trial.remarks}
    if trial.last:
        record["execution_metrics"] = {
            "tool_calls": dict(trial.last.tools_called),
            "total_tool_calls": sum(trial.last.tools_called.values()),
            "errors_encountered": trial.last.tool_errors,
        }
    return record


def _counts(grade: Grade) -> bool:
    decided = grade.decision is Decision.PASSED or grade.decision is Decision.FAILED
    return decided and grade.counted and grade.severity == "required"


def _written(grade: Grade) -> dict[str, Any]:
    evidence = grade.evidence
    if grade.decision is Decision.UNGRADED and not evidence.startswith("Ungraded:"):
        evidence = f"Ungraded: {evidence}"
    record: dict[str, Any] = {
        "text": grade.text,
        "passed": grade.passed,
        "evidence": evidence,
        "grader": grade.grader,
        "state": _STATES[grade.decision],
        "evidence_verified": grade.verified,
        "severity": grade.severity,
        "counted": _counts(grade),
        "evidence_at": [_place(place) for place in grade.places],
    }
    if grade.seconds is not None:
        if not math.isfinite(grade.seconds):
            raise ValueError("a number that is not finite can't be recorded")
        record["seconds"] = grade.seconds
    return record


def _place(place: Evidence) -> dict[str, Any]:
    return {"file": place.file} if place.line is None else {"file": place.file, "line": place.line}


def grading_from_dict(raw: Any, *, file: str = "grading.json") -> Grading:
    """The grades of a `grading.json`, ours or another tool's.

    `passed: null`, and anything that is neither true nor false, is ungraded, never a pass or a fail.

    Raises:
        InputError: there is no list of expectations.
    """
    key = next((key for key in _LISTS if isinstance(raw.get(key), list)), None) if isinstance(raw, dict) else None
    if key is None:
        found = f"keys {', '.join(map(str, raw))}"[:80] if isinstance(raw, dict) else type(raw).__name__
        raise InputError("has no list of expectations", file=file, found=found, expected="expectations: […]")
    findings: list[Finding] = []
    grades = tuple(_read(item, f"$.{key}[{index}]", file, findings) for index, item in enumerate(raw[key]))
    if isinstance(raw.get("summary"), dict):
        _compare(raw["summary"], grades, file, findings)
    return Grading(grades, tuple(findings))


def _read(item: Any, path: str, file: str, findings: list[Finding]) -> Grade:
    if not isinstance(item, dict):
        message = "an expectation can't be read; it is ungraded"
        findings.append(_warning("wrong-type", message, path, file, shown(item)))
        stands_for = item if isinstance(item, str) else path
        return Grade(stands_for, Decision.UNGRADED, "Ungraded: the file holds no decision", "none", counted=False)
    # The names that nearly every file uses are looked at first: large workspaces hold 100,000 of these.
    text, passed, evidence = item.get("text"), item.get("passed"), item.get("evidence")
    if passed is True or passed is False:
        decision = Decision.PASSED if passed else Decision.FAILED
        unsaid = "No evidence is given."
    else:
        if passed is not None:
            message = "passed is neither true nor false; it is ungraded"
            findings.append(_warning("not-boolean", message, path, file, shown(passed)))
        decision = Decision.ERROR if item.get("state") == "error" else Decision.UNGRADED
        unsaid = "Ungraded: the file gives no reason"
    severity: Requirement = "info" if item.get("severity") == "info" else "required"
    grader, verified, seconds = item.get("grader"), item.get("evidence_verified"), item.get("seconds")
    return Grade(
        text if type(text) is str and text else _first(item, _TEXTS) or path,
        decision,
        evidence if type(evidence) is str and evidence else _first(item, _EVIDENCE) or unsaid,
        cast(GraderName, grader) if isinstance(grader, str) and grader in _GRADERS else "none",
        severity,
        (passed is True or passed is False) and severity == "required" and item.get("counted") is not False,
        _places(item["evidence_at"]) if item.get("evidence_at") else (),
        verified if isinstance(verified, bool) else None,
        float(seconds) if seconds is not None and _is_number(seconds) else None,
    )


def _first(item: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _places(raw: Any) -> tuple[Evidence, ...]:
    if not isinstance(raw, list):
        return ()
    found = [item for item in raw if isinstance(item, dict) and isinstance(item.get("file"), str)]
    lines = (item.get("line") for item in found)
    return tuple(
        Evidence(item["file"], line if type(line) is int else None) for item, line in zip(found, lines, strict=True)
    )


def _compare(summary: Mapping[str, Any], grades: tuple[Grade, ...], file: str, findings: list[Finding]) -> None:
    """Name every figure of a file's own summary that its list does not bear out."""
    ours = summary_of(grades)
    for name in ("passed", "failed", "total"):
        value = summary.get(name)
        if _is_number(value) and value != ours[name]:
            findings.append(_mismatch(name, value, ours[name], file))
    said = _rate(summary.get("pass_rate"))
    if said is not None and abs(said - ours.get("pass_rate", math.nan)) > 0.005:
        findings.append(_mismatch("pass_rate", summary["pass_rate"], round(ours["pass_rate"], 4), file))


def _rate(value: Any) -> float | None:
    share = _SHARE.fullmatch(value) if isinstance(value, str) else None
    if share:
        return int(share[1]) / int(share[2]) if int(share[2]) else None
    return float(value) if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


def _mismatch(name: str, said: Any, ours: Any, file: str) -> Finding:
    message = f"the summary's {name} disagrees with the list, which counts"
    path = f"$.summary.{name}"
    return Finding(
        Severity.WARNING, "summary-mismatch", message, file=file, json_path=path, found=shown(said), expected=str(ours)
    )


def _warning(rule: str, message: str, path: str, file: str, found: str) -> Finding:
    return Finding(Severity.WARNING, rule, message, file=file, json_path=path, found=found)
