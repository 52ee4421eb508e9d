"""What a judge answers, and what of it stands after its evidence was looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_assay.graders.material import Material
from skill_assay.graders.quotes import absence_fault, locate
from skill_assay.graders.words import listed, quoted, shortened
from skill_assay.model.grade import Decision, Evidence

__all__ = ["CLASSIFY_SCHEMA", "SCHEMA", "Verdict", "by_id", "checked", "checked_claims"]

_TEXT = {"type": "string"}
_OPTIONAL = {"type": ["string", "null"]}
_ABSENCE = {
    "type": ["object", "null"],
    "properties": {
        "terms": {"type": "array", "items": _TEXT},
        "searched": {"type": "array", "items": _TEXT},
    },
    "required": ["terms", "searched"],
    "additionalProperties": False,
}
_VERDICT = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "verdict": {"enum": ["pass", "fail", "cannot_tell"]},
        "explanation": _TEXT,
        "quote": _OPTIONAL,
        "source": _OPTIONAL,
        "absence": _ABSENCE,
    },
    "required": ["id", "verdict", "explanation"],
    "additionalProperties": False,
}
_CLAIM = {
    "type": "object",
    "properties": {
        "claim": _TEXT,
        "type": {"enum": ["factual", "process", "quality"]},
        "verified": {"type": "boolean"},
        "evidence": _TEXT,
        "quote": _OPTIONAL,
    },
    "required": ["claim", "type", "verified", "evidence"],
    "additionalProperties": False,
}
_SUGGESTION = {
    "type": "object",
    "properties": {"assertion": _OPTIONAL, "reason": _TEXT},
    "required": ["reason"],
    "additionalProperties": False,
}
_FEEDBACK = {
    "type": "object",
    "properties": {"suggestions": {"type": "array", "items": _SUGGESTION}, "overall": _TEXT},
    "required": ["suggestions", "overall"],
    "additionalProperties": False,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "verdicts": {"type": "array", "items": _VERDICT},
        "claims": {"type": "array", "items": _CLAIM},
        "eval_feedback": _FEEDBACK,
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}
CLASSIFY_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "answers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": _TEXT, "about": {"enum": ["outcome", "process"]}},
                "required": ["id", "about"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["answers"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One expectation in one vote."""

    decision: Decision
    evidence: str
    places: tuple[Evidence, ...] = ()
    verified: bool | None = None
    problem: str | None = None
    """Why it can't stand as it is: it is sent back once."""


def by_id(rows: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """The row of each id, and what is wrong with ids that have none or several."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in ids}
    for row in rows:
        if row["id"] in found:
            found[row["id"]].append(row)
    one = {name: rows[0] for name, rows in found.items() if len({row["verdict"] for row in rows}) == 1}
    wrong = {name: "there is no verdict" if not rows else "there are two verdicts" for name, rows in found.items()}
    return one, {name: words for name, words in wrong.items() if name not in one}


def checked(row: Mapping[str, Any], material: Material) -> Verdict:
    """A judge's verdict with its evidence looked up."""
    explanation = shortened(row["explanation"], 600)
    if row["verdict"] == "cannot_tell":
        return Verdict(Decision.UNGRADED, f"the judge could not tell: {explanation}")
    decision = Decision.PASSED if row["verdict"] == "pass" else Decision.FAILED
    quote, absence = row.get("quote"), row.get("absence")
    if quote and quote.strip():
        return _by_quote(decision, explanation, quote, row.get("source"), material)
    if absence:
        return _by_absence(decision, explanation, absence, material)
    picture = material.picture(row["source"]) if row.get("source") else None
    if picture is not None:
        return Verdict(
            decision, f"{explanation} (seen in the picture {picture.name}; not looked up)", (Evidence(picture.name),)
        )
    if decision is Decision.FAILED:
        return Verdict(decision, explanation or "the judge saw no evidence for it")
    return Verdict(decision, explanation, problem="it passes without a quote and without a search")


def _by_quote(decision: Decision, explanation: str, quote: str, source: str | None, material: Material) -> Verdict:
    found = locate(quote, material, source)
    if found is None:
        return Verdict(decision, explanation, verified=False, problem=f"the quote {quoted(quote, 120)} stands nowhere")
    near = "" if found.exact else " (nearly word for word)"
    evidence = f"{explanation} {found.piece.name}, line {found.line}: {quoted(quote, 300)}{near}"
    return Verdict(decision, evidence.strip(), found.piece.place(found.line), True)


def _by_absence(decision: Decision, explanation: str, absence: Mapping[str, Any], material: Material) -> Verdict:
    fault = absence_fault(absence["terms"], absence["searched"], material)
    if fault:
        return Verdict(decision, explanation, verified=False, problem=fault)
    terms, places = listed(map(quoted, absence["terms"]), 5), listed(absence["searched"], 5)
    return Verdict(decision, f"{explanation} Searched for {terms} in {places}: not there.".strip(), verified=True)


def checked_claims(claims: Sequence[Mapping[str, Any]], material: Material) -> list[dict[str, Any]]:
    """Claims as `grading.json` has them; one said to be borne out by a quote that is nowhere is not."""
    found = []
    for claim in claims:
        verified, evidence, quote = claim["verified"], claim["evidence"], claim.get("quote")
        if verified and quote and locate(quote, material) is None:
            verified, evidence = False, f"The quote {quoted(quote)} stands nowhere. {evidence}"
        found.append({"claim": claim["claim"], "type": claim["type"], "verified": verified, "evidence": evidence})
    return found
