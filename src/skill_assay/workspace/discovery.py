"""The runs of an iteration, ours or anybody's, as one neutral list; what could not be read, with the reason.

Every command that reads results comes through here, so that no two disagree about a layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_assay.errors import NotFoundError
from skill_assay.model.benchmark import NOTHING_GRADED, FoundArm, FoundEval, Run, Skipped
from skill_assay.model.plan import Plan
from skill_assay.workspace.foreign_grading import Grading, identity, number, parse_grading, whole
from skill_assay.workspace.layout import GradingFile, Walk, walk
from skill_assay.workspace.own import arms_of_plan, read_runs
from skill_assay.workspace.reading import Unreadable, load
from skill_assay.workspace.roles import roles
from skill_assay.workspace.store import Iteration

__all__ = ["Found", "discover"]


@dataclass(frozen=True, slots=True)
class Found:
    """What an iteration holds."""

    root: Path
    """The iteration's folder."""
    arms: tuple[FoundArm, ...]
    """The primary first, then the baseline, then the others."""
    evals: tuple[FoundEval, ...]
    runs: tuple[Run, ...]
    """By arm, eval folder and run folder, folders as text."""
    skipped: tuple[Skipped, ...] = ()
    mismatches: tuple[Skipped, ...] = ()
    plan: Plan | None = None
    """For an iteration of ours."""
    missing: int = 0
    """Planned trials without a record."""

    def only(self, keys: Iterable[str]) -> Found:
        """The part about some evals.

        Raises:
            NotFoundError: nothing is left.
        """
        kept = set(keys)
        evals = tuple(one for one in self.evals if one.key in kept)
        if not evals:
            known = ", ".join(one.key for one in self.evals[:20])
            raise NotFoundError("no such eval here", file=str(self.root), expected=known)
        runs = tuple(run for run in self.runs if run.eval.key in kept)
        missing = 0
        if self.plan:
            planned = sum(trial.eval_id in kept for trial in self.plan.order)
            missing = max(0, planned - len(runs))
        return replace(self, evals=evals, runs=runs, missing=missing)


def discover(place: Path, *, primary: str | None = None, baseline: str | None = None) -> Found:
    """Read an iteration.

    Args:
        place: an iteration, or any folder with runs somewhere below; of several iterations the newest is read.
        primary: the arm whose worth is asked, where neither plan nor name tells.
        baseline: the arm it is compared with.

    Raises:
        NotFoundError: no run was found: never an empty benchmark.
        InputError: the arms' roles can't be told.
    """
    iteration = Iteration(place)
    if iteration.has_plan:
        return _own(iteration, primary, baseline)
    return _Foreign(place).read(primary, baseline)


def _own(iteration: Iteration, primary: str | None, baseline: str | None) -> Found:
    plan = iteration.read_plan()
    evals, runs, skipped = read_runs(iteration.path, plan)
    if not runs:
        raise NotFoundError(
            "no trial is recorded here yet", file=str(iteration.path), hint="Go on with  assay run SKILL --resume"
        )
    arms = arms_of_plan(plan)
    if primary or baseline:
        known = {arm.name: arm for arm in arms}
        asked = roles(known, primary or arms[0].name, baseline)
        arms = tuple(replace(known[arm.name], role=arm.role) for arm in asked)
        runs.sort(key=lambda run: [arm.name for arm in arms].index(run.arm))
    recorded = {(run.eval.key, run.arm, run.number) for run in runs}
    missing = sum((trial.eval_id, trial.arm, trial.repeat) not in recorded for trial in plan.order)
    return Found(iteration.path, arms, tuple(evals), tuple(runs), tuple(skipped), (), plan, missing)


class _Foreign:
    """Reads somebody else's workspace."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.walk: Walk = walk(place)
        self.skipped: list[Skipped] = []
        self.mismatches: list[Skipped] = []
        self.evals: dict[tuple[str, ...], FoundEval] = {}

    def read(self, primary: str | None, baseline: str | None) -> Found:
        iteration = self._newest()
        runs = [run for file in self.walk.files.get(iteration, ()) for run in self._runs(file, iteration)]
        self.skipped += [
            Skipped(folder or ".", "has outputs and no grading") for folder in self.walk.ungraded.get(iteration, ())
        ]
        runs = self._without_doubles(runs)
        if not runs:
            raise self._nothing()
        arms = roles({run.arm for run in runs}, primary, baseline)
        rank = {arm.name: place for place, arm in enumerate(arms)}
        runs.sort(key=lambda run: (rank[run.arm], run.folder))
        evals = sorted({run.eval.key: run.eval for run in runs}.values(), key=_natural)
        root = self.place / iteration if iteration else self.place
        return Found(root, arms, tuple(evals), tuple(runs), tuple(self.skipped), tuple(self.mismatches))

    def _newest(self) -> str:
        found = sorted(self.walk.files, key=lambda name: (int(name.rpartition("-")[2]) if name else -1, name))
        newest = found[-1] if found else ""
        for name in found[:-1]:
            reason = f"another iteration than {newest}, which is newer" if name else f"outside of {newest}"
            self.skipped.append(Skipped(name or ".", reason))
        return newest

    def _runs(self, file: GradingFile, iteration: str) -> list[Run]:
        try:
            gradings = parse_grading(load(file.path))
        except Unreadable as reason:
            self.skipped.append(Skipped(self._shown(file), str(reason)))
            return []
        runs = []
        for grading in gradings:
            if grading.mismatch:
                self.mismatches.append(Skipped(self._shown(file), grading.mismatch))
            run = self._run(file, grading, len(gradings) > 1)
            if run is not None:
                runs.append(run)
        return runs

    def _run(self, file: GradingFile, grading: Grading, shared: bool) -> Run | None:
        arm = file.known_arm or grading.arm or file.innermost
        if arm is None:
            self.skipped.append(Skipped(self._shown(file), "neither its folders nor the file name an arm"))
            return None
        found = self._eval(file, grading, arm)
        if found is None:
            self.skipped.append(Skipped(self._shown(file), "neither its folders nor the file name an eval"))
            return None
        timing = {} if shared else _timing(file)
        run = Run(
            eval=found,
            arm=arm,
            number=file.number or grading.run or 1,
            folder=file.folder + (f"#{arm}-{grading.run}" if shared else ""),
            expectations=grading.expectations,
            seconds=grading.seconds or number(timing.get("total_duration_seconds")) or None,
            tokens=whole(timing.get("total_tokens")) or None,
            skill_used=grading.skill_used,
            tool_calls=grading.tool_calls,
            errors=grading.errors,
            stated_rate=grading.stated_rate,
        )
        return run if run.score is not None else replace(run, excluded=NOTHING_GRADED)

    def _eval(self, file: GradingFile, grading: Grading, arm: str) -> FoundEval | None:
        key = (*file.parts, arm, file.named or "")
        if key not in self.evals:
            folder = file.eval_folder(arm)
            metadata = self._metadata(file)
            stated = identity(metadata.get("eval_id", metadata.get("id")))
            stated = grading.eval_id if stated is None else stated
            if stated is None and folder is None:
                return None
            found = _id_from(folder or "") if stated is None else stated
            name = metadata.get("eval_name") or metadata.get("name") or grading.eval_name or folder
            prompt = metadata.get("prompt")
            self.evals[key] = FoundEval(
                found,
                name if isinstance(name, str) else str(found),
                prompt if isinstance(prompt, str) else None,
            )
        return self.evals[key]

    def _metadata(self, file: GradingFile) -> Mapping[str, Any]:
        folder = Path(file.path).parent
        while True:
            if str(folder) in self.walk.metadata:
                try:
                    data = load(str(folder / "eval_metadata.json"))
                except Unreadable as reason:
                    self.skipped.append(Skipped(f"{file.folder}: eval_metadata.json", str(reason)))
                else:
                    return data if isinstance(data, Mapping) else {}
            if folder == self.place or folder == folder.parent:
                return {}
            folder = folder.parent

    def _without_doubles(self, runs: Sequence[Run]) -> list[Run]:
        kept: dict[tuple[str, str, int], Run] = {}
        for run in runs:
            key = (run.eval.key, run.arm, run.number)
            if key in kept:
                first = kept[key].folder
                self.skipped.append(Skipped(run.folder, f"the same eval, arm and run number as {first}"))
            else:
                kept[key] = run
        return list(kept.values())

    def _nothing(self) -> NotFoundError:
        reasons = "".join(f"\n  {one.place}: {one.reason}" for one in (*self.skipped, *self.mismatches)[:20])
        if self.walk.benchmarks and not self.walk.files:
            reasons += "\n  a benchmark.json is here, but no grading it could be derived from"
        return NotFoundError(
            "no graded run found" + (f"; skipped:{reasons}" if reasons else ""),
            file=str(self.place),
            hint="Expected  eval-*/<arm>/run-*/grading.json  or another layout of docs/reference/workspace.md.",
        )

    def _shown(self, file: GradingFile) -> str:
        return Path(file.path).relative_to(self.place).as_posix()


def _timing(file: GradingFile) -> Mapping[str, Any]:
    if "timing.json" not in file.siblings or file.named is not None:
        return {}
    try:
        data = load(file.path.removesuffix("grading.json") + "timing.json")
    except Unreadable:
        return {}
    return data if isinstance(data, Mapping) else {}


def _id_from(folder: str) -> int | str:
    """The number after the first `-`, as skill-creator reads it; else the name without `eval-`."""
    tail = folder.partition("-")[2]
    if re.fullmatch(r"[0-9]{1,15}", tail):
        return int(tail)
    return folder.removeprefix("eval-")


def _natural(one: FoundEval) -> tuple[int, int, str]:
    """Numbers by their size, texts by the alphabet, numbers first."""
    return (0, one.id, "") if isinstance(one.id, int) else (1, 0, one.id)
