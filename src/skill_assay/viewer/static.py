"""The report as one file: every page in it, one script of its own, nothing from anywhere; works from a disk."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skill_assay.benchmark.trend import trend_of, trend_rows
from skill_assay.errors import InputError
from skill_assay.model.benchmark import Run
from skill_assay.reports.forest import forest_rows, forest_svg
from skill_assay.reports.trend import trend_svg
from skill_assay.viewer.links import StaticLinks
from skill_assay.viewer.outputs import Caps
from skill_assay.viewer.pages import Pages
from skill_assay.viewer.render import asset, render
from skill_assay.viewer.security import static_csp
from skill_assay.viewer.site import Opened, Site, run_id_of

__all__ = ["Budget", "static_page", "write_static"]


_DIFF_LINES = 120
"""Of one file: the file itself is in the page as well, twice."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How large the file may become."""

    total_bytes: int = 18_000_000
    """Of the trials' pages; trials beyond it have no page of their own."""
    text_bytes: int = 20_000
    """Of one file an agent made."""
    embed_bytes: int = 500_000
    """Of one picture, sound or film; 0 puts none in."""


def write_static(site: Site, name: str, output: Path, budget: Budget | None = None) -> int:
    """Write the report of an iteration, and return how many trials it left out.

    Raises:
        InputError: it can't be read or written.
    """
    text, left_out = static_page(site, site.open(name), budget or Budget())
    try:
        output.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError("can't be written", file=str(output), found=error.strerror or str(error)) from error
    return left_out


def static_page(site: Site, opened: Opened, budget: Budget) -> tuple[str, int]:
    """The whole file, and how many trials have no page in it."""
    caps = Caps(
        text_bytes=budget.text_bytes,
        embed_bytes=budget.embed_bytes,
        transcript_chars=budget.text_bytes,
        diff_lines=_DIFF_LINES,
    )
    links = StaticLinks(plots=tuple(_plots(site, opened)))
    pages = Pages(site, links, caps)
    groups = _groups(opened)
    made: list[tuple[tuple[Run, ...], str]] = []
    left: list[tuple[Run, ...]] = []
    used = 0
    least = budget.total_bytes
    for group in groups:
        if used + least > budget.total_bytes and made:
            left.append(group)  # not even the smallest so far would fit
            continue
        page = pages.trial(opened, group[0], bare=True)
        least = min(least, len(page))
        if used + len(page) > budget.total_bytes:
            left.append(group)
            continue
        used += len(page)
        made.append((group, page))
    known = frozenset(run_id_of(run) for group, _ in made for run in group)
    links = StaticLinks(links.plots, known)
    pages = Pages(site, links, caps)
    fixed = [
        ("overview", pages.overview(opened, bare=True)),
        ("evals", pages.evals(opened, bare=True)),
        ("expectations", pages.expectations(opened, bare=True)),
    ]
    script = asset("viewer.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    text = render(
        "static.html",
        csp=static_csp(digest),
        fixed=fixed,
        left=[run_id_of(run) for group in left for run in group],
        script=script,
        style=asset("viewer.css"),
        trials=[([run_id_of(run) for run in group], page) for group, page in made],
        **pages.frame(opened),
    )
    return text, sum(len(group) for group in left)


def _groups(opened: Opened) -> list[tuple[Run, ...]]:
    """What share a page: the arms of one eval and repeat; the worst first, so that they are not what is left out."""
    place = {run_id_of(run): number for number, run in enumerate(opened.worst)}
    groups = [opened.beside(run) for run in opened.sequence]
    return sorted(groups, key=lambda group: min(place.get(run_id_of(run), len(place)) for run in group))


def _plots(site: Site, opened: Opened) -> Iterator[tuple[str, str]]:
    rows = forest_rows(opened.benchmark, opened.derived.inference)
    if rows:
        yield "forest", _data_url(forest_svg(rows))
    points = trend_of(trend_rows(site.iterations, opened.name, opened.derived))
    if points:
        yield "trend", _data_url(trend_svg(points))


def _data_url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode('utf-8')).decode('ascii')}"
