"""Blind comparison by a person: two outputs of one eval, their arms hidden until a preference is written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skill_assay.errors import AssayError, InputError
from skill_assay.formats.feedback import Feedback, Preference
from skill_assay.model.benchmark import Run
from skill_assay.viewer.files import read_text
from skill_assay.viewer.outputs import Caps, Outputs, read_outputs
from skill_assay.viewer.site import Opened, run_id_of
from skill_assay.viewer.states import state_of
from skill_assay.workspace.judgements import read_comparisons

__all__ = ["ComparePage", "Pair", "Side", "compare_page", "pairs_of", "preference_of"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A run of the arm whose worth is asked, and the same eval and repeat of the baseline."""

    primary: Run
    baseline: Run
    swapped: bool
    """Whether the baseline's stands on the left."""

    @property
    def id(self) -> str:
        """The primary's run id."""
        return run_id_of(self.primary)

    @property
    def sides(self) -> tuple[Run, Run]:
        """Left and right."""
        return (self.baseline, self.primary) if self.swapped else (self.primary, self.baseline)


@dataclass(frozen=True, slots=True)
class Side:
    """What is shown of one run."""

    run: Run
    answer: str
    outputs: Outputs


@dataclass(frozen=True, slots=True)
class ComparePage:
    """One pair, and what was said so far."""

    pairs: tuple[Pair, ...]
    number: int
    """Of the pair shown, from 1; 0 where there is none."""
    sides: tuple[Side, ...]
    said: Preference | None
    """Known only after the choice: until then nothing on the page tells the arms apart."""
    judged: str | None
    """The comparator's choice for this pair, in words."""
    after: int | None
    """The next pair without a choice."""
    tally: Mapping[str, int]
    """Arm, or `no preference` → pairs."""
    agreement: tuple[int, int]
    """Pairs in which person and comparator agree, of those both decided."""


def pairs_of(opened: Opened) -> tuple[Pair, ...]:
    """Every pair of which both came to an end, in an order and on sides that are fixed by chance."""
    found = opened.benchmark
    if found.baseline is None:
        return ()
    ours, theirs = found.primary.arm.name, found.baseline.arm.name
    pairs = []
    for run in found.runs:
        other = opened.by_place.get((run.eval.key, theirs, run.number))
        if run.arm == ours and other is not None and "excluded" not in (state_of(run), state_of(other)):
            pairs.append(Pair(run, other, bool(_draw(opened, run)[0] & 1)))
    return tuple(sorted(pairs, key=lambda pair: _draw(opened, pair.primary)))


def _draw(opened: Opened, run: Run) -> bytes:
    return hashlib.sha256(f"{opened.iteration.path}\n{run.folder}".encode("utf-8", "replace")).digest()


def preference_of(opened: Opened, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a page asks to be written, with the side replaced by the run that stood there.

    Raises:
        InputError: there is no such pair.
    """
    pair = next((one for one in pairs_of(opened) if one.id == asked.get("pair")), None)
    if pair is None or asked.get("side") not in ("left", "right", None):
        raise InputError("no such pair", found=repr(asked.get("pair")))
    left, right = (run_id_of(run) for run in pair.sides)
    winner = {"left": left, "right": right, None: None}[asked.get("side")]
    return {"pair": pair.id, "other": run_id_of(pair.baseline), "winner": winner}


def compare_page(opened: Opened, feedback: Feedback, caps: Caps, asked: int | None) -> ComparePage:
    """The pair that was asked for, else the first that nobody has judged."""
    pairs = pairs_of(opened)
    open_ = [number for number, pair in enumerate(pairs, start=1) if feedback.preferred(pair.id) is None]
    number = asked if asked and asked <= len(pairs) else open_[0] if open_ else min(1, len(pairs))
    judged = _judged(opened)
    if not number:
        return ComparePage((), 0, (), None, None, None, {}, (0, 0))
    pair = pairs[number - 1]
    said = feedback.preferred(pair.id)
    return ComparePage(
        pairs=pairs,
        number=number,
        sides=tuple(_side(opened, run, caps) for run in pair.sides),
        said=said,
        judged=judged.get(pair.primary.folder) if said else None,
        after=next((one for one in open_ if one != number), None),
        tally=_tally(pairs, feedback),
        agreement=_agreement(pairs, feedback, judged),
    )


def _side(opened: Opened, run: Run, caps: Caps) -> Side:
    folder = opened.folder(run)
    return Side(run, read_text(folder, "answer.md", caps.text_bytes) or "", read_outputs(folder, caps))


def _chosen(pair: Pair, said: Preference) -> str:
    """The arm a person preferred, or `no preference`."""
    if said.winner is None:
        return "no preference"
    return pair.primary.arm if said.winner == pair.id else pair.baseline.arm


def _tally(pairs: tuple[Pair, ...], feedback: Feedback) -> dict[str, int]:
    found: dict[str, int] = {}
    for pair in pairs:
        said = feedback.preferred(pair.id)
        if said is not None:
            chosen = _chosen(pair, said)
            found[chosen] = found.get(chosen, 0) + 1
    return found


def _judged(opened: Opened) -> dict[str, str]:
    """The primary's run folder → the arm the comparator chose, or `no preference`."""
    try:
        records = read_comparisons(opened.iteration)
    except AssayError:
        return {}
    found: dict[str, str] = {}
    for record in records:
        labels = record.get("labels") if isinstance(record, Mapping) else None
        if not isinstance(labels, Mapping):
            continue
        sides = [side for side in labels.values() if isinstance(side, Mapping)]
        winner = labels.get(str(record.get("winner")))
        arm = winner.get("arm") if isinstance(winner, Mapping) else "no preference"
        found |= {str(side.get("run")): str(arm) for side in sides}
    return found


def _agreement(pairs: tuple[Pair, ...], feedback: Feedback, judged: Mapping[str, str]) -> tuple[int, int]:
    both = [
        (_chosen(pair, said), judged[pair.primary.folder])
        for pair in pairs
        if (said := feedback.preferred(pair.id)) is not None and pair.primary.folder in judged
    ]
    return sum(one == two for one, two in both), len(both)
