"""From a chart to a picture: its colours in both themes, SVG, and PNG. Nothing is fetched."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from altair import TopLevelMixin

__all__ = ["ACCENT", "INK", "MUTED", "OCHRE", "RUST", "VIOLET", "as_png", "drawn"]

INK, MUTED, ACCENT = "#1c1b19", "#6b6862", "#0b6b57"
OCHRE, VIOLET, RUST = "#8a5a00", "#5b5fa8", "#a8321f"
_DARK = {
    INK: "#e9e6df",
    MUTED: "#a29d93",
    ACCENT: "#5cc7a9",
    OCHRE: "#e0b04a",
    VIOLET: "#a9adf0",
    RUST: "#ef8a76",
}


def drawn(chart: TopLevelMixin) -> str:
    """The chart as SVG whose colours follow the reader's theme; the same chart is drawn once.

    A run's plots are in its report, beside its page of Markdown and in the viewer.
    """
    return _drawn(json.dumps(chart.to_dict()))


@lru_cache(maxsize=16)
def _drawn(chart: str) -> str:
    import vl_convert

    return _themed(str(vl_convert.vegalite_to_svg(chart)))


def as_png(svg: str) -> bytes:
    """A plot of ours, dark on white, at twice its size."""
    import vl_convert

    head, sign, rest = svg.partition("</style>")
    return bytes(vl_convert.svg_to_png(f'{head}{sign}<rect width="100%" height="100%" fill="#fff"/>{rest}', scale=2))


def _themed(svg: str) -> str:
    """The SVG with a dark dress for readers whose system is dark."""
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in _DARK.items()
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    head, sign, rest = svg.partition(">")
    return f"{head}{sign}{style}{rest}"
