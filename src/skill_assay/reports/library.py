"""A library of skills as one table, the worst first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from skill_assay.model.library import LibraryRow
from skill_assay.reports.ci import github_annotations, junit_xml
from skill_assay.reports.escape import safe
from skill_assay.reports.figures import p_text
from skill_assay.reports.plain import harmless, percent_of
from skill_assay.reports.table import aligned, piped
from skill_assay.reports.verdict import headline

__all__ = ["library_github", "library_json", "library_junit", "library_markdown", "library_text"]

_HEAD = ("skill", "verdict", "effect (95 %)", "p adjusted", "with", "without", "evals", "gate", "")
_FOOT = (
    "Verdicts hold at a false discovery rate of 5 % over all skills here (Benjamini-Hochberg); "
    "* a verdict of the skill alone that does not stand among so many."
)


def library_text(rows: Sequence[LibraryRow]) -> str:
    """A row a skill."""
    return "\n".join([*aligned([_HEAD, *map(_cells, rows)]), "", _FOOT]) + "\n"


def library_markdown(rows: Sequence[LibraryRow]) -> str:
    """The same as a Markdown table."""
    return "\n".join([*piped([_HEAD, *map(_cells, rows)]), "", safe(_FOOT)]) + "\n"


def library_json(rows: Sequence[LibraryRow]) -> str:
    """The same as data."""
    skills = [_record(row) for row in rows]
    return json.dumps({"schema_version": 1, "skills": skills}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def library_junit(rows: Sequence[LibraryRow]) -> str:
    """The suites of all skills in one file; a skill that could not be measured is an error."""
    from junitparser import Error, JUnitXml, TestCase, TestSuite

    xml = JUnitXml(name="skill-assay library")
    for row in rows:
        if row.benchmark is None or row.gate is None:
            suite, case = TestSuite(harmless(row.skill)), TestCase("measured", classname=harmless(row.skill))
            case.result = [Error(harmless(row.error or "not measured"), "not_measured")]
            suite.add_testcase(case)
            xml.add_testsuite(suite)
            continue
        line = headline(row.inference) if row.inference else None
        for suite in JUnitXml.fromstring(junit_xml(row.benchmark, row.gate, headline=line).encode()):
            xml.add_testsuite(suite)
    xml.update_statistics()  # type: ignore[no-untyped-call]
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return text.decode("utf-8").rstrip("\n") + "\n"


def library_github(rows: Sequence[LibraryRow]) -> str:
    """The annotations of all skills."""
    parts = []
    for row in rows:
        if row.benchmark is None or row.gate is None:
            told = harmless(row.error or "not measured").replace("%", "%25")
            parts.append(f"::error title=skill-assay::{harmless(row.skill).replace('%', '%25')}: {told}\n")
        else:
            line = headline(row.inference) if row.inference else None
            parts.append(github_annotations(row.benchmark, row.gate, headline=line))
    return "".join(parts)


def _cells(row: LibraryRow) -> tuple[str, ...]:
    found, inference = row.benchmark, row.inference
    if found is None:
        return harmless(row.skill), "not measured", "–", "–", "–", "–", "–", "–", harmless(row.error or "")
    interval = inference.interval if inference else None
    shown = f" ({interval.low * 100:+.0f} to {interval.high * 100:+.0f})" if interval else ""
    effect = f"{inference.effect * 100:+.0f}{shown}" if inference and inference.effect is not None else "–"
    word = {"inconclusive": "cannot tell", None: "–"}.get(row.verdict, str(row.verdict))
    if row.taken_back and inference:
        word += f" ({inference.verdict}*)"
    if inference and inference.scope == "these_evals" and row.verdict in ("better", "worse"):
        word += " on these evals"
    base = found.baseline
    return (
        harmless(row.skill),
        word,
        effect,
        p_text(row.adjusted_p),
        percent_of(found.primary.pass_rate.mean if found.primary.pass_rate else None),
        percent_of(base.pass_rate.mean if base and base.pass_rate else None),
        str(len(found.evals)),
        row.gate.status if row.gate and row.gate.thresholds else "–",
        "; ".join(row.gate.incomplete) if row.gate else "",
    )


def _record(row: LibraryRow) -> dict[str, Any]:
    found, inference = row.benchmark, row.inference
    record: dict[str, Any] = {"skill": row.skill, "exit_code": row.code}
    if row.error is not None or found is None:
        return record | {"error": row.error}
    interval = inference.interval if inference else None
    return record | {
        "skill_name": found.skill_name,
        "verdict": row.verdict,
        "verdict_alone": inference.verdict if inference else None,
        "scope": inference.scope if inference else None,
        "effect": inference.effect if inference else None,
        "interval": [interval.low, interval.high] if interval else None,
        "p": inference.p if inference else None,
        "p_adjusted": row.adjusted_p,
        "evals": len(found.evals),
        "gate": row.gate.to_dict() if row.gate else None,
    }
