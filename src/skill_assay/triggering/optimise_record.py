"""`results.json` of a search: a superset of what skill-creator's `run_loop` writes.

Its words for ours: an iteration is a round that measured a description. Scores are `passed/total` over queries with a
result. `best_*` and `best_description` are those of the chosen description.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skill_assay.formats.record import to_plain
from skill_assay.model.optimisation import Cell, Optimisation, Round, Score, score_of

__all__ = ["SCHEMA_VERSION", "optimisation_record"]

SCHEMA_VERSION = 1
_ALIKE = (
    *("reason", "accept", "leader", "chosen", "runs", "threshold", "seed", "launches", "full_grid", "proposals", "usd"),
    *("assumed_usd", "tokens", "agent", "proposer", "simulated", "started_at", "notes", "over"),
)


def optimisation_record(found: Optimisation) -> dict[str, Any]:
    """The record."""
    chosen = found.round(found.chosen)
    measured = [one for one in found.rounds if one.cells]
    return {
        "schema_version": SCHEMA_VERSION,
        "skill_name": found.skill_name,
        "exit_reason": _exit_reason(found, len(measured)),
        "original_description": found.original,
        "best_description": chosen.description,
        "best_score": _score(chosen.score("test")),
        "best_train_score": _score(chosen.score("train")),
        "best_test_score": _score(chosen.score("test")),
        "final_description": measured[-1].description if measured else found.original,
        "iterations_run": len(measured),
        "holdout": found.holdout,
        "train_size": found.sizes[0],
        "test_size": found.sizes[1],
        "fresh_size": found.sizes[2],
        "history": [_round(one) for one in measured],
        "skipped": [
            {"iteration": one.number, "reason": one.skipped, "refused": list(one.refused)}
            for one in found.rounds
            if one.skipped
        ],
        "evidence": [{**to_plain(one), "strong": one.strong} for one in found.evidence],
        "fresh": [
            {"iteration": number, **_side("fresh", score_of(cells)), "fresh_results": _results(cells)}
            for number, cells in found.fresh
        ],
        **{name: to_plain(getattr(found, name)) for name in _ALIKE},
    }


def _exit_reason(found: Optimisation, measured: int) -> str:
    if found.exit is None:
        return "in_progress"
    numbers = {"all_passed": measured, "max_iterations": len(found.rounds)}
    words = {"all_passed": "iteration {}", "max_iterations": "{}"}
    if found.exit in words:
        return f"{found.exit} ({words[found.exit].format(numbers[found.exit])})"
    return found.exit


def _score(score: Score) -> str | None:
    return f"{score.passed}/{score.total}" if score.total else None


def _round(one: Round) -> dict[str, Any]:
    train, test = one.of("train"), one.of("test")
    results = _results(train)
    plain = score_of(train)
    return {
        "iteration": one.number,
        "description": one.description,
        **_side("train", plain),
        "train_results": results,
        **_side("test", score_of(test)),
        "test_results": _results(test),
        "passed": plain.passed,
        "failed": plain.total - plain.passed,
        "total": plain.total,
        "results": results,
        "launches": one.launches,
        "left_train": one.left_train,
        "left_test": one.left_test,
        "ending": one.ending,
        "refused": list(one.refused),
    }


def _side(name: str, score: Score) -> dict[str, int]:
    return {
        f"{name}_passed": score.passed,
        f"{name}_failed": score.total - score.passed,
        f"{name}_total": score.total,
        f"{name}_unknown": score.unknown,
        f"{name}_unsure": score.unsure,
    }


def _results(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """As `run_eval` has them; a rate over few runs, stopped once they were enough, is not given."""
    return [
        {
            "query": cell.query.text,
            "id": cell.query.id,
            "should_trigger": cell.query.should_trigger,
            "trigger_rate": cell.fired / cell.decided if cell.decided and cell.decided == cell.planned else None,
            "triggers": cell.fired,
            "runs": cell.decided,
            "failed_runs": cell.failed,
            "planned": cell.planned,
            "pass": cell.passed,
            "sure": cell.sure,
        }
        for cell in cells
    ]
