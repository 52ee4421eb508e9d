"""Pages from templates. Every value is escaped by the engine; the few values that are markup are made in `text`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_assay.reports.classes import class_cells
from skill_assay.reports.figures import count, money, percent, points
from skill_assay.reports.plain import arm_label, delta_line
from skill_assay.reports.thresholds import figure, outcome
from skill_assay.viewer.site import run_id_of
from skill_assay.viewer.states import MARKS, STATES, state_of

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["ASSETS", "asset", "render", "sendable"]

HERE = Path(__file__).parent
ASSETS = {"edit.js": "text/javascript", "viewer.css": "text/css", "viewer.js": "text/javascript"}


@lru_cache(maxsize=4)
def asset(name: str) -> str:
    """A stylesheet or script of ours, as text."""
    return (HERE / "assets" / name).read_text(encoding="utf-8")


def render(template: str, **values: Any) -> str:
    """A page, of characters that can be sent."""
    return sendable(_environment().get_template(template).render(**values))


def sendable(text: str) -> str:
    """The text with halves of surrogate pairs replaced: JSON may hold them, and names of files that are no UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "arm": arm_label,
        "class_cells": class_cells,
        "count": count,
        "delta_line": delta_line,
        "money": money,
        "outcome": outcome,
        "percent": percent,
        "points": points,
        "run_id": run_id_of,
        "seconds": seconds,
        "size": size,
        "state": state_of,
        "unbroken": lambda text: (
            text.replace(" %", "\u00a0%").replace(" points", "\u00a0points").replace("p 0", "p\u00a00")
        ),
        "thousands": lambda value: f"{value:,.0f}".replace(",", "\u202f"),
    }
    found.globals |= {"MARKS": MARKS, "STATES": STATES, "figure": figure}
    return found


def seconds(value: float) -> str:
    """`8.2 s`, `41 s`, `3 min 20 s`."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    whole = round(value)
    return f"{whole // 60} min {whole % 60:02d} s"


def size(value: int) -> str:
    """`812 B`, `14 kB`, `2.1 MB`."""
    if value < 1000:
        return f"{value} B"
    if value < 1_000_000:
        return f"{value / 1000:.0f} kB"
    return f"{value / 1_000_000:.1f} MB"
