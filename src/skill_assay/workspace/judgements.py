"""Files of an iteration that judges, analysts and improvers write.

iteration-N/
  comparison-<pair>.json                      two outputs compared blind
  comparisons.json                            all pairs summed up
  judge-1.jsonl                               questions to comparator, analyst and improver, and the replies
  label-sample.json                           expectations drawn at random, for people to decide
  analysis.json                               what the numbers, and the analyst, say
  candidate/                                  a proposed version of the skill
    changes.json  changes.diff  before.tar      what and why; the folder before it was put in place
    skill/                                    the whole folder as it would be
history.json (beside the iterations)          v0, v1, … in skill-creator's form of a history
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.snapshot import pack
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.writing import disk_errors

__all__ = [
    "candidate_skill",
    "keep_before",
    "read_analysis",
    "read_changes",
    "read_comparisons",
    "read_sample",
    "read_versions",
    "write_analysis",
    "write_candidate",
    "write_changes",
    "write_comparisons",
    "write_sample",
    "write_versions",
]


def write_comparisons(iteration: Iteration, pairs: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> None:
    """Write every pair and the summary; our pairs of an earlier comparison go, another tool's files stay."""
    taken = set()
    for path in _comparison_paths(iteration):
        if _is_pair(read_json(path)):
            path.unlink()
        else:
            taken.add(path.name)
    names = (name for name in (f"comparison-{number}.json" for number in count(1)) if name not in taken)
    for name, pair in zip(names, pairs, strict=False):
        iteration.writer.write_json(iteration.path / name, pair)
    iteration.writer.write_json(iteration.path / "comparisons.json", summary)


def read_comparisons(iteration: Iteration) -> list[Any]:
    """Every pair that was compared."""
    return [record for path in _comparison_paths(iteration) if _is_pair(record := read_json(path))]


def _comparison_paths(iteration: Iteration) -> list[Path]:
    return sorted(iteration.path.glob("comparison-*.json"), key=lambda path: (len(path.name), path.name))


def _is_pair(record: Any) -> bool:
    """Whether it is a pair of ours, told by the arms of its labels."""
    return isinstance(record, dict) and "winner" in record and isinstance(record.get("labels"), dict)


def write_analysis(iteration: Iteration, analysis: Mapping[str, Any]) -> Path:
    """Write `analysis.json`."""
    path = iteration.path / "analysis.json"
    iteration.writer.write_json(path, analysis)
    return path


def read_analysis(iteration: Iteration) -> Any:
    """`analysis.json`; `None` when there is none."""
    path = iteration.path / "analysis.json"
    return read_json(path) if path.is_file() else None


def candidate_skill(iteration: Iteration) -> Path:
    """The proposed skill's folder."""
    return iteration.candidate_path / "skill"


def write_candidate(iteration: Iteration, files: Mapping[str, bytes], changes: Mapping[str, Any], diff: str) -> Path:
    """Write a proposal; an earlier one of the same iteration is kept beside it under another name.

    Args:
        iteration: the one it was made from.
        files: the whole skill as it would be: path → content.
        changes: `changes.json`.
        diff: for a person.
    """
    folder = iteration.candidate_path
    with disk_errors(folder):
        if folder.exists():
            folder.rename(_unused(folder))
    skill = candidate_skill(iteration)
    for name, content in files.items():
        iteration.writer.write_verbatim(skill / name, content)
    iteration.writer.write_text(folder / "changes.diff", diff)
    iteration.writer.write_json(folder / "changes.json", changes)
    return folder


def _unused(folder: Path) -> Path:
    number = 1
    while (other := folder.with_name(f"{folder.name}-{number}")).exists():
        number += 1
    return other


def read_changes(iteration: Iteration) -> Any:
    """`changes.json`; `None` when nothing is proposed."""
    path = iteration.candidate_path / "changes.json"
    return read_json(path) if path.is_file() else None


def write_changes(iteration: Iteration, changes: Mapping[str, Any]) -> None:
    """Write `changes.json` anew."""
    iteration.writer.write_json(iteration.candidate_path / "changes.json", changes)


def keep_before(iteration: Iteration, root: Path, files: Sequence[str]) -> Path:
    """Keep the skill's whole folder as it is before a candidate is put in place.

    Args:
        iteration: whose candidate it is.
        root: the skill.
        files: what is kept, relative to it.
    """
    path = iteration.candidate_path / "before.tar"
    if not path.exists():
        iteration.writer.write_verbatim(path, pack(root, files))
    return path


def write_sample(iteration: Iteration, sample: Mapping[str, Any]) -> Path:
    """Write `label-sample.json`: the expectations a person is asked to decide."""
    path = iteration.path / "label-sample.json"
    iteration.writer.write_json(path, sample)
    return path


def read_sample(iteration: Iteration) -> Any:
    """`label-sample.json`; `None` when none was drawn."""
    path = iteration.path / "label-sample.json"
    return read_json(path) if path.is_file() else None


def read_versions(workspace: Workspace) -> Any:
    """`history.json`; `None` when there is none yet."""
    path = workspace.path / "history.json"
    found = read_json(path) if path.is_file() else None
    rows = found.get("iterations") if isinstance(found, dict) else None
    # Early workspaces keep under this name what `trend.json` is now: derived, and no versions.
    trend = isinstance(rows, list) and any(
        isinstance(row, dict) and str(row.get("version")).startswith("iteration-") for row in rows
    )
    return None if trend else found


def write_versions(workspace: Workspace, history: Mapping[str, Any]) -> None:
    """Write `history.json`."""
    workspace.writer.write_json(workspace.path / "history.json", history)
