"""What a skip means: on a developer's machine a part is missing and the test says so; in CI it is a failure.

Two reasons stay skips everywhere: the shared data is not beside the project (the reason names "shared data"), and
the test cannot mean anything on this system or for this user (the reason begins "not here:").
Everything skipped is listed with its reason at the end of the run.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

import pytest

AnyReport = TypeVar("AnyReport", bound=pytest.TestReport | pytest.CollectReport)


def may_be_skipped(reason: str) -> bool:
    """Whether the reason is one that no set-up of ours could have prevented."""
    words = reason.removeprefix("Skipped: ")
    return words.startswith("not here:") or "shared data" in words


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("true", "1")


def hold_to_it(report: AnyReport) -> AnyReport:
    """The report, turned into a failure when it is a skip that CI must not have."""
    if in_ci() and report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if not may_be_skipped(reason):
            report.outcome = "failed"
            report.longrepr = f"{reason}\nSkipped in CI, where nothing that we can install may be missing."
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return hold_to_it((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return hold_to_it((yield))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[Any]) -> None:
    """Real agent CLIs and browsers fill two cores by themselves: one worker runs them, one after the other."""
    for item in items:
        heavy = item.get_closest_marker("client") or item.get_closest_marker("browser")
        if heavy and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group("heavy"))
