"""One browser for each file of tests that need one, and a page of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.viewer.browser import ARGUMENTS, Watched, chromium_path


@pytest.fixture(scope="module")  # as long as it is there, no other loop can run in this thread
def chromium() -> Iterator[Any]:
    path = chromium_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def watched(chromium: Any) -> Iterator[Watched]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield Watched(context)
    context.close()
