"""What a person said about runs: `feedback.json`, in skill-creator's shape with ours beside it.

Theirs is `{"reviews": [{"run_id", "feedback", "timestamp"}], "status"}`; a flat map `{run: text}` is read too. An
empty text means that a person looked and found nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from skill_assay.errors import InputError

__all__ = ["Agreement", "Feedback", "Preference", "Review", "feedback_from_dict", "feedback_to_dict", "merged"]

_KNOWN = {"schema_version", "reviews", "status", "preferences"}
_KNOWN_OF_REVIEW = {"run_id", "feedback", "timestamp", "verdict", "expectations"}
Verdict = Literal["good", "bad"]
Status = Literal["in_progress", "complete"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a person would have decided about one expectation."""

    index: int
    """Its place in the run's list of grades, from 0."""
    passed: bool


@dataclass(frozen=True, slots=True)
class Review:
    """What was said about one run."""

    run_id: str
    """The run's folder relative to the iteration, `/` replaced by `-`."""
    feedback: str = ""
    timestamp: str = ""
    """UTC, ISO 8601."""
    verdict: Verdict | None = None
    expectations: tuple[Agreement, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Keys of other tools, kept."""


@dataclass(frozen=True, slots=True)
class Preference:
    """Which of two outputs a person preferred without knowing whose they were."""

    pair: str
    """The run id of the primary arm's run."""
    other: str
    """The run id it was compared with."""
    winner: str | None
    """A run id; `None`: no preference."""
    timestamp: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """All of an iteration."""

    reviews: tuple[Review, ...] = ()
    status: Status = "in_progress"
    preferences: tuple[Preference, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Keys of other tools, kept."""

    def of(self, run_id: str) -> Review | None:
        """The review of one run, if there is one."""
        return next((one for one in self.reviews if one.run_id == run_id), None)

    def preferred(self, pair: str) -> Preference | None:
        """The preference about one pair, if there is one."""
        return next((one for one in self.preferences if one.pair == pair), None)


def merged(found: Feedback, reviews: Iterable[Review] = (), preferences: Iterable[Preference] = ()) -> Feedback:
    """The same with these reviews and preferences in the place of earlier ones about the same runs."""
    said = {one.run_id: one for one in (*found.reviews, *reviews)}
    preferred = {one.pair: one for one in (*found.preferences, *preferences)}
    return replace(found, reviews=tuple(said.values()), preferences=tuple(preferred.values()))


def feedback_to_dict(found: Feedback) -> dict[str, Any]:
    """The file's content; what other tools wrote beside ours stays."""
    record: dict[str, Any] = {
        **found.extra,
        "schema_version": 1,
        "reviews": [_review_to_dict(one) for one in found.reviews],
        "status": found.status,
    }
    if found.preferences:
        record["preferences"] = [
            {"pair": one.pair, "other": one.other, "winner": one.winner, "timestamp": one.timestamp}
            for one in found.preferences
        ]
    return record


def _review_to_dict(one: Review) -> dict[str, Any]:
    record = {**one.extra, "run_id": one.run_id, "feedback": one.feedback, "timestamp": one.timestamp}
    if one.verdict:
        record["verdict"] = one.verdict
    if one.expectations:
        record["expectations"] = [{"index": each.index, "passed": each.passed} for each in one.expectations]
    return record


def feedback_from_dict(data: Any, *, file: str = "feedback.json") -> Feedback:
    """The reviews of a `feedback.json`, or of the flat map `{eval: text}`.

    What a person wrote is never turned into a verdict: only `true` and `false` are.

    Raises:
        InputError: it is no such file, so that nothing of it may be overwritten.
    """
    if not isinstance(data, Mapping):
        raise InputError("holds no feedback", file=file, found=type(data).__name__, expected='{"reviews": […]}')
    if "reviews" not in data:
        texts = {str(key): value for key, value in data.items() if isinstance(value, str) and key != "status"}
        return Feedback(tuple(Review(key, value) for key, value in texts.items()), _status(data))
    if not isinstance(data["reviews"], list):
        raise InputError("`reviews` is no list", file=file, json_path="$.reviews")
    reviews = [_review(one, f"$.reviews[{place}]", file) for place, one in enumerate(data["reviews"])]
    extra = {key: value for key, value in data.items() if key not in _KNOWN}
    return merged(Feedback((), _status(data), (), extra), reviews, _preferences(data.get("preferences")))


def _status(data: Mapping[str, Any]) -> Status:
    return "complete" if data.get("status") == "complete" else "in_progress"


def _review(data: Any, place: str, file: str) -> Review:
    if not isinstance(data, Mapping) or not isinstance(data.get("run_id"), str):
        raise InputError("a review names no run", file=file, json_path=place, expected="run_id")
    verdict = data.get("verdict")
    return Review(
        data["run_id"],
        _text(data.get("feedback")),
        _text(data.get("timestamp")),
        cast("Verdict", verdict) if verdict in ("good", "bad") else None,
        tuple(_agreements(data.get("expectations"))),
        {key: value for key, value in data.items() if key not in _KNOWN_OF_REVIEW},
    )


def _agreements(data: Any) -> Iterable[Agreement]:
    for one in data if isinstance(data, list) else ():
        if isinstance(one, Mapping):
            index, passed = one.get("index"), one.get("passed")
            if type(index) is int and index >= 0 and isinstance(passed, bool):
                yield Agreement(index, passed)


def _preferences(data: Any) -> Iterable[Preference]:
    for one in data if isinstance(data, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("pair"), str) and isinstance(one.get("other"), str):
            winner = one.get("winner")
            chosen = winner if isinstance(winner, str) else None
            yield Preference(one["pair"], one["other"], chosen, _text(one.get("timestamp")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
