"""What is on show: the iterations of a place, each derived when it is first asked for and again when it changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.errors import AssayError, NotFoundError
from skill_assay.model.benchmark import Benchmark, Run
from skill_assay.viewer.states import worst_first
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.resolve import ResolvedPlace
from skill_assay.workspace.store import Iteration, Workspace

__all__ = ["Opened", "Site", "run_id_of", "run_mark"]

_STALE_SECONDS = 5.0


def run_id_of(run: Run) -> str:
    """The run's folder with `-` for `/`: the id that skill-creator's files use."""
    return run.folder.replace("/", "-")


@dataclass(frozen=True)
class Opened:
    """One iteration as derived, with what its pages look up."""

    name: str
    """Its folder's name: its part of an address."""
    iteration: Iteration
    derived: Derived

    @property
    def benchmark(self) -> Benchmark:
        return self.derived.benchmark

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """Run id → run; of two folders that would share an id the first has it."""
        found: dict[str, Run] = {}
        for run in self.benchmark.runs:
            found.setdefault(run_id_of(run), run)
        return found

    @cached_property
    def by_place(self) -> Mapping[tuple[str, str, int], Run]:
        """(eval key, arm, number) → run."""
        return {(run.eval.key, run.arm, run.number): run for run in self.benchmark.runs}

    @cached_property
    def worst(self) -> tuple[Run, ...]:
        """The trials of the arm whose worth is asked, worst first, those that count and failed something."""
        ours = [run for run in self.benchmark.runs if run.arm == self.benchmark.primary.arm.name]
        return tuple(run for run in worst_first(ours) if run.score is not None and run.score < 1)

    @cached_property
    def sequence(self) -> tuple[Run, ...]:
        """The order in which one goes from trial to trial: by eval, then repeat, one step for all arms."""
        first: dict[tuple[str, int], Run] = {}
        places = {one.eval.key: place for place, one in enumerate(self.benchmark.evals)}
        for run in self.benchmark.runs:
            first.setdefault((run.eval.key, run.number), run)
        return tuple(sorted(first.values(), key=lambda run: (places.get(run.eval.key, 0), run.number)))

    def folder(self, run: Run) -> Path:
        """Where the run's files lie."""
        return self.derived.found.root / run.folder.partition("#")[0]

    def beside(self, run: Run) -> tuple[Run, ...]:
        """The same eval and repeat in every arm, in the arms' order."""
        arms = [arm.arm.name for arm in self.benchmark.arms]
        found = (self.by_place.get((run.eval.key, arm, run.number)) for arm in arms)
        return tuple(one for one in found if one is not None)


@dataclass
class Site:
    """The place that was opened."""

    iterations: tuple[Iteration, ...]
    """Oldest first."""
    shown: Iteration
    """The one that was asked for."""
    skill: Path | None = None
    """The skill whose files the pages may change; `None`: they only show."""
    _cache: dict[str, tuple[object, float, Opened]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, place: ResolvedPlace) -> Site:
        """The site of a resolved place.

        Raises:
            NotFoundError: a skill or workspace without any iteration.
        """
        if place.kind == "folder":
            only = Iteration(place.path.absolute())
            return cls((only,), only)
        if place.iteration is None or place.workspace is None:
            where = place.workspace.path if place.workspace else place.path
            raise NotFoundError("no iteration here yet", file=str(where), hint=f"Make one with  assay run {place.path}")
        shown = Iteration(place.iteration.path.absolute(), place.iteration.writer)
        siblings = place.workspace.iterations()
        iterations = tuple(Iteration(one.path.absolute(), one.writer) for one in siblings)
        names = {one.path.name for one in iterations}
        skill = place.skill or _skill_beside(place.workspace, shown)
        return cls(iterations if shown.path.name in names else (shown,), shown, skill.absolute() if skill else None)

    @property
    def names(self) -> tuple[str, ...]:
        """The iterations' names, oldest first."""
        return tuple(one.path.name for one in self.iterations)

    def named(self, name: str) -> Iteration | None:
        """The iteration of that name."""
        return next((one for one in self.iterations if one.path.name == name), None)

    def open(self, name: str) -> Opened:
        """An iteration, derived; the same again while nothing changed on disk.

        Raises:
            NotFoundError: there is none of that name, or no run in it.
            InputError: it can't be read.
        """
        iteration = self.named(name)
        if iteration is None:
            raise NotFoundError("no such iteration", found=name, expected=", ".join(self.names))
        with self._lock:
            mark = run_mark(iteration)
            known = self._cache.get(name)
            if known and known[0] == mark and (mark or time.monotonic() < known[1]):
                return known[2]
            began = time.monotonic()
            opened = Opened(name, iteration, derive(iteration.path))
            spent = time.monotonic() - began
            self._cache[name] = (mark, time.monotonic() + max(_STALE_SECONDS, 10 * spent), opened)
            return opened

    def before(self, name: str) -> Iteration | None:
        """The iteration before one."""
        names = self.names
        place = names.index(name) if name in names else 0
        return self.iterations[place - 1] if place else None

    def opened_before(self, name: str) -> Opened | None:
        """The iteration before one, derived; `None` where there is none that can be read."""
        earlier = self.before(name)
        try:
            return self.open(earlier.path.name) if earlier else None
        except AssayError:
            return None


def _skill_beside(workspace: Workspace, iteration: Iteration) -> Path | None:
    """The skill whose usual workspace this is: a plan can name any folder, and only this one may be written to."""
    try:
        root = Path(iteration.read_plan().skill_path) if iteration.has_plan else None
    except AssayError:
        return None
    if root is None or not (root / "SKILL.md").is_file():
        return None
    return root if default_workspace(root).resolve() == workspace.path.resolve() else None


def run_mark(iteration: Iteration) -> tuple[tuple[str, int, int], ...]:
    """Changes when a run of ours went on or its numbers were written anew; empty for foreign folders."""
    paths = (*iteration.journal_paths(), iteration.benchmark_path) if iteration.has_plan else ()
    return tuple(_stats(paths))


def _stats(paths: tuple[Path, ...]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue
        yield path.name, facts.st_size, facts.st_mtime_ns
