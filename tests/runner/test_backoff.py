"""Retries follow the failure table and nothing else."""

from __future__ import annotations

import random

import pytest

from skill_assay.errors import POLICIES, Failure, FailureKind, Retry
from skill_assay.model.trial import Attempt
from skill_assay.runner.backoff import pause_before_retry
from skill_assay.runner.settings import Retrying

RNG = random.Random(1)


def pauses(kind: FailureKind, settings: Retrying = Retrying(), **facts: float) -> list[float]:  # noqa: B008
    """The waits until the retries end, every attempt failing alike."""
    attempts, waits = [], []
    while len(attempts) < 50:
        attempts.append(Attempt(len(attempts) + 1, Failure(kind, "no", **facts)))  # type: ignore[arg-type]
        pause = pause_before_retry(attempts, settings, sum(waits), RNG)
        if pause is None:
            return waits
        waits.append(pause)
    raise AssertionError("retries never end")


@pytest.mark.parametrize("kind", list(FailureKind))
def test_fault_7_every_row_ends_after_as_many_retries_as_the_table_says(kind: FailureKind) -> None:
    expected = {Retry.NEVER: 0, Retry.ONCE: 1, Retry.BACKOFF: 3, Retry.ON_REQUEST: 0}[POLICIES[kind].retry]
    assert len(pauses(kind)) == expected


def test_time_limits_are_repeated_only_on_request() -> None:
    assert len(pauses(FailureKind.TIME_LIMIT, Retrying(timeouts=2))) == 2


def test_waits_grow_are_jittered_and_capped() -> None:
    waits = pauses(FailureKind.OVERLOADED, Retrying(attempts=8, base_seconds=1.0, cap_seconds=10.0))
    for number, wait in enumerate(waits):
        top = min(10.0, 2.0**number)
        assert top / 2 <= wait <= top
    assert len(set(waits)) == len(waits)


def test_the_server_is_asked_for_its_own_wait() -> None:
    assert min(pauses(FailureKind.RATE_LIMITED, retry_after=90.0)) >= 90.0


def test_the_total_wait_is_bounded() -> None:
    waits = pauses(FailureKind.RATE_LIMITED, Retrying(attempts=40, total_seconds=200.0), retry_after=90.0)
    assert len(waits) == 2
    assert sum(waits) <= 200.0


def test_an_answer_is_never_repeated() -> None:
    assert pause_before_retry([Attempt(1)], Retrying(), 0.0, RNG) is None
