"""A real browser, and the viewer as a server that can be ended and started again."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skill_assay.viewer.security import Door
from skill_assay.viewer.serve import listen, make_server
from skill_assay.viewer.site import Site

CLIENTS = Path(__file__).parent.parent / "clients"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str:
    """The system's own browser; a skip where there is none (in CI that is a failure)."""
    found = os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium to test with: install it, or point ASSAY_CHROMIUM to one")
    return found


def axe_source() -> str:
    """The accessibility checker; installed with the agent CLIs that tests run."""
    path = CLIENTS / "node_modules/axe-core/axe.min.js"
    if not path.is_file():
        pytest.skip("no axe-core to test with: run `npm ci --ignore-scripts` in tests/clients")
    return path.read_text(encoding="utf-8")


class Running:
    """The viewer at work."""

    def __init__(self, site: Site, port: int | None = None) -> None:
        self.socket = listen(port, str(site.shown.path))
        self.door = Door(self.socket.getsockname()[1])
        self.server = make_server(site, self.door)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        self.base = f"http://127.0.0.1:{self.door.port}/i/{site.shown.path.name}"

    def end(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=20)
        self.socket.close()


@contextmanager
def running(site: Site, port: int | None = None) -> Iterator[Running]:
    viewer = Running(site, port)
    try:
        yield viewer
    finally:
        viewer.end()


class Watched:
    """A page of which every request, dialog and error is written down."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.blocked: list[str] = []
        self.page.on("requestfailed", lambda request: self._failed(request))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _failed(self, request: Any) -> None:
        # The policy's own word for what it held back before anything left.
        if request.failure == "csp":
            self.blocked.append(request.url)

    def elsewhere(self, *allowed: str) -> list[str]:
        """Requests that left for none of these places."""
        left = list(self.requests)
        for url in self.blocked:
            left.remove(url)
        return [url for url in left if not url.startswith((*allowed, "data:", "blob:"))]


def until(check: Any, what: str, seconds: float = 60) -> Any:
    """Wait for something outside the page."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"never happened: {what}")
