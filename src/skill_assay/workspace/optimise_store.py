"""Searches for a better description on disk, in the same workspace as iterations and trigger evaluations.

<skill>-workspace/
  optimisations/<time>/
    search.json              what fixes the search; another can't go on with it
    proposals.json           what was proposed, round by round
    journal.jsonl            what the proposer was asked and cost
    rounds/round-N/          the trigger evaluation of a description (workspace.trigger_store)
    rounds/fresh-N/          the same on queries that were untouched until then
    results.json             what was found, a superset of skill-creator's `run_loop`
    report.html              the table; it refreshes itself while the search goes on
    SKILL.md.before          the skill's file before `--apply`
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.trigger_store import TriggerFolder, TriggerWorkspace
from skill_assay.workspace.writing import Writer, disk_errors, folder_of_now

__all__ = ["OptimisationFolder", "RoundWorkspace", "newest_optimisation", "next_optimisation"]


@dataclass(frozen=True, slots=True)
class RoundWorkspace(TriggerWorkspace):
    """One place of a search, seen as a workspace that has one evaluation."""

    def iterations(self) -> tuple[TriggerFolder, ...]:
        """The evaluation, once there is one."""
        return (TriggerFolder(self.path, self.writer),) if self.path.is_dir() else ()

    def next_iteration(self) -> TriggerFolder:
        """The evaluation's folder."""
        with disk_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        return TriggerFolder(self.path, self.writer)


@dataclass(frozen=True, slots=True)
class OptimisationFolder:
    """One search."""

    path: Path
    writer: Writer

    @property
    def journal_path(self) -> Path:
        """Of the proposer's questions."""
        return self.path / "journal.jsonl"

    @property
    def lock_path(self) -> Path:
        """At most one `assay` is at work here."""
        return self.path / "search.lock"

    @property
    def report_path(self) -> Path:
        """The page for a person."""
        return self.path / "report.html"

    @property
    def backup_path(self) -> Path:
        """SKILL.md before it was changed."""
        return self.path / "SKILL.md.before"

    def round(self, place: str) -> RoundWorkspace:
        """The place of one description's measurement."""
        return RoundWorkspace(self.path / "rounds" / place, self.writer)

    def recorded_runs(self) -> int:
        """How many runs are recorded, over all places."""
        return sum(1 for _ in self.path.glob("rounds/*/streams/*/*/run-*/trial.json"))

    def write_search(self, fixing: Any) -> None:
        """Write what fixes the search."""
        self.writer.write_json(self.path / "search.json", fixing)

    def read_search(self) -> Any:
        """What fixes it; `InputError` when it is damaged."""
        return read_json(self.path / "search.json")

    def write_proposals(self, record: Any) -> None:
        """Write all proposals so far."""
        self.writer.write_json(self.path / "proposals.json", record)

    def read_proposals(self) -> Any:
        """All proposals so far; `None` before the first."""
        path = self.path / "proposals.json"
        return read_json(path) if path.is_file() else None

    def write_results(self, record: Any) -> None:
        """Write `results.json`."""
        self.writer.write_json(self.path / "results.json", record)

    def read_results(self) -> Any:
        """`results.json`; `None` before the first session's end."""
        path = self.path / "results.json"
        return read_json(path) if path.is_file() else None

    def write_report(self, page: str) -> None:
        """Write `report.html`."""
        self.writer.write_text(self.report_path, page)

    def write_backup(self, data: bytes) -> None:
        """Keep SKILL.md as it was, byte for byte."""
        self.writer.write_verbatim(self.backup_path, data)


def newest_optimisation(workspace: TriggerWorkspace) -> OptimisationFolder | None:
    """The newest search that was begun; `None` where there is none."""
    folder = workspace.path / "optimisations"
    found = sorted(path for path in folder.iterdir() if (path / "search.json").is_file()) if folder.is_dir() else []
    return OptimisationFolder(found[-1], workspace.writer) if found else None


def next_optimisation(workspace: TriggerWorkspace) -> OptimisationFolder:
    """A new search's folder, made for this caller alone."""
    return OptimisationFolder(folder_of_now(workspace.path / "optimisations"), workspace.writer)
