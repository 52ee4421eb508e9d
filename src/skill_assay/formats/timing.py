"""`timing.json`: seconds and tokens of a trial under the names other tools read.

Unknown is left out: a null would crash skill-creator's aggregator, and a 0 would be believed.
"""

from __future__ import annotations

from typing import Any

from skill_assay.model.trial import Trial

__all__ = ["SCHEMA_VERSION", "timing_to_dict"]

SCHEMA_VERSION = 1


def timing_to_dict(trial: Trial) -> dict[str, Any]:
    """What is known of the attempt that decided the trial; an attempt that was never billed gives no tokens."""
    record: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
    last = trial.last
    if last is None:
        return record
    if last.usage.tokens is not None and last.usage.tokens.total > 0:
        record["total_tokens"] = last.usage.tokens.total
    if last.seconds > 0:
        record["duration_ms"] = round(last.seconds * 1000)
        record["total_duration_seconds"] = round(last.seconds, 3)
    if last.wall_seconds > 0:
        record["executor_duration_seconds"] = round(last.wall_seconds, 3)
    if last.launched_at:
        record["executor_start"] = last.launched_at
    if last.ended_at:
        record["executor_end"] = last.ended_at
    grading = [grade.seconds for grade in trial.grades if grade.seconds is not None]
    if grading:
        record["grader_duration_seconds"] = round(sum(grading), 3)
    return record
