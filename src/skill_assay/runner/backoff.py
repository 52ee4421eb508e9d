"""Whether, and after how long, a failed attempt is repeated. Derived from the failure table."""

from __future__ import annotations

import random
from collections.abc import Sequence

from skill_assay.errors import Failure, FailureKind, Retry, policy
from skill_assay.model.trial import Attempt
from skill_assay.runner.settings import Retrying

__all__ = ["pause_before_retry"]


def pause_before_retry(
    failures: Sequence[Attempt], settings: Retrying, waited: float, rng: random.Random
) -> float | None:
    """Seconds to wait before the next attempt, or `None` to leave it.

    Args:
        failures: this session's attempts at the trial, oldest first; the last one has just failed.
        settings: the bounds.
        waited: seconds already spent waiting for this trial.
        rng: for the jitter (full jitter over the upper half of an exponential wait).
    """
    failure = failures[-1].failure
    if failure is None:
        return None
    allowed = _allowed(failure, settings)
    same_way = sum(1 for attempt in failures if attempt.failure and _allowed(attempt.failure, settings) == allowed)
    if same_way > allowed:
        return None
    if policy(failure).retry is not Retry.BACKOFF:
        return 0.0
    wait = min(settings.cap_seconds, settings.base_seconds * 2.0 ** (len(failures) - 1))
    wait *= rng.uniform(0.5, 1.0)
    wait = max(wait, failure.retry_after or 0.0)
    return wait if waited + wait <= settings.total_seconds else None


def _allowed(failure: Failure, settings: Retrying) -> int:
    match policy(failure).retry:
        case Retry.BACKOFF:
            return settings.attempts
        case Retry.ONCE:
            return 1
        case Retry.ON_REQUEST if failure.kind is FailureKind.TIME_LIMIT:
            return settings.timeouts
        case _:
            return 0
