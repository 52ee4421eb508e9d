"""Reads a file of MCP servers, `{"mcpServers": {"name": {…}}}`, for agents that want them in another form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError

__all__ = ["Server", "read_servers"]


@dataclass(frozen=True, slots=True)
class Server:
    """One MCP server: a command to run, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """As the file has it."""


def read_servers(path: Path) -> list[Server]:
    """The servers of a file.

    Raises:
        InputError: it can't be read, or a server has neither a command nor an address.
    """
    try:
        entries = {**json.loads(path.read_text(encoding="utf-8"))["mcpServers"]}
        return [_server(str(name), entry) for name, entry in entries.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "This is no file of MCP servers", file=str(path), expected='{"mcpServers": {"name": {"command": …}}}'
        ) from error


def _server(name: str, entry: Mapping[str, Any]) -> Server:
    url, command = str(entry.get("url") or ""), str(entry.get("command") or "")
    if not url and not command:
        raise ValueError(name)
    env = {str(key): str(value) for key, value in (entry.get("env") or {}).items()}
    return Server(name, command, tuple(str(word) for word in entry.get("args") or ()), env, url, entry)
