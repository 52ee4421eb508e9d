"""The first page: the verdict, what it rests on, what was left out, and how it went before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from skill_assay.benchmark.trend import trend_of, trend_rows
from skill_assay.errors import AssayError
from skill_assay.model.benchmark import Exclusion, Run
from skill_assay.model.comparison import Comparison
from skill_assay.model.history import TrendRow
from skill_assay.model.inference import Inference
from skill_assay.reports.noise import AGAIN, noise_headline
from skill_assay.reports.verdict import headline
from skill_assay.reports.verdict_explained import explanation
from skill_assay.viewer.files import read_text
from skill_assay.viewer.site import Opened, Site
from skill_assay.viewer.suite import suite_near
from skill_assay.workspace.journal import JournalState, holder_is_gone, replay
from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.store import Iteration

__all__ = ["Live", "Overview", "going_on", "live_state", "overview"]

_WORST = 8


@dataclass(frozen=True, slots=True)
class Overview:
    """What the page shows beside the benchmark itself."""

    headline: str | None
    tone: str
    """`better`, `worse` or `open`: how the headline is marked."""
    explanation: tuple[str, ...]
    worst: tuple[Run, ...]
    exclusions: tuple[tuple[Exclusion, Run | None], ...]
    trend: tuple[TrendRow, ...]
    plotted: bool
    """Whether there is a plot of them."""
    several: bool
    """Whether they asked several agents or models."""
    suite: bool
    """Whether agents and models were measured together here."""
    since: Comparison | None
    """What changed since the iteration it is compared with."""
    analysis: tuple[str, ...] = ()
    """What an analyst noted."""


@dataclass(frozen=True, slots=True)
class Live:
    """Where a run stands."""

    planned: int
    done: int
    running: int
    excluded: int
    usd: float
    assumed_usd: float
    """How much of it no bill told."""
    going: bool
    """Whether a session began and did not end."""
    lines: int
    cut_off: bool = False
    """Whether its process is gone without having ended it."""


def overview(site: Site, opened: Opened) -> Overview:
    """The page of an iteration."""
    inference = opened.derived.inference
    found = opened.benchmark
    tone = "open"
    again = inference is not None and inference.baseline == AGAIN
    if inference and not again and inference.verdict in ("better", "worse") and not inference.negligible:
        tone = inference.verdict
    by_place, trend = opened.by_place, trend_rows(site.iterations, opened.name, opened.derived)
    return Overview(
        headline=_headline(inference) if inference else None,
        tone=tone,
        explanation=tuple(explanation(inference)) if inference and not again else (),
        since=found.comparison,
        worst=opened.worst[:_WORST],
        exclusions=tuple((one, by_place.get((one.eval.key, one.arm, one.number))) for one in found.exclusions),
        trend=tuple(trend),
        plotted=bool(trend_of(trend)),
        suite=suite_near(opened.iteration) is not None,
        several=len({one.subject for one in trend}) > 1,
        analysis=tuple(_analysis(opened.iteration)),
    )


def _headline(inference: Inference) -> str:
    return (noise_headline if inference.baseline == AGAIN else headline)(inference)


def _analysis(iteration: Iteration) -> list[str]:
    """What an analyst noted (`analysis.json`, a list of sentences or an object with `notes`)."""
    if read_text(iteration.path, "analysis.json", 1) is None:
        return []
    try:
        data = read_json(iteration.path / "analysis.json")
    except AssayError:
        return []
    notes = data.get("notes") if isinstance(data, Mapping) else data
    return [one for one in notes if isinstance(one, str)] if isinstance(notes, list) else []


def live_state(iteration: Iteration) -> Live | None:
    """Where the run of an iteration of ours stands, by its journal; `None` for any other."""
    if not iteration.has_plan or not iteration.journal_paths():
        return None
    try:
        planned = _planned(iteration.path, _stamp(iteration.path / "plan.json"))
    except AssayError:
        return None
    paths = iteration.journal_paths()
    state = _replayed(paths, tuple(_stamp(path) for path in paths))
    states = list(state.states.values())
    gone = state.cut_off and any(holder_is_gone(path) for path in iteration.lock_paths())
    settled = sum(one in ("completed", "excluded") for one in states)
    return Live(
        planned=planned,
        done=settled,
        running=states.count("running") if state.cut_off and not gone else 0,
        excluded=states.count("excluded"),
        usd=state.spent.usd,
        assumed_usd=state.spent.assumed_usd,
        going=state.cut_off and not gone,
        lines=state.lines,
        cut_off=gone,
    )


def going_on(iteration: Iteration) -> Live | None:
    """What the top of a page has to say: nothing of a run that came to its end."""
    paths = iteration.journal_paths()
    return None if all(_ends_well(path) for path in paths) else live_state(iteration)


def _ends_well(path: Path) -> bool:
    """Whether a journal's last line is a session's end; a long journal need not be read for that."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            last = json.loads(file.read().splitlines()[-1])
    except (OSError, IndexError, ValueError):
        return False
    return isinstance(last, dict) and last.get("what") == "run_ended"


@lru_cache(maxsize=8)
def _planned(path: Path, _stamped: object) -> int:
    return len(Iteration(path).read_plan().order)


@lru_cache(maxsize=4)
def _replayed(paths: tuple[Path, ...], _stamped: object) -> JournalState:
    """A journal is long and every page asks it, so it is read again only when it grew."""
    return replay(paths)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns
