"""How Claude Code is signed in: the first way that applies, and never by copying a credential file."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.model.agent import SignIn

__all__ = ["CREDENTIALS", "find_sign_in"]

_WAYS = (
    ("ANTHROPIC_API_KEY", "key"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "token"),
    ("ANTHROPIC_AUTH_TOKEN", "token"),
)
CREDENTIALS = tuple(name for name, _ in _WAYS)
"""The variables that carry a sign-in; each is unset for the agent's shell commands."""


def find_sign_in(env: Mapping[str, str]) -> SignIn:
    """A key or token variable (then trials have a fresh home), else the user's own signed-in home.

    Raises:
        InputError: neither is there.
    """
    for name, how in _WAYS:
        if env.get(name):
            return SignIn(how, name, {name: env[name]})
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    if _signed_in(folder):
        return SignIn("home", str(folder))
    raise InputError(
        "Claude Code is not signed in",
        found="neither ANTHROPIC_API_KEY nor CLAUDE_CODE_OAUTH_TOKEN nor a signed-in home",
        hint="Set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`), or run `claude` and "
        "/login once.",
    )


def _signed_in(folder: Path) -> bool:
    if (folder / ".credentials.json").is_file():
        return True
    # macOS keeps the credential in its keychain; only the account is named on disk.
    return sys.platform == "darwin" and any(_has_account(place) for place in (folder, folder.parent))


def _has_account(folder: Path) -> bool:
    try:
        state = json.loads((folder / ".claude.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and "oauthAccount" in state
