"""The page of a trial: one eval and repeat, every arm beside the others, with grades that lead to what they quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from skill_assay.errors import AssayError
from skill_assay.formats.feedback import Feedback, Review
from skill_assay.model.benchmark import ExpectationResult, Run
from skill_assay.model.grade import Evidence
from skill_assay.model.trial import Trial
from skill_assay.reports.plain import arm_label
from skill_assay.viewer.diffs import Difference, difference
from skill_assay.viewer.files import Refused, inside, read_text
from skill_assay.viewer.outputs import Caps, Outputs, read_outputs
from skill_assay.viewer.site import Opened, run_id_of
from skill_assay.viewer.states import MARKS, state_of
from skill_assay.viewer.text import highlighted
from skill_assay.viewer.transcripts import Transcript, read_transcript
from skill_assay.workspace.run_folder import RunFolder

__all__ = ["Column", "GradeRow", "Graded", "Jump", "TrialPage", "trial_page"]

_QUOTED = re.compile(r'"([^"\n]{8,200})"|“([^”\n]{8,200})”|`([^`\n]{8,200})`')


@dataclass(frozen=True, slots=True)
class Jump:
    """A place in the page that evidence speaks of."""

    anchor: str
    says: str


@dataclass(frozen=True, slots=True)
class Graded:
    """One expectation in one run."""

    index: int
    """Its place in the run's grades."""
    result: ExpectationResult
    jumps: tuple[Jump, ...]
    agrees: bool | None = None
    """What a person said of this grade; `None`: nothing."""

    @property
    def state(self) -> str:
        """`passed`, `failed` or `ungraded`."""
        passed = self.result.passed
        return "ungraded" if passed is None else "passed" if passed else "failed"

    @property
    def mark(self) -> str:
        """Its shape."""
        return MARKS[self.state]


@dataclass(frozen=True, slots=True)
class GradeRow:
    """One expectation in every column."""

    text: str
    cells: tuple[Graded | None, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One arm's run."""

    place: int
    run: Run
    id: str
    state: str
    trial: Trial | None
    """Our record, for a run of ours."""
    answer: tuple[Markup, ...]
    outputs: Outputs
    transcript: Transcript
    review: Review | None
    notes: str | None = None
    """The agent's own notes for the reader."""

    @property
    def mark(self) -> str:
        """Its shape."""
        return MARKS[self.state]


@dataclass(frozen=True, slots=True)
class TrialPage:
    """What the page shows."""

    focus: Run
    columns: tuple[Column, ...]
    rows: tuple[GradeRow, ...]
    before: str | None
    """The run id one step back."""
    after: str | None
    differences: tuple[Difference, ...] = ()
    """Against the other arms, and against the iteration before."""
    earlier: tuple[Column, ...] = field(default=())
    """The same runs in the iteration before."""
    earlier_name: str | None = None


def trial_page(opened: Opened, run: Run, feedback: Feedback, caps: Caps, earlier: Opened | None = None) -> TrialPage:
    """The page of a run.

    Args:
        opened: the iteration.
        run: the one that was asked for.
        feedback: what was said so far.
        caps: how much is shown.
        earlier: the iteration before, for what the same runs made there.
    """
    columns = tuple(_column(opened, one, place, feedback, caps) for place, one in enumerate(opened.beside(run)))
    rows = tuple(_rows(columns))
    before, after = _neighbours(opened, run)
    arms = _between_arms(columns, caps)
    if earlier is None:
        return TrialPage(run, columns, rows, before, after, tuple(arms))
    was = tuple(_earlier(earlier, run, caps))
    since = _since(was, columns, run, earlier.name, caps)
    return TrialPage(run, columns, rows, before, after, (*arms, *since), was, earlier.name)


def _column(opened: Opened, run: Run, place: int, feedback: Feedback, caps: Caps) -> Column:
    folder, run_id = opened.folder(run), run_id_of(run)
    plan = opened.derived.found.plan
    agent = next((arm.agent for arm in plan.arms if arm.name == run.arm), None) if plan else None
    answer = read_text(folder, "answer.md", caps.text_bytes)
    return Column(
        place=place,
        run=run,
        id=run_id,
        state=state_of(run),
        trial=_record(folder),
        answer=tuple(highlighted(answer, "md")) if answer else (),
        outputs=read_outputs(folder, caps),
        transcript=read_transcript(folder, agent, caps.transcript_chars),
        review=feedback.of(run_id),
        notes=read_text(folder, "user_notes.md") or read_text(folder, "outputs/user_notes.md"),
    )


def _record(folder: Path) -> Trial | None:
    try:
        inside(folder, "trial.json")
        return RunFolder(folder).load()
    except (Refused, AssayError):
        return None


def _neighbours(opened: Opened, run: Run) -> tuple[str | None, str | None]:
    sequence = opened.sequence
    place = next((n for n, one in enumerate(sequence) if (one.eval.key, one.number) == (run.eval.key, run.number)), 0)
    before = run_id_of(sequence[place - 1]) if place else None
    return before, run_id_of(sequence[place + 1]) if place + 1 < len(sequence) else None


def _rows(columns: Sequence[Column]) -> Iterable[GradeRow]:
    texts = dict.fromkeys(one.text for column in columns for one in column.run.expectations)
    for text in texts:
        yield GradeRow(text, tuple(_graded(column, text) for column in columns))


def _graded(column: Column, text: str) -> Graded | None:
    found = next(((n, one) for n, one in enumerate(column.run.expectations) if one.text == text), None)
    if found is None:
        return None
    index, result = found
    grades = column.trial.grades if column.trial else ()
    places = grades[index].places if index < len(grades) and grades[index].text == text else ()
    jumps = tuple(_jumps(column, places)) or tuple(_quoted(column, result.evidence))
    said = column.review.expectations if column.review else ()
    theirs = next((one.passed for one in said if one.index == index), None)
    return Graded(index, result, jumps, None if theirs is None else theirs == result.passed)


def _jumps(column: Column, places: Iterable[Evidence]) -> Iterable[Jump]:
    for place in places:
        says = f"{place.file}:{place.line}" if place.line else place.file
        anchor = _anchor(column, place)
        if anchor:
            yield Jump(anchor, says)


def _anchor(column: Column, place: Evidence) -> str | None:
    line = f"-L{place.line}" if place.line else ""
    if place.file == "answer.md":
        return f"c{column.place}-answer{line}" if column.answer else None
    if place.file.startswith("outputs/"):
        name = place.file.removeprefix("outputs/")
        index = next((n for n, one in enumerate(column.outputs.files) if one.name == name), None)
        if index is None:
            # The copy of the answer is shown once, as the answer.
            return f"c{column.place}-answer{line}" if name == "answer.md" and column.answer else None
        shown = not place.line or place.line <= len(column.outputs.files[index].lines)
        return f"c{column.place}-o{index}{line if shown else ''}"
    if place.file == column.transcript.source and place.line and column.transcript.lines:
        return f"c{column.place}-t{place.line}"
    return f"c{column.place}-transcript"


def _quoted(column: Column, evidence: str) -> Iterable[Jump]:
    """Where no place is named: the first place that holds a text the evidence quotes."""
    for match in _QUOTED.finditer(evidence):
        quote = next(filter(None, match.groups()))
        for index, output in enumerate(column.outputs.files):
            for number, line in enumerate(output.source.splitlines()[: len(output.lines)], start=1):
                if quote in line:
                    yield Jump(f"c{column.place}-o{index}-L{number}", f"outputs/{output.name}:{number}")
                    return
        for entry in column.transcript.lines:
            if quote in entry.text:
                yield Jump(f"c{column.place}-t{entry.line}", "transcript")
                return


def _between_arms(columns: Sequence[Column], caps: Caps) -> Iterable[Difference]:
    """What the first arm made against each other one."""
    for other in columns[1:4]:
        label, mine = arm_label(other.run.arm), arm_label(columns[0].run.arm)
        found = difference(label, other.outputs, mine, columns[0].outputs, caps.diff_lines)
        if not found.empty:
            yield found


def _since(was: Sequence[Column], columns: Sequence[Column], run: Run, name: str, caps: Caps) -> Iterable[Difference]:
    """What the run made against the same run of the iteration before."""
    now = next((one for one in columns if one.run.arm == run.arm), None)
    if now is None:
        return
    for then in was:
        label = arm_label(run.arm)
        found = difference(f"{label} in {name}", then.outputs, f"{label} here", now.outputs, caps.diff_lines)
        if not found.empty:
            yield found


def _earlier(opened: Opened, run: Run, caps: Caps) -> Iterable[Column]:
    from skill_assay.viewer.feedback import read_feedback

    try:
        feedback = read_feedback(opened.iteration)
    except AssayError:
        feedback = Feedback()
    same = opened.by_place.get((run.eval.key, run.arm, run.number))
    if same is not None:
        yield _column(opened, same, 9, feedback, caps)
