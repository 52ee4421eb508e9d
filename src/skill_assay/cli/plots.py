"""The plots that go with a page of Markdown, as PNG."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from skill_assay.benchmark.derive import Derived
from skill_assay.benchmark.trend import trend_of, trend_rows
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.writing import Writer

__all__ = ["plots_of", "write_plots"]


def plots_of(derived: Derived) -> dict[str, bytes]:
    """`forest` where two arms were compared, `trend` where other iterations of ours lie beside it."""
    from skill_assay.reports.forest import forest_png, forest_rows

    rows = forest_rows(derived.benchmark, derived.inference)
    found = {"forest": forest_png(rows)} if rows else {}
    iteration = Iteration(derived.found.root.absolute())
    beside = Workspace(iteration.path.parent).iterations() if iteration.has_plan else ()
    if len(beside) > 1:
        from skill_assay.reports.trend import trend_png

        points = trend_of(trend_rows(beside, iteration.path.name, derived))
        found |= {"trend": trend_png(points)} if points else {}
    return found


def write_plots(plots: dict[str, bytes], page: Path) -> dict[str, str]:
    """Write them beside a page, in a folder named after it; where each lies, relative to the page."""
    folder = page.with_name(f"{page.stem}-plots")
    for name, data in plots.items():
        Writer().write_verbatim(folder / f"{name}.png", data)
    return {name: f"{quote(folder.name)}/{name}.png" for name in plots}
