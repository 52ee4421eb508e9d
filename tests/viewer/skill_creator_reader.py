"""How skill-creator's own viewer reads a workspace: its rules, in our words, so that a change of ours that hides
something from its users fails here.

Its rules are plain Python and JavaScript without a schema, so what breaks it are types: this reader is as strict.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Shown", "Tab", "benchmark_tab", "read_runs"]

_NOT_ENTERED = {"node_modules", ".git", "__pycache__", "skill", "inputs"}
_ABOUT_THE_RUN = {"transcript.md", "user_notes.md", "metrics.json"}
_PROMPT = re.compile(r"## Eval Prompt\n\n(.*?)(?=\n##|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """One run of its Outputs tab."""

    id: str
    eval_id: Any
    prompt: str
    files: tuple[str, ...]
    grades: tuple[tuple[str, bool, str], ...] | None
    """(text, whether it shows a tick, evidence); `None` shows no grades at all."""
    headline: str = ""
    badge: str | None = None


@dataclass(frozen=True)
class Tab:
    """Its Benchmark tab."""

    head: str
    columns: tuple[str, str]
    rows: dict[str, tuple[str, str, str]]
    evals: dict[str, list[tuple[str, Any, str]]]
    """Eval's name → (configuration, run number, figures)."""
    notes: tuple[str, ...]


def read_runs(root: Path) -> list[Shown]:
    """Every run it finds, in its order.

    Raises:
        TypeError: as it would, where the ids of evals can't be put in an order.
    """
    found: list[Shown] = []
    _walk(root, root, found)
    return sorted(found, key=lambda one: (one.eval_id, one.id))


def _walk(root: Path, folder: Path, found: list[Shown]) -> None:
    if (folder / "outputs").is_dir():
        found.append(_run(root, folder))
        return
    for child in sorted(folder.iterdir()):
        if child.is_dir() and child.name not in _NOT_ENTERED:
            _walk(root, child, found)


def _run(root: Path, folder: Path) -> Shown:
    prompt, eval_id = "", None
    for path in (folder / "eval_metadata.json", folder.parent / "eval_metadata.json"):
        if not prompt and path.exists():
            facts = json.loads(path.read_text(encoding="utf-8"))
            prompt, eval_id = facts.get("prompt", ""), facts.get("eval_id")
    for path in (folder / "transcript.md", folder / "outputs/transcript.md"):
        if not prompt and path.exists() and (match := _PROMPT.search(path.read_text(encoding="utf-8"))):
            prompt = match[1].strip()
    name = "-".join(folder.relative_to(root).parts)
    files = [one.name for one in sorted((folder / "outputs").iterdir()) if one.is_file()]
    grading = next(
        (json.loads(path.read_text("utf-8")) for path in _places(folder, "grading.json") if path.exists()), None
    )
    badge = re.search("with_skill|without_skill|new_skill|old_skill", name)
    return Shown(
        name,
        eval_id,
        prompt or "(No prompt found)",
        tuple(one for one in files if one not in _ABOUT_THE_RUN),
        None if grading is None else tuple(_grades(grading)),
        _headline(grading) if grading else "",
        badge[0] if badge else None,
    )


def _places(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / name, folder.parent / name


def _grades(grading: dict[str, Any]) -> list[tuple[str, bool, str]]:
    return [(one["text"], bool(one["passed"]), one.get("evidence", "")) for one in grading.get("expectations", [])]


def _headline(grading: dict[str, Any]) -> str:
    summary = grading.get("summary") or {}
    rate = summary.get("pass_rate")
    share = "?" if rate is None else f"{rate * 100:.0f}%"
    return f"{share} {summary.get('passed') or 0} passed, {summary.get('failed') or 0} failed of {summary.get('total')}"


def benchmark_tab(path: Path) -> Tab:
    """What its Benchmark tab shows of a `benchmark.json`.

    Raises:
        KeyError, TypeError, AttributeError: what would stop its script, and so leave the tab empty.
    """
    data = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda name: 1 / 0)
    facts, summary = data["metadata"], data["run_summary"]
    one, two = [name for name in summary if name != "delta"][:2]
    delta = summary["delta"]
    rows = {"pass_rate": (_stat(summary[one]["pass_rate"]), _stat(summary[two]["pass_rate"]), delta["pass_rate"])}
    for key in ("time_seconds", "tokens"):
        if summary[one].get(key) or summary[two].get(key):
            rows[key] = (_stat(summary[one].get(key)), _stat(summary[two].get(key)), delta.get(key) or "—")
    for row in rows.values():
        if not isinstance(row[2], str):
            raise TypeError("a difference is shown as text")
    head = (
        f"{facts['skill_name']} — {facts['timestamp']} — Evals: {', '.join(str(each) for each in facts['evals_run'])}"
    )
    evals: dict[str, list[tuple[str, Any, str]]] = {}
    for run in data["runs"]:
        result = run["result"]
        rate = f"{(result.get('pass_rate') or 0) * 100:.0f}% ({result.get('passed') or 0}/{result.get('total') or 0})"
        if result.get("time_seconds") is not None:
            rate += f" {result['time_seconds']:.1f}"
        for each in run.get("expectations") or ():
            each["text"], each["passed"], (each.get("evidence") or "").strip()
        label = run.get("eval_name") or f"Eval {run['eval_id']}"
        evals.setdefault(label, []).append((run["configuration"], run["run_number"], rate))
    return Tab(f"{head} — {facts['runs_per_configuration']}", (one, two), rows, evals, tuple(data.get("notes", ())))


def _stat(found: dict[str, float] | None) -> str:
    return f"{found['mean']:.2f} ± {found['stddev']:.2f}" if found else "—"
