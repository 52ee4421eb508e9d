"""Untrusted text in Markdown."""

from __future__ import annotations

import re

from skill_assay.reports.plain import harmless

__all__ = ["safe"]


def safe(text: str | None) -> str:
    """Untrusted text as plain text: no markup, no table, no link, no HTML."""
    return re.sub(r"([\\`*_\[\]<>|#~!])", r"\\\1", harmless(text or ""))
