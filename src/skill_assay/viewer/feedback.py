"""Feedback as people type it: read anew, merged by run and written whole before "Saved" is said."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.feedback import Feedback, Preference, Review, feedback_from_dict, feedback_to_dict, merged
from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.writing import utc_now

__all__ = ["FeedbackStore", "read_feedback"]

_LONGEST = 100_000


def read_feedback(iteration: Iteration) -> Feedback:
    """What was said about an iteration; nothing where there is no file.

    Raises:
        InputError: the file is damaged, so it must not be written over.
    """
    path = iteration.feedback_path
    if path.is_symlink():
        raise InputError("is a link, which is not followed", file=str(path))
    try:
        return feedback_from_dict(read_json(path), file=str(path))
    except NotFoundError:
        return Feedback()


@dataclass
class FeedbackStore:
    """Writes feedback; one change at a time."""

    _lock: threading.Lock = field(default_factory=threading.Lock)

    def change(self, iteration: Iteration, asked: Mapping[str, Any], known: Mapping[str, object]) -> str:
        """Merge a change into the file, and return the time written in it.

        Args:
            iteration: whose feedback it is.
            asked: `{"review": {...}}`, `{"preference": {...}}` or `{"status": ...}`, as the page sends it.
            known: the run ids that exist.

        Raises:
            InputError: it is malformed, about an unknown run, or the file can't be read or written.
        """
        now = utc_now("milliseconds")
        with self._lock:
            found = _changed(read_feedback(iteration), asked, known, now)
            iteration.writer.write_json(iteration.feedback_path, feedback_to_dict(found))
        return now


def _changed(found: Feedback, asked: Mapping[str, Any], known: Mapping[str, object], now: str) -> Feedback:
    if isinstance(asked.get("review"), Mapping):
        return merged(found, [_review(found, asked["review"], known, now)])
    if isinstance(asked.get("preference"), Mapping):
        return merged(found, preferences=[_preference(asked["preference"], known, now)])
    status = asked.get("status")
    if status == "complete" or status == "in_progress":
        return replace(found, status=status)
    raise InputError("no change was asked for", expected="a review, a preference or a status")


def _review(found: Feedback, asked: Mapping[str, Any], known: Mapping[str, object], now: str) -> Review:
    run_id = asked.get("run_id")
    if not isinstance(run_id, str) or run_id not in known:
        raise InputError("no such run", found=repr(run_id))
    # The reader of a file understands the shape already; only length and presence are ours to check.
    (new,) = feedback_from_dict({"reviews": [dict(asked)]}).reviews
    if len(new.feedback) > _LONGEST:
        raise InputError("the text is too long", found=f"{len(new.feedback)} characters", expected=f"up to {_LONGEST}")
    old = found.of(run_id) or Review(run_id)
    return replace(
        old,
        timestamp=now,
        feedback=new.feedback if "feedback" in asked else old.feedback,
        verdict=new.verdict if "verdict" in asked else old.verdict,
        expectations=new.expectations if "expectations" in asked else old.expectations,
    )


def _preference(asked: Mapping[str, Any], known: Mapping[str, object], now: str) -> Preference:
    pair, other, winner = asked.get("pair"), asked.get("other"), asked.get("winner")
    if not isinstance(pair, str) or not isinstance(other, str) or pair not in known or other not in known:
        raise InputError("no such pair of runs", found=f"{pair!r} and {other!r}")
    if winner not in (pair, other, None):
        raise InputError("the winner is neither of the two", found=repr(winner))
    return Preference(pair, other, winner, now)
