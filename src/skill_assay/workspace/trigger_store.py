"""Trigger evaluations on disk; beside the iterations, in the same workspace, by the same write path.

<skill>-workspace/
  triggers/<time>/
    plan.json  journal.jsonl  skill.tar    as in an iteration (workspace.store)
    streams/eval-<query>/<arm>/run-K/      a run of a query: a trial's folder
    results.json                           what was found, a superset of skill-creator's `run_eval`
    report.html
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.writing import folder_of_now

__all__ = ["TriggerFolder", "TriggerWorkspace"]


@dataclass(frozen=True, slots=True)
class TriggerFolder(Iteration):
    """One trigger evaluation of one version of the skill."""

    @property
    def trials_path(self) -> Path:
        """The runs lie apart from the results, so that nobody takes them for an iteration's."""
        return self.path / "streams"

    @property
    def results_path(self) -> Path:
        """`results.json`."""
        return self.path / "results.json"

    @property
    def report_path(self) -> Path:
        """The page for a person."""
        return self.path / "report.html"

    def write_results(self, record: Any) -> None:
        """Write `results.json`."""
        self.writer.write_json(self.results_path, record)

    def write_report(self, page: str) -> None:
        """Write `report.html`."""
        self.writer.write_text(self.report_path, page)

    def read_results(self) -> Any:
        """`results.json` as it stands; `InputError` when it is absent or damaged."""
        return read_json(self.results_path)


@dataclass(frozen=True, slots=True)
class TriggerWorkspace(Workspace):
    """The same folder, seen for its trigger evaluations: they stand where a `Workspace` has iterations."""

    def iterations(self) -> tuple[TriggerFolder, ...]:
        """Every trigger evaluation, oldest first."""
        folder = self.path / "triggers"
        found = sorted(child for child in folder.iterdir() if child.is_dir()) if folder.is_dir() else []
        return tuple(TriggerFolder(path, self.writer) for path in found)

    def iteration(self, number: int) -> TriggerFolder:
        """The evaluation that comes `number`th, from 1."""
        return self.iterations()[number - 1]

    def next_iteration(self) -> TriggerFolder:
        """A new evaluation's folder, made for this caller alone; one that a killed run left blank is taken over."""
        known = self.iterations()
        if known and known[-1].is_blank:
            return known[-1]
        return TriggerFolder(folder_of_now(self.path / "triggers"), self.writer)
