"""What every test stands on: the shared data's place, and no way out to the network."""

from __future__ import annotations

import ipaddress
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CLIENTS = ROOT / "tests" / "clients" / "node_modules"
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "copilot": "@github/copilot",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-linux-x64",
    "pi": "@mariozechner/pi-coding-agent",
    "qwen": "@qwen-code/qwen-code",
}
PROGRAMS = {
    "claude-code": ("@anthropic-ai/claude-code-*/claude",),
    "codex": ("@openai/codex-*/vendor/*/bin/codex",),
    "copilot": ("@github/copilot-*/copilot",),
    "gemini": (".bin/gemini",),
    "opencode": ("opencode-*/bin/opencode",),
    "pi": (".bin/pi",),
    "qwen": (".bin/qwen",),
}
"""Native programs are run directly from the packages of their platforms; the others are scripts for Node."""
SCRIPTS, NODE = ("gemini", "pi", "qwen"), 20

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
    return _client("claude-code")


@pytest.fixture(scope="session")
def client() -> Callable[[str], Path]:
    """Any agent's program, found likewise; on CI those that are pinned must be there."""
    return _client


def _client(name: str) -> Path:
    variable = "ASSAY_" + name.upper().replace("-", "_")
    named = os.environ.get(variable)
    places = [place for pattern in PROGRAMS[name] for place in sorted(CLIENTS.glob(pattern))]
    found = [Path(named)] if named else places
    if name in SCRIPTS and _node() < NODE:
        pytest.skip(f"{name} needs Node {NODE} or newer; here is {_node() or 'none'}")
    if found and found[0].is_file():
        return found[0]
    pinned = PACKAGES[name] in _pinned()
    how = "run `npm ci --ignore-scripts` in tests/clients" if pinned else f"point {variable} to one"
    # One whose package is for another platform is no part that a set-up of ours lacks.
    message = f"{'' if pinned else 'not here: '}no {name} to test with: {how}"
    if pinned and os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def _pinned() -> set[str]:
    """Packages that `make test` installs on this platform."""
    wanted = json.loads((CLIENTS.parent / "package.json").read_text(encoding="utf-8"))
    here = (sys.platform, platform.machine()) == ("linux", "x86_64")
    return {*wanted["dependencies"], *(wanted["optionalDependencies"] if here else ())}


@cache
def _node() -> int:
    """Its major version; 0 where there is none."""
    try:
        said = subprocess.run(["node", "--version"], capture_output=True, check=False, timeout=30).stdout
    except OSError:
        return 0
    return int(said.decode().lstrip("v").partition(".")[0] or 0)


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
