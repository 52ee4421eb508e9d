"""A trigger evaluation in words: the lines that the terminal and the page have in common."""

from __future__ import annotations

from collections import Counter

from skill_assay.model.prompt_classes import CLASSES
from skill_assay.model.trigger_results import ClassFigures, QueryResult, RunState, TriggerResults
from skill_assay.reports.figures import count, launches, money, spent_words
from skill_assay.reports.plain import harmless
from skill_assay.stats.results import Classification, Interval, Share

__all__ = [
    "class_rows",
    "decision_lines",
    "f1_text",
    "false_alarms",
    "fired_text",
    "groups",
    "left_out_lines",
    "missed",
    "note_lines",
    "range_text",
    "share_text",
    "undecided",
]

_STATES = {
    RunState.TIMEOUT: "time limit",
    RunState.ERROR: "error",
    RunState.UNSEEN: "called by name, which leaves no sign",
}


def share_text(share: Share) -> str:
    """`90 % (60–98)`; `–` for what was not counted."""
    if share.value is None:
        return "–"
    return f"{share.value * 100:.0f} % ({range_text(share.interval)})"


def range_text(interval: Interval | None) -> str:
    """`60–98`, in percent."""
    return f"{interval.low * 100:.0f}–{interval.high * 100:.0f}" if interval else "no interval"


def f1_text(found: TriggerResults) -> str:
    """`84 % (61–93)`."""
    scores = found.scores
    return "–" if scores.f1 is None else f"{scores.f1 * 100:.0f} % ({range_text(scores.f1_interval)})"


def missed(found: TriggerResults) -> list[QueryResult]:
    """Positives that fail, the most silent first."""
    return _failed(found, True)


def false_alarms(found: TriggerResults) -> list[QueryResult]:
    """Negatives that fail, the loudest first."""
    return _failed(found, False)[::-1]


def undecided(found: TriggerResults) -> list[QueryResult]:
    """Queries without a decided run."""
    return [one for one in found.queries if one.passed is None]


def _failed(found: TriggerResults, positive: bool) -> list[QueryResult]:
    failed = [one for one in found.queries if one.passed is False and one.query.should_trigger is positive]
    return sorted(failed, key=lambda one: one.rate or 0.0)


def groups(found: TriggerResults) -> list[tuple[str, Classification]]:
    """The figures by context and by tag; classes of prompts have lines of their own."""
    tags = [(f"tag {tag}", scores) for tag, scores in found.by_tag.items() if tag not in CLASSES]
    return [*found.by_context.items(), *tags]


def class_rows(found: TriggerResults) -> list[tuple[str, ...]]:
    """Per class of prompts: its name, queries, how many came out as wanted with the share, runs in which it fired.

    Where nothing can be seen, that is said instead of a share.
    """
    return [
        (
            name or "no class",
            str(one.queries),
            f"{one.as_wanted.count} of {one.as_wanted.n}" if one.as_wanted.n else "unknown",
            share_text(one.as_wanted),
            f"{one.fired.count} of {one.fired.n}" if one.fired.n else "–",
            _unknown(one),
        )
        for name, one in found.by_class.items()
    ]


def _unknown(one: ClassFigures) -> str:
    words = [f"{one.undecided} undecided"] if one.undecided else []
    words += [f"{count(one.unseen, 'run')} without a sign"] if one.unseen else []
    return ", ".join(words)


def fired_text(one: QueryResult, own: str) -> str:
    """`0/3  → invoice-fill fired`: the rate as a count, and which other skills were used."""
    others = Counter(name for run in one.runs for name in run.fired if name != own)
    names = ", ".join(f"{harmless(name)} fired" + (f" {times}×" if times > 1 else "") for name, times in others.items())
    mark = f" (≈ {one.rate * 100:.0f} %, stopped once decided)" if one.curtailed and one.rate is not None else ""
    return f"{one.triggers}/{one.decided}{mark}" + (f"  → {names}" if names else "")


def left_out_lines(found: TriggerResults) -> list[str]:
    """How many runs are in no rate, and why; nothing where all are."""
    left = found.left_out
    if not left:
        return []
    reasons = Counter(_reason(run.state, run.failure) for run in left)
    words = ", ".join(f"{reason} {times}" if len(reasons) > 1 else reason for reason, times in reasons.most_common())
    total = sum(len(one.runs) for one in found.queries)
    line = f"{count(len(left), 'run')} of {total} left out ({words})"
    nothing = undecided(found)
    return [line] + ([f"{_queries(len(nothing))} no decided run and in no figure"] if nothing else [])


def _queries(n: int) -> str:
    return "1 query has" if n == 1 else f"{n} queries have"


def _reason(state: RunState, failure: str | None) -> str:
    if state is not RunState.ERROR or failure is None:
        return _STATES[state]
    return failure.replace("_", " ")


def decision_lines(found: TriggerResults) -> list[str]:
    """What ended the runs: the use, the answer, the allowed turns; and what the early ends saved."""
    ends = Counter(run.decided_by for run in found.every_run if run.decided_by)
    by = [f"{ends['use']} at the skill's use"] if ends["use"] else []
    by += [f"{ends['answer']} with the agent's answer"] if ends["answer"] else []
    by += [f"{ends['turns']} after {found.decide_after} turns without it"] if ends["turns"] else []
    if not by:
        return []
    lines = ["Runs decided: " + ", ".join(by)]
    savings = [run.saved_seconds for run in found.every_run if run.saved_seconds is not None]
    if savings:
        lines[0] += f"; ending early saved about {sum(savings):.0f} s of agents' time"
    if found.usd:
        bills = f", {found.unbilled} of them without a bill, counted at what was set aside" if found.unbilled else ""
        spent = money(found.usd) if bills else spent_words(found.usd, found.assumed_usd)
        lines.append(f"{launches(found.launches)}, {spent}{bills}")
    return lines


def note_lines(found: TriggerResults) -> list[str]:
    """Everything a reader should know besides the figures, the gravest first."""
    lines: list[str] = []
    if found.diagnosis:
        lines.append(found.diagnosis.sentence)
        lines += [f"  · {cause}" for cause in found.diagnosis.causes]
    lines += [f"· {text}" for text in (*found.notes, *found.advice)]
    return [_harmless(line) for line in lines]


def _harmless(text: str) -> str:
    """One line without anything that could steer a terminal; the indent is kept."""
    return " " * (len(text) - len(text.lstrip(" "))) + harmless(text.lstrip(" "))
