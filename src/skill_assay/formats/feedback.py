"""`feedback.json`: what people said about runs, as the viewers write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from skill_assay.errors import InputError

__all__ = ["Feedback", "Review", "feedback_from_dict", "run_id"]


@dataclass(frozen=True, slots=True)
class Review:
    """What a person said about one run."""

    feedback: str = ""
    timestamp: str = ""
    verdict: Literal["good", "bad"] | None = None
    expectations: Mapping[int, bool] = field(default_factory=dict)
    """Index → whether it holds."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """All reviews, by run id (or by eval, where a file says no more)."""

    reviews: Mapping[str, Review] = field(default_factory=dict)
    complete: bool = False


def run_id(run_folder: Path) -> str:
    """A run's id: its folder relative to the iteration, `/` replaced by `-`."""
    return "-".join(run_folder.parts[-3:])


def feedback_from_dict(raw: Any, *, file: str = "feedback.json") -> Feedback:
    """The reviews of a `feedback.json`, or of the flat map `{eval: text}`.

    What a person wrote is never turned into a verdict: only `true` and `false` are.

    Raises:
        InputError: it is no such file.
    """
    if not isinstance(raw, dict):
        raise InputError("holds no feedback", file=file, found=type(raw).__name__, expected='{"reviews": […]}')
    if not isinstance(raw.get("reviews"), list):
        texts = {str(key): Review(value) for key, value in raw.items() if isinstance(value, str) and key != "status"}
        return Feedback(texts)
    found = {}
    for index, item in enumerate(raw["reviews"]):
        if not isinstance(item, dict) or not isinstance(item.get("run_id"), str):
            raise InputError("a review names no run", file=file, json_path=f"$.reviews[{index}]", expected="run_id")
        found[item["run_id"]] = _review(item)
    return Feedback(found, raw.get("status") == "complete")


def _review(item: Mapping[str, Any]) -> Review:
    verdict = item.get("verdict")
    rows = item.get("expectations")
    marks = {
        row["index"]: row["passed"]
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and type(row.get("index")) is int and isinstance(row.get("passed"), bool)
    }
    return Review(
        feedback=item["feedback"] if isinstance(item.get("feedback"), str) else "",
        timestamp=item["timestamp"] if isinstance(item.get("timestamp"), str) else "",
        verdict=cast(Literal["good", "bad"], verdict) if verdict in ("good", "bad") else None,
        expectations=marks,
    )
