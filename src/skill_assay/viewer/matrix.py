"""The matrix evals × arms × trials, and the expectations' pass rates by arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skill_assay.model.benchmark import EvalFigures, FoundEval, Run
from skill_assay.viewer.site import Opened, run_id_of
from skill_assay.viewer.states import MARKS, STATES, state_of

__all__ = ["Cell", "ExpectationRow", "Filter", "Matrix", "Row", "Tally", "expectation_rows", "matrix"]

PAGE = 50
"""Evals a page."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What is asked for; empty means everything."""

    state: str = ""
    tag: str = ""
    text: str = ""
    """Part of an eval's name or id, or of one of its expectations."""
    page: int = 1

    @property
    def empty(self) -> bool:
        """Whether nothing is filtered."""
        return not (self.state or self.tag or self.text)


@dataclass(frozen=True, slots=True)
class Cell:
    """One trial."""

    number: int
    state: str
    mark: str
    run_id: str | None
    """`None` for one that is missing."""
    says: str
    """For a tooltip and for those who do not see shapes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One eval."""

    figures: EvalFigures
    cells: Mapping[str, tuple[Cell, ...]]
    """Arm → its trials, by repeat."""
    delta: float | None
    search: str
    """What the text filter looks at, in small letters."""

    @property
    def states(self) -> str:
        """The states in it, once each."""
        return " ".join(sorted({cell.state for cells in self.cells.values() for cell in cells}))


@dataclass(frozen=True, slots=True)
class Matrix:
    """The rows of one page."""

    rows: tuple[Row, ...]
    asked: Filter
    total: int
    """Evals that fit the filter."""
    counts: Mapping[str, int]
    """State → trials, over everything."""
    tags: tuple[str, ...]

    @property
    def pages(self) -> int:
        """How many there are."""
        return max(1, -(-self.total // PAGE))


def matrix(opened: Opened, asked: Filter | None = None, *, whole: bool = False) -> Matrix:
    """The matrix, filtered; one page of it unless the whole is wanted."""
    asked = asked or Filter()
    found = opened.benchmark
    runs = _by_eval(found.runs)
    chosen: list[EvalFigures] = []
    counts: dict[str, int] = dict.fromkeys(STATES, 0)
    for one in found.evals:
        mine = runs.get(one.eval.key, ())
        states = [state_of(run) for run in mine]
        for state in states:
            counts[state] += 1
        counts["missing"] += sum(max(0, cell.requested - len(cell.scores)) for cell in one.arms.values())
        if _fits(one.eval, mine, set(states), asked):
            chosen.append(one)
    start = 0 if whole else (asked.page - 1) * PAGE
    shown = chosen if whole else chosen[start : start + PAGE]
    tags = tuple(sorted({tag for one in found.evals for tag in one.eval.tags}))
    rows = tuple(_row(opened, one, runs.get(one.eval.key, ())) for one in shown)
    return Matrix(rows, asked, len(chosen), counts, tags)


def _by_eval(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.eval.key, []).append(run)
    return found


def _search(one: FoundEval, runs: Sequence[Run]) -> str:
    texts = dict.fromkeys(each.text for run in runs for each in run.expectations)
    return " \n".join((one.name, one.key, *texts)).lower()


def _fits(one: FoundEval, runs: Sequence[Run], states: set[str], asked: Filter) -> bool:
    if asked.state and asked.state not in states:
        return False
    if asked.tag and asked.tag not in one.tags:
        return False
    return not asked.text or asked.text.lower() in _search(one, runs)


def _row(opened: Opened, one: EvalFigures, runs: Sequence[Run]) -> Row:
    found = opened.benchmark
    cells: dict[str, tuple[Cell, ...]] = {}
    for arm in found.arms:
        name = arm.arm.name
        mine = sorted((run for run in runs if run.arm == name), key=lambda run: run.number)
        made = [_cell(run) for run in mine]
        have = {run.number for run in mine}
        lacking = one.arms[name].requested - len(mine)
        numbers = [n for n in range(1, one.arms[name].requested + 1) if n not in have][: max(0, lacking)]
        made += [Cell(n, "missing", MARKS["missing"], None, f"trial {n}: not run yet") for n in numbers]
        cells[name] = tuple(sorted(made, key=lambda cell: cell.number))
    return Row(one, cells, _delta(opened, one), _search(one.eval, runs))


def _cell(run: Run) -> Cell:
    state = state_of(run)
    passed, failed = run.decided
    says = f"excluded, {run.excluded}" if state == "excluded" else f"{passed} of {passed + failed} expectations passed"
    if state == "ungraded":
        says = "nothing was graded"
    return Cell(run.number, state, MARKS[state], run_id_of(run), f"trial {run.number}: {says}")


def _delta(opened: Opened, one: EvalFigures) -> float | None:
    found = opened.benchmark
    if found.baseline is None:
        return None
    ours, theirs = one.arms[found.primary.arm.name].mean, one.arms[found.baseline.arm.name].mean
    return None if ours is None or theirs is None else ours - theirs


@dataclass(slots=True)
class Tally:
    """One expectation in one arm."""

    passed: int = 0
    failed: int = 0
    ungraded: int = 0
    failures: list[str] = field(default_factory=list)
    """Run ids where it failed."""

    @property
    def rate(self) -> float | None:
        """Share that passed of what was decided."""
        decided = self.passed + self.failed
        return self.passed / decided if decided else None


@dataclass(frozen=True, slots=True)
class ExpectationRow:
    """One expectation in every arm."""

    eval: FoundEval
    text: str
    counted: bool
    tallies: Mapping[str, Tally]
    dead: str | None
    """`passed` or `failed`, where it came out the same in every trial of the arms compared."""


def expectation_rows(opened: Opened, text: str = "") -> tuple[ExpectationRow, ...]:
    """Pass rates of every expectation by arm, over the trials that count."""
    found = opened.benchmark
    arms = [arm.arm.name for arm in found.arms]
    dead = {(one.eval.key, one.text): "passed" if one.passed else "failed" for one in found.dead}
    tallies: dict[tuple[str, str], dict[str, Tally]] = {}
    facts: dict[tuple[str, str], tuple[FoundEval, bool]] = {}
    for run in found.runs:
        if run.excluded is not None:
            continue
        for one in run.expectations:
            key = (run.eval.key, one.text)
            by_arm = tallies.setdefault(key, {name: Tally() for name in arms})
            _, counted = facts.setdefault(key, (run.eval, one.counted))
            facts[key] = (run.eval, counted or one.counted)
            _count(by_arm[run.arm], one.passed, run)
    order = {one.eval.key: place for place, one in enumerate(found.evals)}
    keys = sorted(tallies, key=lambda key: order.get(key[0], 0))
    wanted = text.lower()
    return tuple(
        ExpectationRow(facts[key][0], key[1], facts[key][1], tallies[key], dead.get(key))
        for key in keys
        if not wanted or wanted in f"{facts[key][0].name} {key[1]}".lower()
    )


def _count(tally: Tally, passed: bool | None, run: Run) -> None:
    if passed is None:
        tally.ungraded += 1
    elif passed:
        tally.passed += 1
    else:
        tally.failed += 1
        tally.failures.append(run_id_of(run))
