"""What is worth a look in a benchmark, in plain sentences: what cannot tell the arms apart, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from skill_assay.formats.user_notes import NOTES_FILE
from skill_assay.model.benchmark import NOTHING_GRADED, Benchmark, EvalFigures

__all__ = ["notes"]

_MANY = 5


def notes(found: Benchmark) -> tuple[str, ...]:
    """The sentences, the most telling first."""
    return (
        *_partial(found),
        *_not_concurrent(found),
        *_limited("", list(_excluded(found))),
        *_uneven_timeouts(found),
        *_limited("expectations cannot show what the skill adds", list(_dead(found))),
        *_activation(found),
        *_ungraded(found),
        *_unchecked(found),
        *_doubts(found),
        *_unknown_events(found),
        *_reliability(found),
        *_known_issues(found),
        *_thresholds(found),
        *_reading(found),
    )


def _limited(what: str, found: list[str]) -> Iterator[str]:
    yield from found[:_MANY]
    if len(found) > _MANY:
        yield f"{len(found) - _MANY} more {what or 'like these'}"


def _partial(found: Benchmark) -> Iterator[str]:
    if found.simulated:
        yield "simulated: no real agent did any of this work"
    if found.missing:
        total = sum(arm.requested for arm in found.arms)
        yield f"partial: {found.missing} of {total} trials missing; `{found.again}` runs them"


def _not_concurrent(found: Benchmark) -> Iterator[str]:
    reused = found.provenance.get("reused_baseline")
    if reused:
        yield (
            f"not concurrent: {reused['trials']} baseline trials were taken from {reused['from']}; a model or service "
            "that changed in between would look like an effect of the skill"
        )


def _excluded(found: Benchmark) -> Iterator[str]:
    cells = Counter((one.eval.name, one.arm, one.reason) for one in found.exclusions)
    again = "" if found.foreign else f"; `{found.again}` would run {{}} again"
    for (name, arm, reason), count in cells.items():
        trials = "one trial" if count == 1 else f"{count} trials"
        hint = again.replace("{}", "it" if count == 1 else "them") if reason != NOTHING_GRADED else ""
        yield f"{name} lost {trials} of {arm}: {reason}{hint}"


def _uneven_timeouts(found: Benchmark) -> Iterator[str]:
    if found.baseline is None:
        return
    counts = [
        sum(run.failure == "time_limit" for run in found.runs if run.arm == arm.arm.name)
        for arm in (found.primary, found.baseline)
    ]
    if counts[0] != counts[1]:
        names = (found.primary.arm.name, found.baseline.arm.name)
        yield (
            f"time limits fell unevenly: {counts[0]} in {names[0]}, {counts[1]} in {names[1]}; "
            "a slow arm can gain or lose by how they are counted"
        )


def _dead(found: Benchmark) -> Iterator[str]:
    for one in found.dead:
        where = f'"{_short(one.text)}" of {one.eval.name}'
        if one.passed:
            yield f"{where} passes in both arms every time: it cannot show what the skill adds"
        else:
            yield f"{where} fails in both arms every time: the check or the skill needs a look"


def _activation(found: Benchmark) -> Iterator[str]:
    if found.primary.arm.role != "primary":
        return
    name = found.primary.arm.name
    used, known = found.use(wanted=True)
    if used < known:
        yield f"the skill was used in {used} of {known} trials of {name}"
    used, known = found.use(wanted=False)
    if used:
        yield f"the skill was used in {used} of {known} trials of {name} in which it should not be (negative controls)"


def _ungraded(found: Benchmark) -> Iterator[str]:
    if found.ungraded:
        count, trials = len(found.ungraded), sum(found.ungraded.values())
        what = "1 expectation" if count == 1 else f"{count} expectations"
        yield (
            f"{what} stayed ungraded ({trials} times) and in no rate: give a check, "
            "or a function in evals/checks.py, and use `assay grade`"
        )


def _unchecked(found: Benchmark) -> Iterator[str]:
    runs = [run for run in found.runs if run.unchecked]
    if runs:
        count = sum(run.unchecked for run in runs)
        what = "1 decision of the judge rests" if count == 1 else f"{count} decisions of the judge rest"
        yield f"{what} on pictures, which no program looks up again; the first in {runs[0].folder}"


def _doubts(found: Benchmark) -> Iterator[str]:
    """What agents noted about their own work, arm by arm; nothing where none did or none was asked."""
    for arm in found.arms:
        runs = [run for run in found.runs if run.arm == arm.arm.name]
        noted = [run for run in runs if run.doubts]
        if noted:
            first = max(noted, key=lambda run: run.doubts)
            yield (
                f"the agent left doubts about its work in {len(noted)} of {len(runs)} trials of {arm.arm.name}; "
                f"most in {first.folder}/{NOTES_FILE}"
            )


def _unknown_events(found: Benchmark) -> Iterator[str]:
    """An agent of a newer version than ours may say something that is not read; nothing where it did not."""
    odd = [run for run in found.runs if run.unknown_events]
    if odd:
        lines = sum(run.unknown_events for run in odd)
        yield (
            f"the agent printed {lines} {'line' if lines == 1 else 'lines'} of a type not known here, in {len(odd)} of "
            f"{len(found.runs)} trials, first in {odd[0].folder}: what they say was not read; "
            "`assay doctor` tries the detection"
        )


def _reliability(found: Benchmark) -> Iterator[str]:
    shaky = [one.eval.name for one in found.evals if _is_shaky(found, one)]
    if shaky:
        yield f"low reliability, outcomes vary from trial to trial: {_named(shaky)}"
    alone = [one.eval.name for one in found.evals if _is_alone(found, one)]
    if alone and found.trials > 1:
        yield f"unreliable, fewer than two completed trials in an arm: {_named(alone)}"


def _known_issues(found: Benchmark) -> Iterator[str]:
    """An eval that was expected to fail and passes every time is news."""
    known = [one.eval.name for one in found.evals if one.eval.known_issue]
    if known and found.thresholds:
        yield f"known issues, in no threshold but the verdict: {_named(known)}"
    for one in found.evals:
        cell = one.arms[found.primary.arm.name]
        if one.eval.known_issue and cell.completed and cell.all_passed == cell.completed:
            yield (
                f"{one.eval.name} passed {cell.all_passed} of {cell.completed} trials although it has a known issue "
                f"({_short(one.eval.known_issue)}): if that is mended, take known_issue out so that it is gated again"
            )


def _is_shaky(found: Benchmark, one: EvalFigures) -> bool:
    return any(one.arms[arm.arm.name].reliability == "low" for arm in found.arms[:2])


def _is_alone(found: Benchmark, one: EvalFigures) -> bool:
    return any(one.arms[arm.arm.name].reliability == "unreliable" for arm in found.arms[:2])


def _thresholds(found: Benchmark) -> Iterator[str]:
    for one in found.thresholds:
        if one.met is None:
            yield f"threshold {one.name} skipped: {one.note}"


def _reading(found: Benchmark) -> Iterator[str]:
    if any(arm.arm.guessed for arm in found.arms):
        roles = ", ".join(f"{arm.arm.name} as {arm.arm.role}" for arm in found.arms)
        yield f"roles were told by name: {roles}; --primary and --baseline say otherwise"
    yield from _limited("summaries that disagree", [f"{one.place}: {one.reason}" for one in found.mismatches])
    yield from _limited("places skipped", [f"skipped {one.place}: {one.reason}" for one in found.skipped])


def _named(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:_MANY]) + (f" and {len(found) - _MANY} more" if len(found) > _MANY else "")


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
