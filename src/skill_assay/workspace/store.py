"""The workspace on disk. This is the only module that knows a file's name.

<skill>-workspace/
  .gitignore                          "*", written first
  iteration-N/
    plan.json                         what was asked, resolved and digested
    journal.jsonl  journal.lock       what happened; -I-of-N in the name under --shard
    skill.tar                         the skill as it was
    eval-<id-or-slug>/
      eval_metadata.json
      <arm>/
        run-K/
          attempt-K.jsonl  .times     the agent's own output, and when each line came
          transcript.md               the same for a person
          answer.md                   the agent's final message
          outputs/                    what it made
          timing.json  grading.json  eval_metadata.json  judge-K.jsonl
          trial.json                  our record, written last: it is there = the trial is done
    benchmark.json  benchmark.md  report.html
    benchmark-plots/                  the pictures of benchmark.md
    against-iteration-M.json          what changed since iteration M
    confirm-M/                        a workspace of its own: fresh trials of both versions
  trend.json                          every iteration, a row each
  suite.json                          iterations of several agents or models that belong together
  suite.html  suite.svg               the newest of them as a page, and its plot
  triggers/<time>/                    trigger evaluations: workspace.trigger_store
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.plan_record import plan_from_dict, plan_to_dict
from skill_assay.formats.suite_record import suites_from_dict, suites_to_dict
from skill_assay.model.evals import Eval, eval_folder
from skill_assay.model.plan import Plan
from skill_assay.model.suite import Suite
from skill_assay.model.transcript import Event
from skill_assay.model.trial import Trial, TrialId
from skill_assay.workspace.places import refuse_unfit
from skill_assay.workspace.run_folder import RunFolder, eval_metadata, read_json
from skill_assay.workspace.snapshot import extract, pack
from skill_assay.workspace.writing import Redactor, Unredacted, Writer, disk_errors

__all__ = ["Iteration", "RunFolder", "Workspace", "is_iteration", "iteration_number"]

Shard = tuple[int, int]
"""(i, n): this is part i of n, from 1."""


def iteration_number(folder: Path) -> int | None:
    """The N of `iteration-N`; `None` for any other name."""
    found = re.fullmatch(r"iteration-([0-9]{1,9})", folder.name)
    return int(found[1]) if found else None


def is_iteration(folder: Path) -> bool:
    """Whether a folder is an iteration, by its plan or by its name."""
    return (folder / "plan.json").is_file() or iteration_number(folder) is not None


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder that holds the iterations of one skill."""

    path: Path
    writer: Writer = field(default_factory=Writer)

    @classmethod
    def create(cls, path: Path, redactor: Redactor | None = None) -> Workspace:
        """Make the folder, or go on in an existing one; it hides itself from git before anything else is written.

        Raises:
            InputError: it can't be written, or lies where agents look for skills.
        """
        refuse_unfit(path)
        workspace = cls(path, Writer(redactor or Unredacted()))
        ignore = path / ".gitignore"
        if not ignore.exists():
            workspace.writer.write_verbatim(ignore, b"*\n")
        return workspace

    @classmethod
    def open(cls, path: Path, redactor: Redactor | None = None) -> Workspace:
        """An existing workspace.

        Raises:
            NotFoundError: there is none.
        """
        if not path.is_dir():
            raise NotFoundError("no workspace here", file=str(path), hint="assay run SKILL makes one.")
        return cls(path, Writer(redactor or Unredacted()))

    def iterations(self) -> tuple[Iteration, ...]:
        """Every iteration, oldest first."""
        if not self.path.is_dir():
            return ()
        numbers = [iteration_number(child) for child in self.path.iterdir() if child.is_dir()]
        return tuple(self.iteration(number) for number in sorted(n for n in numbers if n is not None))

    def iteration(self, number: int) -> Iteration:
        """Iteration `number`, whether or not it is there yet."""
        return Iteration(self.path / f"iteration-{number}", self.writer)

    def write_trend(self, record: Mapping[str, object]) -> None:
        """Write `trend.json`: every iteration, a row each."""
        self.writer.write_json(self.path / "trend.json", record)

    def suites(self) -> tuple[Suite, ...]:
        """What `suite.json` lists, oldest first; `InputError` where it is damaged or of another version."""
        path = self.path / "suite.json"
        return suites_from_dict(read_json(path), file=str(path)) if path.is_file() else ()

    def write_suites(self, suites: Sequence[Suite]) -> None:
        """Write `suite.json`."""
        self.writer.write_json(self.path / "suite.json", suites_to_dict(suites))

    def write_suite_report(self, page: str, plot: str) -> Path:
        """Write `suite.html` and `suite.svg`; what they are made from was redacted when it was written."""
        self.writer.write_text(self.path / "suite.svg", plot)
        self.writer.write_text(self.path / "suite.html", page)
        return self.path / "suite.html"

    def next_iteration(self) -> Iteration:
        """A new iteration's folder, made for this caller alone even when two ask at once.

        One that was killed before it wrote its plan left nothing but its lock; that folder is taken over.
        """
        iterations = self.iterations()
        if iterations and iterations[-1].is_blank:
            return iterations[-1]
        number = max((iteration.number for iteration in iterations), default=0) + 1
        while True:
            iteration = self.iteration(number)
            with disk_errors(iteration.path):
                try:
                    iteration.path.mkdir(parents=True)
                except FileExistsError:
                    number += 1
                else:
                    return iteration


@dataclass(frozen=True, slots=True)
class Iteration:
    """One benchmark of one version."""

    path: Path
    writer: Writer = field(default_factory=Writer)

    @property
    def number(self) -> int:
        """N; 0 for a folder of another name."""
        return iteration_number(self.path) or 0

    @property
    def has_plan(self) -> bool:
        """Whether this is one of ours."""
        return (self.path / "plan.json").is_file()

    @property
    def trials_path(self) -> Path:
        """The folder that the evals' folders lie in."""
        return self.path

    @property
    def is_blank(self) -> bool:
        """Whether it holds nothing yet but what a run that was killed at once leaves: a lock, an empty journal."""
        names = [path.name for path in self.path.iterdir()]
        return all(name.startswith("journal") or name.endswith(".tmp") for name in names)

    def write_plan(self, plan: Plan) -> None:
        """Write `plan.json`."""
        self.writer.write_json(self.path / "plan.json", plan_to_dict(plan))

    def read_plan(self) -> Plan:
        """Read `plan.json`; `InputError` when it is absent, damaged or of another version."""
        path = self.path / "plan.json"
        return plan_from_dict(read_json(path), file=str(path))

    def asked(self) -> tuple[str, str | None] | None:
        """Agent and model, as `Plan.asked`; `None` also where no plan can be read."""
        try:
            return self.read_plan().asked if self.has_plan else None
        except InputError:
            return None

    def journal_path(self, shard: Shard | None = None) -> Path:
        """The journal of this process: its own under `--shard`."""
        return self.path / f"journal{_part(shard)}.jsonl"

    def lock_path(self, shard: Shard | None = None) -> Path:
        """The lock of the same journal."""
        return self.path / f"journal{_part(shard)}.lock"

    def journal_paths(self) -> tuple[Path, ...]:
        """The journals of all shards."""
        return tuple(sorted(self.path.glob("journal*.jsonl")))

    def lock_paths(self) -> tuple[Path, ...]:
        """The locks of all shards."""
        return tuple(sorted(self.path.glob("journal*.lock")))

    @property
    def snapshot_path(self) -> Path:
        """The skill as it was, an archive."""
        return self.path / "skill.tar"

    def write_snapshot(self, root: Path, files: Iterable[str]) -> None:
        """Keep the skill as it is now (`files` as `Skill.files`)."""
        self.writer.write_verbatim(self.snapshot_path, pack(root, files))

    def extract_snapshot(self, into: Path) -> Path:
        """Unpack the skill as it was into a folder, and return that folder."""
        if not self.snapshot_path.is_file():
            raise NotFoundError("has no snapshot of the skill", file=str(self.path))
        return extract(self.snapshot_path, into)

    def run_folder(self, trial: TrialId) -> RunFolder:
        """The folder of one trial, whether or not it is there yet."""
        path = self.trials_path / eval_folder(trial.eval_id) / _component(trial.arm) / f"run-{trial.repeat}"
        return RunFolder(path, self.writer)

    def record(self, trial: Trial, one: Eval, events: Sequence[Event] | None = None) -> RunFolder:
        """Write all that is known of a settled trial; its `trial.json` comes last and says that the rest is there.

        Args:
            trial: graded, if it could be.
            one: its eval.
            events: of its last attempt, for the transcript; `None` leaves the transcript as it is.
        """
        folder = self.run_folder(trial.id)
        self.describe(one)
        folder.record(trial, one, events)
        return folder

    def adopt(self, trial: TrialId, source: Iteration) -> None:
        """Copy a recorded trial of another iteration, byte for byte (it was redacted when it was written)."""
        place, target = source.run_folder(trial).path, self.run_folder(trial).path
        with disk_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(place, target, symlinks=True)
            described = target.parents[1] / "eval_metadata.json"
            if not described.exists():
                shutil.copyfile(place.parents[1] / "eval_metadata.json", described)

    def describe(self, one: Eval) -> None:
        """Write an eval's own `eval_metadata.json`, once.

        Raises:
            InputError: another eval already has this folder, since their ids differ too little.
        """
        path = self.trials_path / one.folder / "eval_metadata.json"
        wanted = eval_metadata(one)
        if path.is_file():
            found = read_json(path)
            theirs = found.get("eval_id") if isinstance(found, Mapping) else None
            if str(theirs) != one.id:
                raise InputError(
                    f"evals {theirs!r} and {one.id!r} would share this folder",
                    file=str(path.parent),
                    hint="Give one of them an id that differs in letters or digits.",
                )
            if found == wanted:
                return
        self.writer.write_json(path, wanted)

    def is_done(self, trial: TrialId) -> bool:
        """Whether the trial was recorded (completed or excluded)."""
        return self.run_folder(trial).is_done

    def load_trial(self, trial: TrialId) -> Trial:
        """The record of one trial; `NotFoundError` when there is none."""
        return self.run_folder(trial).load()

    def trials(self) -> Iterator[Trial]:
        """Every recorded trial, in the order of its folders' names."""
        for path in sorted(self.trials_path.glob("*/*/run-*/trial.json")):
            yield RunFolder(path.parent, self.writer).load()

    def write_benchmark(self, record: str, markdown: str, plots: Mapping[str, bytes] | None = None) -> None:
        """Write `benchmark.json`, `benchmark.md` and its plots, which are made from what was redacted before."""
        for name, data in (plots or {}).items():
            self.writer.write_verbatim(self.path / "benchmark-plots" / _component(name), data)
        self.writer.write_text(self.benchmark_path, record)
        self.writer.write_text(self.path / "benchmark.md", markdown)

    @property
    def benchmark_path(self) -> Path:
        """`benchmark.json`."""
        return self.path / "benchmark.json"

    def write_comparison(self, number: int, record: Mapping[str, object]) -> None:
        """Write `against-iteration-M.json`, what changed since iteration M (0: one of another name)."""
        self.writer.write_json(self.path / f"against-iteration-{number}.json", record)

    def confirm_path(self, number: int) -> Path:
        """The workspace of the trials that confirm what changed since iteration `number`."""
        return self.path / f"confirm-{number}"

    @property
    def report_path(self) -> Path:
        """The results as one page that needs no server."""
        return self.path / "report.html"

    def write_report(self, page: str) -> None:
        """Write `report.html`; what it is made from was redacted when it was written."""
        self.writer.write_verbatim(self.report_path, page.encode("utf-8", "replace"))

    @property
    def feedback_path(self) -> Path:
        """What people said in the viewer."""
        return self.path / "feedback.json"

    @property
    def candidate_path(self) -> Path:
        """A proposed version of the skill."""
        return self.path / "candidate"


def _part(shard: Shard | None) -> str:
    return f"-{shard[0]}-of-{shard[1]}" if shard and shard[1] > 1 else ""


def _component(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,79}", name) or name.endswith((".", " ")):
        raise InputError(
            "can't be a folder's name", found=repr(name), expected="an arm named by letters, digits, '_', '-', '.'"
        )
    return name
