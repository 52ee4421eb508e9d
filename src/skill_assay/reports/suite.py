"""A suite as tables: a row a member, and a row for each cheaper member with the skill against a dearer one without."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from skill_assay.model.benchmark import ArmFigures
from skill_assay.model.inference import Inference
from skill_assay.model.library import LibraryRow
from skill_assay.model.suite import MemberRow, Rival, SuiteTable
from skill_assay.reports.escape import safe
from skill_assay.reports.figures import money, p_text, points, span, span_of
from skill_assay.reports.gate import gate_text
from skill_assay.reports.plain import harmless, percent_of
from skill_assay.reports.table import aligned, piped

__all__ = [
    "answer_lines",
    "foot_lines",
    "member_table",
    "rival_table",
    "suite_gate_text",
    "suite_json",
    "suite_library_rows",
    "suite_markdown",
    "suite_text",
]

Table = list[tuple[str, ...]]

_MEMBERS = (
    *("agent/model", "verdict", "effect (95 %)", "p adjusted", "with", "without", "skill used", "cost a trial"),
    *("excluded", "iteration", "gate", ""),
)
_OMITTED_WHEN_EMPTY = ("gate", "")
_RIVALS = (
    "cheaper, with the skill",
    "dearer, without it",
    "difference (95 %)",
    "p adjusted",
    "verdict",
    "cost a trial",
)
_VERDICTS = {"inconclusive": "cannot tell", "equivalent": "no difference that matters", None: "–"}


def suite_text(found: SuiteTable) -> str:
    """For a terminal."""
    lines = [*answer_lines(found), "", *aligned(member_table(found)), ""]
    if found.rivals:
        lines += [_question(found), *aligned(rival_table(found)), ""]
    return "\n".join([*lines, *foot_lines(found)]) + "\n"


def suite_markdown(found: SuiteTable) -> str:
    """The same as Markdown."""
    lines = [f"# {safe(found.skill_name)}: agents and models", "", *(safe(line) + "  " for line in answer_lines(found))]
    lines += ["", *piped(member_table(found))]
    if found.rivals:
        lines += ["", f"## {safe(_question(found))}", "", *piped(rival_table(found))]
    return "\n".join([*lines, "", *(f"- {safe(line)}" for line in foot_lines(found))]) + "\n"


def suite_json(found: SuiteTable) -> str:
    """The same as data."""
    record = {
        "schema_version": 1,
        "skill_name": found.skill_name,
        "margin": found.margin,
        "members": [_member_record(row) for row in found.rows],
        "cheaper_with_against_dearer_without": [_rival_record(rival) for rival in found.rivals],
        "notes": list(found.notes),
    }
    return json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def suite_gate_text(found: SuiteTable) -> str:
    """The gate of every member, one below the other."""
    parts = []
    for row in found.rows:
        label = harmless(row.member.label)
        told = gate_text(row.gate) if row.gate else f"INCOMPLETE\n  not measured: {harmless(row.error or '')}\n"
        parts.append(f"{label}: {told}")
    return "\n".join(parts)


def suite_library_rows(found: SuiteTable) -> list[LibraryRow]:
    """The members as rows of a library, for the forms that machines read."""
    return [
        LibraryRow(
            skill=row.member.label,
            benchmark=row.benchmark and replace(row.benchmark, skill_name=f"{found.skill_name} · {row.member.label}"),
            inference=row.inference,
            gate=row.gate,
            adjusted_p=row.adjusted_p,
            error=row.error,
        )
        for row in found.rows
    ]


def answer_lines(found: SuiteTable) -> list[str]:
    """The three questions, answered in a sentence each as far as they can be."""
    measured = [row for row in found.rows if row.benchmark is not None]
    words = [row.verdict for row in measured]
    told = [(words.count("better"), "better"), (words.count("equivalent"), "no difference that matters")]
    told += [(words.count("worse"), "worse"), (words.count("inconclusive"), "cannot tell")]
    shown = ", ".join(f"{word} in {number}" for number, word in told if number)
    lines = [f"With the skill, of {len(found.rows)} agents and models: {shown or 'nothing was measured'}"]
    used = [row for row in measured if row.benchmark and row.benchmark.primary.use_known]
    seldom = [
        f"{row.member.label} {_used(row.benchmark.primary)}" for row in used if row.benchmark and _share(row) < 0.9
    ]
    if used:
        lines.append(
            f"Not always used by: {', '.join(seldom)}" if seldom else "The skill was used wherever one can tell"
        )
    lines += [f"Not measured: {row.member.label} ({row.error})" for row in found.rows if row.benchmark is None]
    lines += [_sentence(rival) for rival in found.rivals if rival.verdict in ("better", "equivalent")]
    return [harmless(line) for line in lines]


def member_table(found: SuiteTable) -> Table:
    """Head and rows."""
    shown: Table = [_MEMBERS, *(_member(row) for row in found.rows)]
    empty = {head for head, *cells in zip(*shown, strict=True) if not any(cell.strip("–") for cell in cells)}
    dropped = empty & {*_OMITTED_WHEN_EMPTY}
    return [tuple(cell for head, cell in zip(_MEMBERS, row, strict=True) if head not in dropped) for row in shown]


def rival_table(found: SuiteTable) -> Table:
    """Head and rows."""
    return [_RIVALS, *(_rival(rival, found.margin) for rival in found.rivals)]


def foot_lines(found: SuiteTable) -> list[str]:
    """What the tables rest on."""
    lines = ["Agents and models ran one after another, each with and without the skill side by side."]
    lines.append(
        "Better and worse hold at a false discovery rate of 5 % over the rows of a table (Benjamini-Hochberg); "
        "* a verdict that does not stand among so many. That nothing differs by more than the margin is each row's own."
    )
    if any(rival.decided_by == "list prices" for rival in found.rivals):
        lines.append("Where trials name no cost, list prices say which model is cheaper.")
    return [*lines, *(harmless(note) for note in found.notes)]


def _question(found: SuiteTable) -> str:
    return f"Can a cheaper one with the skill match a dearer one without it, within {span(found.margin)} points?"


def _sentence(rival: Rival) -> str:
    word = "matches" if rival.verdict == "equivalent" or _negligible(rival) else "is better than"
    assert rival.inference is not None and rival.inference.effect is not None
    shown = f"{points(rival.inference.effect)}{_scope(rival.inference)}"
    return f"{rival.cheaper} with the skill {word} {rival.dearer} without it: {shown}"


def _negligible(rival: Rival) -> bool:
    return rival.inference is not None and rival.inference.negligible


def _member(row: MemberRow) -> tuple[str, ...]:
    found, label = row.benchmark, harmless(row.member.label)
    where = str(row.member.iteration or "–")
    if found is None:
        return (label, "not measured", *["–"] * 7, where, "–", "")
    base = found.baseline
    cost = f"{_cost(found.primary)} / {_cost(base)}" if base else _cost(found.primary)
    return (
        label + (" (simulated)" if found.simulated else ""),
        _verdict(row.verdict, row.inference, row.taken_back),
        _effect(row.inference),
        p_text(row.adjusted_p),
        _rate(found.primary),
        _rate(base) if base else "–",
        _used(found.primary),
        cost,
        str(len(found.exclusions)),
        where,
        row.gate.status if row.gate and row.gate.thresholds else "–",
        harmless("; ".join(filter(None, [*(row.gate.incomplete if row.gate else ()), row.member.reason]))),
    )


def _rival(rival: Rival, margin: float) -> tuple[str, ...]:
    cost = "by list prices"
    if rival.cheaper_usd is not None and rival.dearer_usd is not None:
        cost = f"{money(rival.cheaper_usd)} against {money(rival.dearer_usd)}"
    names = harmless(rival.cheaper), harmless(rival.dearer)
    if rival.inference is None:
        return (*names, "–", "–", harmless(f"not compared: {'; '.join(rival.refused)}"), cost)
    taken_back = rival.verdict != rival.inference.verdict
    word = _verdict(rival.verdict, rival.inference, taken_back)
    if rival.verdict == "equivalent" or (rival.verdict == "better" and rival.inference.negligible):
        word = f"matches (within {span(margin)} points)"
    return (*names, _effect(rival.inference), p_text(rival.adjusted_p), word, cost)


def _verdict(verdict: str | None, inference: Inference | None, taken_back: bool) -> str:
    word = _VERDICTS.get(verdict, str(verdict))
    if taken_back and inference:
        word += f" ({inference.verdict}*)"
    return word + (_scope(inference) if inference and verdict in ("better", "worse") else "")


def _scope(inference: Inference) -> str:
    return " on these evals" if inference.scope == "these_evals" else ""


def _effect(inference: Inference | None) -> str:
    if inference is None or inference.effect is None:
        return "–"
    shown = f" ({span_of(inference.interval)})" if inference.interval else ""
    return points(inference.effect).split()[0] + shown


def _rate(arm: ArmFigures) -> str:
    return percent_of(arm.pass_rate.mean if arm.pass_rate else None)


def _used(arm: ArmFigures) -> str:
    return f"{arm.used}/{arm.use_known}" if arm.use_known else "–"


def _share(row: MemberRow) -> float:
    arm = row.benchmark.primary if row.benchmark else None
    return arm.used / arm.use_known if arm and arm.use_known else 0.0


def _cost(arm: ArmFigures) -> str:
    return money(arm.cost_usd.mean) if arm.cost_usd else "–"


def _figures(arm: ArmFigures | None) -> dict[str, Any]:
    if arm is None:
        return {}
    return {
        "pass_rate": arm.pass_rate.mean if arm.pass_rate else None,
        "cost_usd": arm.cost_usd.mean if arm.cost_usd else None,
        "tokens": arm.tokens.mean if arm.tokens else None,
        "time_seconds": arm.seconds.mean if arm.seconds else None,
        "trials": arm.completed,
        "used": arm.used,
        "use_known": arm.use_known,
    }


def _conclusion(verdict: str | None, inference: Inference | None, adjusted_p: float | None) -> dict[str, Any]:
    if inference is None:
        return {"verdict": None}
    interval = inference.interval
    return {
        "verdict": verdict,
        "verdict_alone": inference.verdict,
        "negligible": inference.negligible,
        "scope": inference.scope,
        "effect": inference.effect,
        "interval": [interval.low, interval.high] if interval else None,
        "p": inference.p,
        "p_adjusted": adjusted_p,
        "evals": inference.n_evals,
    }


def _member_record(row: MemberRow) -> dict[str, Any]:
    member = row.member
    record: dict[str, Any] = {"agent": member.agent, "model": member.model, "agent_version": member.version}
    record |= {"iteration": member.iteration, "reason": row.error or member.reason or None}
    found = row.benchmark
    if found is None:
        return record | {"measured": False}
    return record | {
        "measured": True,
        **_conclusion(row.verdict, row.inference, row.adjusted_p),
        "with_skill": _figures(found.primary),
        "baseline": _figures(found.baseline),
        "excluded": len(found.exclusions),
        "missing": found.missing,
        "simulated": found.simulated,
        "gate": row.gate.to_dict() if row.gate else None,
    }


def _rival_record(rival: Rival) -> dict[str, Any]:
    record: dict[str, Any] = {"cheaper": rival.cheaper, "dearer": rival.dearer, "decided_by": rival.decided_by}
    record |= {"cheaper_cost_usd": rival.cheaper_usd, "dearer_cost_usd": rival.dearer_usd}
    return record | _conclusion(rival.verdict, rival.inference, rival.adjusted_p) | {"refused": list(rival.refused)}
