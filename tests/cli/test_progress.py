"""What stands beside the bar."""

from __future__ import annotations

from dataclasses import replace

from skill_assay.cli.progress import progress_words
from skill_assay.runner.progress import Progress

HALF = Progress(
    done=4,
    total=8,
    running=2,
    workers=2,
    worker_limit=2,
    retried=0,
    excluded=0,
    usd=1.5,
    assumed_usd=0.0,
    tokens=100,
    seconds=40.0,
)


def test_what_was_spent_is_told() -> None:
    assert progress_words(HALF) == ["2 running", "$1.50", "about 40 s left"]
    assert progress_words(replace(HALF, usd=0.0)) == ["2 running", "about 40 s left"]


def test_what_no_bill_told_is_a_bound() -> None:
    assert progress_words(replace(HALF, assumed_usd=0.5)) == ["2 running", "up to $1.50", "about 40 s left"]


def test_what_holds_a_run_up_is_told() -> None:
    busy = replace(HALF, workers=1, retried=2, excluded=1, done=8)
    held = "1 of 2 workers (the API asks for fewer)"
    assert progress_words(busy) == ["2 running", held, "2 retried", "1 excluded", "$1.50"]
