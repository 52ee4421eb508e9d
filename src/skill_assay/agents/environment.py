"""What an agent's process may see of the user's environment: an allow-list, never the whole of it."""

from __future__ import annotations

import os

from skill_assay.model.agent import Request

__all__ = ["PASSED", "agent_environment"]

PASSED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
)
"""Variables a program needs to find others, speak the user's language and reach a server; none is a secret."""


def agent_environment(request: Request) -> dict[str, str]:
    """The allow-list, the sandbox's own home and temporary folder, and the variables passed by name."""
    mine = {name: os.environ[name] for name in PASSED if name in os.environ}
    return {**mine, "HOME": request.home, "TMPDIR": request.tmp, **request.env}
