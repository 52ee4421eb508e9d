"""What every test stands on: the shared data's place, and no way out to the network."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CLIENTS = ROOT / "tests" / "clients" / "node_modules" / "@anthropic-ai"

pytest_plugins = ["tests.plugins.skips", "tests.plugins.steady", "pytester"]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of strangers' real files (`ASSAY_DATA`, else `../shared/data`); read where it lies, never copied."""
    place = Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared" / "data")
    if not place.is_dir():
        pytest.skip(f"no shared data at {place}; point ASSAY_DATA to it")
    return place


@pytest.fixture(scope="session")
def claude_binary() -> Path:
    """The pinned Claude Code (`npm ci --ignore-scripts` in tests/clients), else ASSAY_CLAUDE_CODE; on CI it must be."""
    named = os.environ.get("ASSAY_CLAUDE_CODE")
    found = [Path(named)] if named else sorted(CLIENTS.glob("claude-code-*/claude"))
    if not found or not found[0].is_file():
        message = "no Claude Code to test with: run `npm ci --ignore-scripts` in tests/clients"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found[0]


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _no_network(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = arguments[1]
        host = str(address[0]) if isinstance(address, tuple) else ""
    elif event == "socket.getaddrinfo":
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0] or "")
        if host in ("0.0.0.0", "::"):
            return
    else:
        return
    if not _is_loopback(host):
        raise RuntimeError(f"a test tried to reach {host!r}: tests use loopback only")


# An audit hook sees every connection, whoever makes it and in whatever thread.
sys.addaudithook(_no_network)

# No test may find a real key in the developer's environment and use it.
for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_", "GEMINI_", "CLAUDE", "CODEX_"))]:
    del os.environ[name]
